// SPDX-License-Identifier: Apache-2.0
#include "src/recording/reader.h"

#include <utility>

#include "src/base/file.h"
#include "src/recording/frame_reader.h"

namespace berth::recording {
namespace {

// A file that is rotated later than any recorder would.
constexpr size_t kMostFileBytes = size_t{1} << 30;

}  // namespace

Result<RecordingReader> RecordingReader::Open(std::vector<std::filesystem::path> parts) {
  RecordingReader reader;
  reader.parts_ = std::move(parts);
  if (auto opened = reader.OpenPart(); !opened) return Fail(opened.error());
  return reader;
}

Result<RecordingReader> RecordingReader::OpenBytes(std::string name, std::string bytes) {
  RecordingReader reader;
  reader.name_ = std::move(name);
  reader.file_ = std::move(bytes);
  if (auto opened = reader.OpenPart(); !opened) return Fail(opened.error());
  return reader;
}

Result<void> RecordingReader::OpenPart() {
  if (!parts_.empty()) {
    name_ = parts_[part_].string();
    auto bytes = base::ReadFile(name_, kMostFileBytes);
    if (!bytes) return Fail(bytes.error());
    file_ = std::move(*bytes);
  }
  std::string_view rest = file_;
  chunk_at_ = 0;
  const auto chunk = ReadChunk(rest);
  if (!chunk) return Fail(Place() + chunk.error().message);
  if (chunk->type != ChunkType::kHeader || chunk->number != 0) {
    return Fail(Place() + "the file does not begin with a header");
  }
  auto header = ReadHeader(chunk->bytes);
  if (!header) return Fail(Place() + header.error().message);
  if (header->part != part_) {
    return Fail(Place() + "part " + std::to_string(part_) + " is missing: this is part " +
                std::to_string(header->part));
  }
  if (part_ > 0 && header->id != header_.id) {
    return Fail(Place() + "this is of another recording");
  }
  if (part_ == 0) header_ = std::move(*header);
  next_chunk_at_ = file_.size() - rest.size();
  next_number_ = 1;
  return {};
}

std::string RecordingReader::Place() const {
  return name_ + ": at byte " + std::to_string(chunk_at_) + ": ";
}

void RecordingReader::Stop(std::string what, bool torn) {
  ended_ = true;
  torn_ = torn;
  problem_ = std::move(what);
}

bool RecordingReader::NextChunk() {
  chunk_at_ = next_chunk_at_;
  while (chunk_at_ == file_.size()) {
    if (part_ + 1 >= parts_.size()) {
      Stop(Place() + "the recording breaks off", true);
      return false;
    }
    ++part_;
    if (auto opened = OpenPart(); !opened) {
      Stop(opened.error().message, false);
      return false;
    }
    chunk_at_ = next_chunk_at_;
  }
  std::string_view rest = std::string_view(file_).substr(chunk_at_);
  auto chunk = ReadChunk(rest);
  if (!chunk) {
    Stop(Place() + chunk.error().message, chunk.error().torn && part_ + 1 >= parts_.size());
    return false;
  }
  if (chunk->type != ChunkType::kFrames || chunk->number != next_number_) {
    Stop(Place() + "chunk " + std::to_string(next_number_) + " is missing", false);
    return false;
  }
  ++next_number_;
  next_chunk_at_ = file_.size() - rest.size();
  chunk_ = std::move(chunk->bytes);
  frame_at_ = 0;
  return true;
}

std::optional<Frame> RecordingReader::Next() {
  if (ended_) return std::nullopt;
  while (frame_at_ == chunk_.size()) {
    if (!NextChunk()) return std::nullopt;
  }
  std::string_view rest = std::string_view(chunk_).substr(frame_at_);
  auto frame = ReadFrame(rest, header_.start, known_);
  if (!frame) {
    Stop(Place() + "byte " + std::to_string(frame_at_) + " of the chunk: " + frame.error().message,
         false);
    return std::nullopt;
  }
  frame_at_ = chunk_.size() - rest.size();
  if (const auto* end = std::get_if<Ended>(&*frame)) {
    ended_ = true;
    end_reason_ = end->reason;
    return std::nullopt;
  }
  return std::move(*frame);
}

}  // namespace berth::recording
