// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "berth/result.h"
#include "src/api/decode.h"

namespace berth::api {

// No object that the API server sends is larger.
inline constexpr size_t kMaxObjectBytes = size_t{32} << 20;

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

  ListReader(Encoding encoding, OnItem on_item);

  // Calls OnItem for each item that is now complete. Errors: the body is damaged or is no list; do
  // not use the reader any more.
  Result<void> Push(std::string_view data);
  // The body has ended. Errors: it was cut short, or is no list.
  Result<ListMeta> Finish();

 private:
  // Where the next unread byte lies.
  enum class Place { kMagic, kEnvelope, kList, kDone };

  Result<void> ReadProtobuf();
  // Reads one field at `offset_`. False: more bytes are needed.
  Result<bool> ReadField();
  Result<void> OnEnvelopeField(uint32_t number, std::string_view payload);
  Result<void> OnListField(uint32_t number, std::string_view payload);
  Result<ListMeta> FinishJson();

  Encoding encoding_;
  OnItem on_item_;
  Place place_ = Place::kMagic;
  std::string buffer_;
  size_t offset_ = 0;             // in buffer_
  uint64_t list_bytes_left_ = 0;  // of the envelope's raw field
  ListMeta meta_;
};

}  // namespace berth::api
