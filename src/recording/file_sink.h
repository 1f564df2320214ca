// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "src/recording/chunk.h"
#include "src/recording/header.h"

namespace berth::recording {

struct FileLimits {
  // Of all recordings in the folder together.
  uint64_t folder_bytes = uint64_t{1} << 30;
  // Of one file; the next follows.
  uint64_t file_bytes = uint64_t{64} << 20;
};

// A recording as files of a folder, "berth-<id>-<part>.rec", for their owner's eyes. Where there is
// no room for the next file, the oldest of the other recordings in the folder goes; without others,
// the recording ends.
class FileSink final : public ChunkSink {
 public:
  // Makes the folder, if need be, and the first file. Errors: they cannot be made; but on a full
  // disk it is the first Write() that fails.
  static Result<std::unique_ptr<FileSink>> Make(std::string folder, Header header,
                                                const FileLimits& limits);
  ~FileSink() override;
  FileSink(const FileSink&) = delete;
  FileSink& operator=(const FileSink&) = delete;

  Result<void> Write(std::string_view frames) override;
  Result<void> WriteLast(std::string_view frames) override { return Append(frames); }

 private:
  FileSink(std::string folder, Header header, const FileLimits& limits)
      : folder_(std::move(folder)), header_(std::move(header)), limits_(limits) {}

  Result<void> OpenNext();
  Result<void> MakeRoom();
  Result<void> Append(std::string_view frames);
  Result<void> WriteOut(std::string_view bytes);
  void DropTorn();
  // The failure that errno tells of.
  Result<void> FailOn(std::string_view doing);

  const std::string folder_;
  Header header_;
  const FileLimits limits_;
  std::string path_;
  int file_ = -1;  // -1: none is open, because
  std::string closed_because_ = "no file is open";
  bool full_ = false;        // the last failure: nothing more fits
  uint64_t written_ = 0;     // to the file
  uint32_t next_chunk_ = 0;  // of the file
};

// A name for a recording that begins now: the time, and what tells it from others of that second.
std::string MakeId(Time wall_now, uint64_t random);

// One recording of a folder.
struct RecordingFiles {
  std::string id;
  std::vector<std::filesystem::path> parts;  // in order
};

// The recordings in the folder, the oldest first; or the one that the file belongs to. Errors:
// there is none.
Result<std::vector<RecordingFiles>> FindRecordings(const std::filesystem::path& path);

}  // namespace berth::recording
