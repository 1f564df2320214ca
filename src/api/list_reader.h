// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "berth/result.h"
#include "src/api/decode.h"

namespace berth::api {

// No object that the API server sends is larger.
inline constexpr size_t kMaxObjectBytes = size_t{32} << 20;

// A list that comes as JSON is held whole: a page of 500 objects.
inline constexpr size_t kMaxJsonListBytes = size_t{512} << 20;

// Takes the body of a list apart while it arrives, so that a protobuf list is never held whole.
// (A JSON body is buffered, and read in Finish.) Items are handed out undecoded: one that cannot
// be decoded does not fail the list.
//
//   ListReader reader(encoding, [&](std::string_view item) { ... Decode<Pod>(encoding, item) ...
//   }); for each part of the body: reader.Push(part) auto meta = reader.Finish();
//
// Thread safety: one thread at a time.
class ListReader {
 public:
  // The view is valid during the call.
  using OnItem = std::function<void(std::string_view item)>;

  ListReader(Encoding encoding, OnItem on_item, size_t max_json_bytes = kMaxJsonListBytes);

  // Calls OnItem for each item that is now complete. Errors: the body is damaged, is no list, or is
  // larger than the bounds; do not use the reader any more.
  Result<void> Push(std::string_view data);
  // The body has ended. Errors: it was cut short, or is no list.
  Result<ListMeta> Finish();

 private:
  struct FieldHead;
  // Where the next unread byte lies: before "k8s\0", in the envelope, in the envelope's list.
  enum class Place { kMagic, kEnvelope, kList };

  Result<void> ReadProtobuf();
  // Takes the field at the front of `rest` apart. nullopt: more bytes are needed.
  static Result<std::optional<FieldHead>> ReadHead(std::string_view rest);
  // Reads the field at offset_. False: more bytes are needed.
  Result<bool> ReadField();
  Result<void> OnEnvelopeField(uint32_t number, std::string_view payload);
  Result<void> OnListField(uint32_t number, std::string_view payload);
  Result<ListMeta> FinishJson();

  Encoding encoding_;
  OnItem on_item_;
  size_t max_json_bytes_;
  Place place_ = Place::kMagic;
  bool seen_list_ = false;
  std::string buffer_;            // what has arrived and is not read
  size_t offset_ = 0;             // in buffer_, of the next field
  uint64_t list_bytes_left_ = 0;  // within Place::kList
  ListMeta meta_;
};

}  // namespace berth::api
