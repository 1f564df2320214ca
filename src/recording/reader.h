// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "src/recording/chunk.h"
#include "src/recording/frames.h"
#include "src/recording/header.h"
#include "src/recording/known_objects.h"

namespace berth::recording {

// Reads a recording frame by frame. It is no longer than its files are, and what it takes in memory
// is one file, one chunk and the newest version of each object.
//
// Thread safety: one owner.
class RecordingReader {
 public:
  // Opens the first of `parts`. Errors: it cannot be read, or does not begin with a header.
  static Result<RecordingReader> Open(std::vector<std::filesystem::path> parts);
  // The same of what would stand in a single file.
  static Result<RecordingReader> OpenBytes(std::string name, std::string bytes);

  // That of the first file.
  const Header& header() const { return header_; }
  // The next frame; nullopt: it ends here, see problem(). Frames are no longer known to be whole
  // once the end was reached.
  std::optional<Frame> Next();
  // Once ended: why, where it does not end in an orderly way: "<file>: at byte <n>: <what>".
  const std::optional<std::string>& problem() const { return problem_; }
  // Whether it merely breaks off, as where the process was killed.
  bool torn() const { return torn_; }
  // It has been read to its end, and the scheduler went on when that was written.
  bool broke_off() const { return ended_ && end_reason_ != kStopped; }
  // Once ended: the reason that the recorder gave; "" for none.
  const std::string& end_reason() const { return end_reason_; }

 private:
  RecordingReader() = default;
  Result<void> OpenPart();
  // Those of the header that this process does not know yet are added to berth::PluginKinds().
  Result<void> FindPluginKinds();
  // The next chunk of frames is in chunk_. False: there is none.
  bool NextChunk();
  // Ends it.
  void Stop(std::string what, bool torn);
  std::string Place() const { return name_ + ": at byte " + std::to_string(chunk_at_) + ": "; }

  std::vector<std::filesystem::path> parts_;
  size_t part_ = 0;
  std::string name_;
  std::string file_;
  size_t chunk_at_ = 0;       // where the chunk begins in file_
  size_t next_chunk_at_ = 0;  // and the one behind it
  uint32_t next_number_ = 0;  // of a chunk
  std::string chunk_;
  size_t frame_at_ = 0;  // in chunk_
  Header header_;
  std::vector<api::PluginKindId> plugin_kinds_;  // what they are here, in the header's order
  KnownObjects known_;
  bool ended_ = false;
  bool torn_ = false;
  std::optional<std::string> problem_;
  std::string end_reason_;
};

}  // namespace berth::recording
