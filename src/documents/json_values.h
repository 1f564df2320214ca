// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "berth/result.h"

// Finds the values of large JSON texts without reading what is in them.
namespace berth::documents {

struct JsonProblem {
  size_t offset = 0;
  std::string_view reason;
};

// A value, and what is in its member "items" if it is an object that has a list there.
struct JsonValue {
  size_t begin = 0;
  size_t end = 0;

  struct Item {
    size_t begin = 0;
    size_t end = 0;
  };
  bool has_items = false;
  // There is such a member, neither a list nor null.
  bool items_is_no_list = false;
  std::vector<Item> items;
  // Between the brackets.
  size_t items_begin = 0;
  size_t items_end = 0;
};

// Takes apart a text of one JSON value or of several in a row, which may be parted by "---" lines.
//
// Looks at brackets, quotes and the commas of the outermost object and its items; the rest is for a
// parser to check, value by value.
//
// Thread safety: one owner.
class JsonValues {
 public:
  // Begins at the offset `begin`. The text must outlive this.
  explicit JsonValues(std::string_view text, size_t begin = 0) : text_(text), at_(begin) {}

  // Goes on to where the next value begins. False at the end.
  bool Advance();
  // Where this is: where a value begins, or behind the last one.
  size_t at() const { return at_; }
  // The next value, nullopt at the end. Errors: the text ends too early, or is no JSON; do not go
  // on then.
  tl::expected<std::optional<JsonValue>, JsonProblem> Next();

 private:
  bool SkipSpace();
  bool SkipString();
  bool SkipValue();
  bool ReadObject(JsonValue& value);
  bool ReadMember(JsonValue& value);
  bool ReadItems(JsonValue& value);
  // Records why; returns false.
  bool Fail(std::string_view reason);

  std::string_view text_;
  size_t at_;
  JsonProblem problem_;
};

}  // namespace berth::documents
