// SPDX-License-Identifier: Apache-2.0
#include "src/documents/json_values.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace berth::documents {
namespace {

constexpr std::string_view kTooShort = "unexpected end of the text";

bool IsSpace(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

// What SkipValue has to look at; it runs over all the rest.
constexpr std::array<bool, 256> MarkStructure() {
  std::array<bool, 256> marked{};
  for (const char c : {'"', '{', '}', '[', ']'}) marked[static_cast<unsigned char>(c)] = true;
  return marked;
}
constexpr std::array<bool, 256> kIsStructure = MarkStructure();

}  // namespace

bool JsonValues::Advance() {
  while (SkipSpace() && text_.substr(at_).starts_with("---")) at_ += 3;
  return at_ < text_.size();
}

tl::expected<std::optional<JsonValue>, JsonProblem> JsonValues::Next() {
  if (!Advance()) return std::nullopt;
  JsonValue value;
  value.begin = at_;
  const bool ok = text_[at_] == '{' ? ReadObject(value) : SkipValue();
  if (!ok) return tl::unexpected(problem_);
  value.end = at_;
  return value;
}

bool JsonValues::Fail(std::string_view reason) {
  problem_ = {at_, reason};
  return false;
}

// False at the end of the text.
bool JsonValues::SkipSpace() {
  while (at_ < text_.size() && IsSpace(text_[at_])) ++at_;
  return at_ < text_.size();
}

// From the opening quote to behind the closing one.
bool JsonValues::SkipString() {
  const size_t begin = at_ + 1;
  for (size_t from = begin;;) {
    const void* quote = std::memchr(text_.data() + from, '"', text_.size() - from);
    if (quote == nullptr) {
      at_ = text_.size();
      return Fail(kTooShort);
    }
    at_ = static_cast<size_t>(static_cast<const char*>(quote) - text_.data());
    size_t backslashes = 0;
    while (at_ - backslashes > begin && text_[at_ - backslashes - 1] == '\\') ++backslashes;
    from = ++at_;
    if (backslashes % 2 == 0) return true;
  }
}

bool JsonValues::SkipValue() {
  const char first = text_[at_];
  if (first == '"') return SkipString();
  if (first != '{' && first != '[') {
    const size_t begin = at_;
    at_ = std::min(text_.find_first_of(",:]}[{\" \n\r\t", at_), text_.size());
    return at_ > begin || Fail("expected a value");
  }
  for (size_t depth = 0;;) {
    while (at_ < text_.size() && !kIsStructure[static_cast<unsigned char>(text_[at_])]) ++at_;
    if (at_ == text_.size()) return Fail(kTooShort);
    const char c = text_[at_];
    if (c == '"') {
      if (!SkipString()) return false;
      continue;
    }
    ++at_;
    if (c == '{' || c == '[') {
      ++depth;
    } else if (--depth == 0) {
      return true;
    }
  }
}

bool JsonValues::ReadObject(JsonValue& value) {
  ++at_;
  if (!SkipSpace()) return Fail(kTooShort);
  if (text_[at_] == '}') {
    ++at_;
    return true;
  }
  for (;;) {
    if (!ReadMember(value)) return false;
    if (!SkipSpace()) return Fail(kTooShort);
    const char c = text_[at_];
    if (c != ',' && c != '}') return Fail("expected a comma or the end of the object");
    ++at_;
    if (c == '}') return true;
  }
}

bool JsonValues::ReadMember(JsonValue& value) {
  if (!SkipSpace()) return Fail(kTooShort);
  if (text_[at_] != '"') return Fail("expected the name of a member");
  const size_t begin = at_;
  if (!SkipString()) return false;
  const bool is_items = text_.substr(begin, at_ - begin) == "\"items\"";
  if (!SkipSpace()) return Fail(kTooShort);
  if (text_[at_] != ':') return Fail("expected a colon");
  ++at_;
  if (!SkipSpace()) return Fail(kTooShort);
  if (is_items && text_[at_] == '[' && !value.has_items) return ReadItems(value);
  if (is_items && text_[at_] != 'n') value.items_is_no_list = true;
  return SkipValue();
}

bool JsonValues::ReadItems(JsonValue& value) {
  value.has_items = true;
  value.items_begin = ++at_;
  if (!SkipSpace()) return Fail(kTooShort);
  while (text_[at_] != ']') {
    if (!value.items.empty()) {
      if (text_[at_] != ',') return Fail("expected a comma or the end of the list");
      ++at_;
      if (!SkipSpace()) return Fail(kTooShort);
    }
    const size_t begin = at_;
    if (!SkipValue()) return false;
    value.items.push_back({begin, at_});
    if (!SkipSpace()) return Fail(kTooShort);
  }
  value.items_end = at_++;
  return true;
}

}  // namespace berth::documents
