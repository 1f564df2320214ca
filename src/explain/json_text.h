// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

// JSON straight into a string, for documents with thousands of members.
//
// Thread safety: any thread.
namespace berth::explain {

// Appends `text` as a JSON string. Only what JSON demands is escaped; bytes that are not UTF-8
// become U+FFFD.
void AppendJson(std::string_view text, std::string& out);
void AppendJson(int64_t number, std::string& out);

// Writes the members of one object in the order given, with the commas between them.
class JsonObject {
 public:
  // `out` must outlive the object.
  explicit JsonObject(std::string& out) : out_(out) { out_ += '{'; }

  // Begins a member; its value is what is appended to `out` next.
  void Key(std::string_view name) {
    if (!first_) out_ += ',';
    first_ = false;
    AppendJson(name, out_);
    out_ += ':';
  }
  void Add(std::string_view name, std::string_view value) {
    Key(name);
    AppendJson(value, out_);
  }
  void Add(std::string_view name, int64_t value) {
    Key(name);
    AppendJson(value, out_);
  }
  void Close() { out_ += '}'; }

 private:
  std::string& out_;
  bool first_ = true;
};

}  // namespace berth::explain
