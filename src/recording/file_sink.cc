// SPDX-License-Identifier: Apache-2.0
#include "src/recording/file_sink.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <map>
#include <optional>
#include <system_error>
#include <utility>

namespace berth::recording {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "berth-";
constexpr std::string_view kSuffix = ".rec";
constexpr size_t kPartDigits = 6;

std::string NameOf(const Header& header) {
  std::array<char, 16> part{};
  std::snprintf(part.data(), part.size(), "%0*u", static_cast<int>(kPartDigits), header.part);
  return std::string(kPrefix) + header.id + "-" + part.data() + std::string(kSuffix);
}

// The id in the name of a recording's file; nullopt: it is no such name.
std::optional<std::string> IdOf(const std::string& name) {
  const size_t around = kPrefix.size() + 1 + kPartDigits + kSuffix.size();
  if (name.size() <= around || !name.starts_with(kPrefix) || !name.ends_with(kSuffix)) {
    return std::nullopt;
  }
  return name.substr(kPrefix.size(), name.size() - around);
}

std::vector<RecordingFiles> ListRecordings(const fs::path& folder, std::error_code& error) {
  std::map<std::string, std::vector<fs::path>> by_id;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    if (const auto id = IdOf(entry.path().filename())) by_id[*id].push_back(entry.path());
  }
  std::vector<RecordingFiles> recordings;
  for (auto& [id, parts] : by_id) {
    std::sort(parts.begin(), parts.end());
    recordings.push_back({id, std::move(parts)});
  }
  return recordings;
}

uint64_t SizeOf(const RecordingFiles& recording) {
  uint64_t bytes = 0;
  for (const fs::path& part : recording.parts) {
    std::error_code gone;
    const uint64_t size = fs::file_size(part, gone);
    if (!gone) bytes += size;
  }
  return bytes;
}

}  // namespace

std::string MakeId(Time wall_now, uint64_t random) {
  const auto day = std::chrono::floor<std::chrono::days>(wall_now);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss time(std::chrono::floor<std::chrono::seconds>(wall_now - day));
  std::array<char, 64> id{};
  std::snprintf(id.data(), id.size(), "%04d%02u%02uT%02d%02d%02dZ-%08x",
                static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                static_cast<unsigned>(date.day()), static_cast<int>(time.hours().count()),
                static_cast<int>(time.minutes().count()), static_cast<int>(time.seconds().count()),
                static_cast<unsigned>(random & 0xffffffffu));
  return id.data();
}

Result<std::unique_ptr<FileSink>> FileSink::Make(std::string folder, Header header,
                                                 const FileLimits& limits) {
  std::error_code error;
  const bool made = fs::create_directories(folder, error);
  if (error) return Fail("mkdir " + folder + ": " + error.message());
  if (made) fs::permissions(folder, fs::perms::owner_all, error);
  std::unique_ptr<FileSink> sink(new FileSink(std::move(folder), std::move(header), limits));
  auto opened = sink->OpenNext();
  if (opened) return sink;
  // A scheduler starts on a full disk, too; its first Write() tells why nothing is recorded.
  if (!sink->full_) return Fail(opened.error());
  sink->closed_because_ = opened.error().message;
  return sink;
}

FileSink::~FileSink() {
  if (file_ >= 0) close(file_);
}

Result<void> FileSink::Write(std::string_view frames) {
  if (written_ + frames.size() > limits_.file_bytes && next_chunk_ > 1) {
    ++header_.part;
    if (auto opened = OpenNext(); !opened) return opened;
  }
  return Append(frames);
}

Result<void> FileSink::OpenNext() {
  if (auto room = MakeRoom(); !room) return room;
  if (file_ >= 0) close(std::exchange(file_, -1));
  path_ = (fs::path(folder_) / NameOf(header_)).string();
  file_ = open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file_ < 0) return FailOn("open");
  written_ = 0;
  next_chunk_ = 0;
  std::string bytes;
  if (auto made = AppendChunk(ChunkType::kHeader, next_chunk_++, ToJson(header_), bytes); !made) {
    return made;
  }
  auto written = WriteOut(bytes);
  if (!written) {
    // A file without a header belongs to no recording.
    close(std::exchange(file_, -1));
    unlink(path_.c_str());
  }
  return written;
}

Result<void> FileSink::MakeRoom() {
  std::error_code error;
  std::vector<RecordingFiles> recordings = ListRecordings(folder_, error);
  if (error) return Fail("open " + folder_ + ": " + error.message());
  uint64_t bytes = limits_.file_bytes;
  for (const RecordingFiles& recording : recordings) bytes += SizeOf(recording);
  for (const RecordingFiles& recording : recordings) {
    if (bytes <= limits_.folder_bytes) break;
    if (recording.id == header_.id) continue;
    bytes -= std::min(bytes, SizeOf(recording));
    for (const fs::path& part : recording.parts) fs::remove(part, error);
  }
  if (bytes <= limits_.folder_bytes || header_.part == 0) return {};
  return Fail("the folder may hold no more than " + std::to_string(limits_.folder_bytes) +
              " bytes of recordings");
}

Result<void> FileSink::FailOn(std::string_view doing) {
  full_ = errno == ENOSPC || errno == EDQUOT || errno == EFBIG;
  return Fail(std::string(doing) + " " + path_ + ": " + std::strerror(errno));
}

Result<void> FileSink::Append(std::string_view frames) {
  if (file_ < 0) return Fail(closed_because_);
  std::string bytes;
  if (auto made = AppendChunk(ChunkType::kFrames, next_chunk_++, frames, bytes); !made) return made;
  return WriteOut(bytes);
}

Result<void> FileSink::WriteOut(std::string_view bytes) {
  for (std::string_view rest = bytes; !rest.empty();) {
    const ssize_t done = write(file_, rest.data(), rest.size());
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) {
      auto failed = FailOn("write");
      DropTorn();
      return failed;
    }
    rest.remove_prefix(static_cast<size_t>(done));
  }
  written_ += bytes.size();
  return {};
}

// What was written of a chunk before the disk was full goes again: the file ends with a whole one,
// and there is room for the last.
void FileSink::DropTorn() {
  --next_chunk_;
  const auto end = static_cast<off_t>(written_);
  if (ftruncate(file_, end) == 0 && lseek(file_, end, SEEK_SET) == end) return;
  close(std::exchange(file_, -1));
}

Result<std::vector<RecordingFiles>> FindRecordings(const fs::path& path) {
  std::error_code error;
  const bool is_folder = fs::is_directory(path, error);
  std::vector<RecordingFiles> all =
      ListRecordings(is_folder                    ? path
                     : path.parent_path().empty() ? "."
                                                  : path.parent_path(),
                     error);
  if (error) return Fail("open " + path.string() + ": " + error.message());
  if (!is_folder) {
    if (!fs::exists(path, error)) return Fail("open " + path.string() + ": no such file");
    const auto id = IdOf(path.filename());
    // A file of another name is a recording by itself.
    if (!id) return std::vector<RecordingFiles>{{path.filename().string(), {path}}};
    std::erase_if(all, [&](const RecordingFiles& recording) { return recording.id != *id; });
  }
  if (all.empty()) return Fail(path.string() + ": there is no recording in this folder");
  return all;
}

}  // namespace berth::recording
