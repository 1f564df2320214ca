// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "berth/result.h"
#include "src/api/decode.h"
#include "src/api/list_reader.h"

namespace berth::api {

// Cuts a watch's body into frames: protobuf frames have a length of 4 bytes, big-endian, before
// them; a JSON frame ends with a line feed.
//
//   frames.Push(data);
//   for (;;) { auto frame = frames.Next(); if (!frame || !*frame) break; ... **frame ... }
//
// Thread safety: one thread at a time.
class WatchFrames {
 public:
  explicit WatchFrames(Encoding encoding, size_t max_frame_bytes = kMaxObjectBytes)
      : encoding_(encoding), max_frame_bytes_(max_frame_bytes) {}

  void Push(std::string_view data);
  // The next complete frame, valid until the next Push; nullopt when more bytes are needed.
  // Errors: a frame larger than the bound; the stream cannot be read any further.
  Result<std::optional<std::string_view>> Next();
  // Whether a frame has begun and not ended.
  bool pending() const { return offset_ < buffer_.size(); }

 private:
  Result<std::optional<std::string_view>> NextProtobuf();
  Result<std::optional<std::string_view>> NextJson();

  Encoding encoding_;
  size_t max_frame_bytes_;
  std::string buffer_;
  size_t offset_ = 0;   // of the next frame
  size_t scanned_ = 0;  // JSON: no line feed before here
};

enum class WatchEventType { kAdded, kModified, kDeleted, kBookmark, kError };

struct WatchEvent {
  WatchEventType type = WatchEventType::kAdded;
  // The object as it was sent; points into the frame. An ApiStatus with kError.
  std::string_view object;
};

// Errors: a damaged frame, or an event type that is not known.
Result<WatchEvent> DecodeWatchEvent(Encoding encoding, std::string_view frame);

// What a BOOKMARK's object says.
struct Bookmark {
  std::string resource_version;
  // The annotation k8s.io/initial-events-end: the streamed initial list is complete.
  bool initial_events_end = false;

  friend bool operator==(const Bookmark&, const Bookmark&) = default;
};

// Reads any kind's bookmark, from WatchEvent::object.
Result<Bookmark> DecodeBookmark(Encoding encoding, std::string_view object);

}  // namespace berth::api
