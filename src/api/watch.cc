// SPDX-License-Identifier: Apache-2.0
#include "src/api/watch.h"

#include "src/api/json_scan.h"
#include "src/api/wire_types.h"

namespace berth::api {
namespace {

constexpr size_t kLengthBytes = 4;
constexpr std::string_view kInitialEventsEnd = "k8s.io/initial-events-end";

tl::unexpected<Error> TooLarge(size_t most) {
  return Fail("watch: a frame is larger than " + std::to_string(most) + " bytes");
}

std::optional<WatchEventType> TypeOf(std::string_view name) {
  if (name == "ADDED") return WatchEventType::kAdded;
  if (name == "MODIFIED") return WatchEventType::kModified;
  if (name == "DELETED") return WatchEventType::kDeleted;
  if (name == "BOOKMARK") return WatchEventType::kBookmark;
  if (name == "ERROR") return WatchEventType::kError;
  return std::nullopt;
}

}  // namespace

void WatchFrames::Push(std::string_view data) {
  buffer_.erase(0, offset_);
  scanned_ -= std::min(scanned_, offset_);
  offset_ = 0;
  buffer_.append(data);
}

Result<std::optional<std::string_view>> WatchFrames::Next() {
  return encoding_ == Encoding::kProtobuf ? NextProtobuf() : NextJson();
}

Result<std::optional<std::string_view>> WatchFrames::NextProtobuf() {
  const std::string_view rest = std::string_view(buffer_).substr(offset_);
  if (rest.size() < kLengthBytes) return std::nullopt;
  size_t length = 0;
  for (size_t i = 0; i < kLengthBytes; ++i)
    length = length << 8 | static_cast<unsigned char>(rest[i]);
  if (length > max_frame_bytes_) return TooLarge(max_frame_bytes_);
  if (rest.size() - kLengthBytes < length) return std::nullopt;
  offset_ += kLengthBytes + length;
  return rest.substr(kLengthBytes, length);
}

Result<std::optional<std::string_view>> WatchFrames::NextJson() {
  const std::string_view all = buffer_;
  for (;;) {
    const size_t end = all.find('\n', std::max(offset_, scanned_));
    const size_t length = std::min(end, all.size()) - offset_;
    if (length > max_frame_bytes_) return TooLarge(max_frame_bytes_);
    if (end == std::string_view::npos) {
      scanned_ = all.size();
      return std::nullopt;
    }
    const std::string_view line = all.substr(offset_, length);
    offset_ = end + 1;
    if (line.find_first_not_of(" \t\r") != std::string_view::npos) return line;
  }
}

Result<WatchEvent> DecodeWatchEvent(Encoding encoding, std::string_view frame) {
  WatchMessage message;
  std::string type_text;
  if (encoding == Encoding::kJson) {
    auto event = ScanWatchEvent(frame);
    if (!event) return Fail(event.error().Within("watch event"));
    type_text = std::move(event->type);
    message = {type_text, event->object};
  } else {
    const auto envelope = OpenEnvelope(frame);
    if (!envelope) return Fail(envelope.error().Within("watch event"));
    if (auto read = ReadMessage(envelope->raw, message); !read)
      return Fail(read.error().Within("watch event"));
  }
  const auto type = TypeOf(message.type);
  if (!type) return Fail("watch event: unknown type \"" + std::string(message.type) + "\"");
  return WatchEvent{*type, message.object};
}

Result<Bookmark> DecodeBookmark(Encoding encoding, std::string_view object) {
  MetadataOnly bookmark;
  if (encoding == Encoding::kJson) {
    if (auto read = ReadJson(object, bookmark); !read) return Fail(read.error());
  } else {
    const auto envelope = OpenEnvelope(object);
    if (!envelope) return Fail(envelope.error());
    if (auto read = ReadMessage(envelope->raw, bookmark); !read) return Fail(read.error());
  }
  const std::string* end = Find(bookmark.metadata.annotations, kInitialEventsEnd);
  return Bookmark{std::move(bookmark.metadata.resource_version), end != nullptr && *end == "true"};
}

}  // namespace berth::api
