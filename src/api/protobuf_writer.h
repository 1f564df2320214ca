// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace berth::api {

// What takes the place of text that others may have put anything into. The same text must always
// become the same, so that what compares equal still does.
//
// Thread safety: one owner.
class TextFilter {
 public:
  virtual ~TextFilter() = default;
  // The value to write for an annotation.
  virtual std::string Annotation(std::string_view key, std::string_view value) = 0;
  // The JSON to write for parameters that are passed on unread.
  virtual std::string Raw(std::string_view json) = 0;
};

// Appends the object as a bare protobuf message, by its field table: DecodeProtobuf<T>() reads it
// back, but for fractions of seconds where the API has none. Members that are no part of the table
// are not written, nor are those with zero values. `filter` may be nullptr. Instantiated for the
// kinds of BERTH_API_KINDS.
//
// Thread safety: any thread.
template <typename T>
void EncodeProtobuf(const T& object, TextFilter* filter, std::string& out);

}  // namespace berth::api
