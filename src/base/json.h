// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <charconv>
#include <concepts>
#include <cstddef>
#include <cstring>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

// JSON straight into a string: what is sent for each bind, and documents with thousands of members.
// A tree of values that is written as JSON is a ConfigValue.
//
// Thread safety: any thread.
namespace berth::base {

// Appends `text` as a JSON string. Only what JSON demands is escaped; bytes that are not UTF-8
// become U+FFFD.
void AppendJson(std::string_view text, std::string& out);
// A number, or true or false.
template <std::integral T>
void AppendJson(T value, std::string& out) {
  if constexpr (std::same_as<T, bool>) {
    out += value ? "true" : "false";
  } else {
    char digits[24];
    out.append(digits, std::to_chars(digits, digits + sizeof(digits), value).ptr);
  }
}

// Text most of which is the same each time: pieces that stand as they are, and strings between
// them. It copies into room that is there already, which takes half as long as to append to a
// string.
//
// Thread safety: one owner.
class JsonWriter {
 public:
  // `size`: about how long the text will be; it grows.
  explicit JsonWriter(size_t size) : text_(size, '\0') {}

  void Put(std::string_view as_it_stands) {
    if (text_.size() - end_ < as_it_stands.size()) Grow(as_it_stands.size());
    std::memcpy(text_.data() + end_, as_it_stands.data(), as_it_stands.size());
    end_ += as_it_stands.size();
  }
  // As AppendJson().
  void PutString(std::string_view text);

  size_t size() const { return end_; }
  // A character that was put.
  char& operator[](size_t i) { return text_[i]; }

  // The text, once.
  std::string Take() {
    text_.resize(end_);
    return std::move(text_);
  }

 private:
  void Grow(size_t by) { text_.resize(2 * (end_ + by)); }

  std::string text_;  // up to end_; then room
  size_t end_ = 0;
};

// What JsonObject and JsonList have in common: the brackets, and the commas between what they hold.
class JsonScope {
 public:
  JsonScope(const JsonScope&) = delete;
  JsonScope& operator=(const JsonScope&) = delete;

  // Ends it, as its destructor does; to be called where more of the text follows, or its return.
  void Close() {
    if (std::exchange(open_, false)) out_ += last_;
  }
  bool empty() const { return empty_; }

 protected:
  JsonScope(char first, char last, std::string& out) : out_(out), last_(last) { out_ += first; }
  ~JsonScope() { Close(); }

  std::string& Separated() {
    if (!std::exchange(empty_, false)) out_ += ',';
    return out_;
  }

 private:
  std::string& out_;
  const char last_;
  bool open_ = true;
  bool empty_ = true;
};

// Writes the members of one object in the order given.
class JsonObject : public JsonScope {
 public:
  // `out` must outlive the object.
  explicit JsonObject(std::string& out) : JsonScope('{', '}', out) {}

  // Begins a member; its value is what is appended next to the string, which is returned.
  std::string& Key(std::string_view name) {
    std::string& out = Separated();
    AppendJson(name, out);
    out += ':';
    return out;
  }
  void Add(std::string_view name, std::string_view value) { AppendJson(value, Key(name)); }
  template <std::integral T>
  void Add(std::string_view name, T value) {
    AppendJson(value, Key(name));
  }
  // An object of strings.
  void Add(std::string_view name,
           std::initializer_list<std::pair<std::string_view, std::string_view>> members) {
    JsonObject object(Key(name));
    for (const auto& [member, value] : members) object.Add(member, value);
  }
  void AddNull(std::string_view name) { Key(name) += "null"; }
  void AddIfNotEmpty(std::string_view name, std::string_view value) {
    if (!value.empty()) Add(name, value);
  }
};

// The same for the elements of a list.
class JsonList : public JsonScope {
 public:
  explicit JsonList(std::string& out) : JsonScope('[', ']', out) {}

  // Begins an element, as JsonObject::Key() begins a member.
  std::string& Next() { return Separated(); }
};

// A list of strings.
template <typename Strings>
void AppendJsonList(const Strings& strings, std::string& out) {
  JsonList list(out);
  for (std::string_view text : strings) AppendJson(text, list.Next());
}

}  // namespace berth::base
