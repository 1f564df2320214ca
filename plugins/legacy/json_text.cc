// SPDX-License-Identifier: Apache-2.0
#include "plugins/legacy/json_text.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

namespace berth::legacy {
namespace {

constexpr int kMaxDepth = 64;

class JsonReader {
 public:
  explicit JsonReader(std::string_view text) : text_(text) {}

  // Every reader returns false where the text is no JSON.
  bool ReadDocument(Json& out) {
    if (!ReadValue(0, out)) return false;
    SkipSpace();
    return at_ == text_.size();
  }

 private:
  bool ReadValue(int depth, Json& out) {
    SkipSpace();
    if (depth > kMaxDepth || at_ == text_.size()) return false;
    switch (text_[at_]) {
      case '{':
        return ReadObject(depth, out);
      case '[':
        return ReadList(depth, out);
      case '"': {
        std::string text;
        if (!ReadString(text)) return false;
        out = {.type = Json::Type::kText, .text = std::move(text)};
        return true;
      }
      case 't':
        out = {.type = Json::Type::kBoolean};
        return Take("true");
      case 'f':
        out = {.type = Json::Type::kBoolean};
        return Take("false");
      case 'n':
        out = {};
        return Take("null");
      default:
        return ReadNumber(out);
    }
  }

  bool ReadObject(int depth, Json& out) {
    std::vector<std::pair<std::string, Json>> members;
    Take("{");
    SkipSpace();
    while (!Take("}")) {
      if (!members.empty() && !Take(",")) return false;
      SkipSpace();
      std::string name;
      Json value;
      if (!ReadString(name)) return false;
      SkipSpace();
      if (!Take(":") || !ReadValue(depth + 1, value)) return false;
      members.emplace_back(std::move(name), std::move(value));
      SkipSpace();
    }
    out = {.type = Json::Type::kObject, .members = std::move(members)};
    return true;
  }

  bool ReadList(int depth, Json& out) {
    std::vector<Json> items;
    Take("[");
    SkipSpace();
    while (!Take("]")) {
      if (!items.empty() && !Take(",")) return false;
      if (!ReadValue(depth + 1, items.emplace_back())) return false;
      SkipSpace();
    }
    out = {.type = Json::Type::kList, .items = std::move(items)};
    return true;
  }

  bool ReadString(std::string& out) {
    if (!Take("\"")) return false;
    while (at_ < text_.size() && text_[at_] != '"') {
      const char c = text_[at_++];
      if (static_cast<unsigned char>(c) < 0x20) return false;
      if (c != '\\') {
        out += c;
      } else if (!ReadEscape(out)) {
        return false;
      }
    }
    return Take("\"");
  }

  bool ReadEscape(std::string& out) {
    constexpr std::string_view kNames = "\"\\/bfnrt";
    constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
    if (at_ == text_.size()) return false;
    const char name = text_[at_++];
    const size_t known = kNames.find(name);
    if (known != kNames.npos) {
      out += kMeanings[known];
      return true;
    }
    uint32_t code = 0;
    if (name != 'u' || !ReadHex(code)) return false;
    constexpr uint32_t kReplacement = 0xFFFD;
    if (code >= 0xD800 && code < 0xE000) {
      uint32_t low = 0;
      const size_t before = at_;
      if (code < 0xDC00 && Take("\\u") && ReadHex(low) && low >= 0xDC00 && low < 0xE000) {
        code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
      } else {
        at_ = before;
        code = kReplacement;
      }
    }
    AppendUtf8(code, out);
    return true;
  }

  bool ReadHex(uint32_t& out) {
    constexpr size_t kDigits = 4;
    if (text_.size() - at_ < kDigits) return false;
    for (size_t i = 0; i < kDigits; ++i) {
      const char c = text_[at_++];
      const char lower = static_cast<char>(c | 0x20);
      if (c >= '0' && c <= '9') {
        out = out * 16 + static_cast<uint32_t>(c - '0');
      } else if (lower >= 'a' && lower <= 'f') {
        out = out * 16 + static_cast<uint32_t>(lower - 'a' + 10);
      } else {
        return false;
      }
    }
    return true;
  }

  static void AppendUtf8(uint32_t code, std::string& out) {
    if (code < 0x80) {
      out += static_cast<char>(code);
      return;
    }
    const int followers = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    constexpr uint32_t kLead[] = {0, 0xC0, 0xE0, 0xF0};
    out += static_cast<char>(kLead[followers] | (code >> (6 * followers)));
    for (int i = followers - 1; i >= 0; --i) {
      out += static_cast<char>(0x80 | ((code >> (6 * i)) & 0x3F));
    }
  }

  bool ReadNumber(Json& out) {
    Take("-");
    if (!Take("0") && !SkipDigits()) return false;
    if (Take(".") && !SkipDigits()) return false;
    if (Take("e") || Take("E")) {
      if (!Take("+")) Take("-");
      if (!SkipDigits()) return false;
    }
    out = {.type = Json::Type::kNumber};
    return true;
  }

  bool SkipDigits() {
    const size_t begin = at_;
    while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') ++at_;
    return at_ > begin;
  }

  void SkipSpace() { at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size()); }

  bool Take(std::string_view token) {
    if (!text_.substr(at_).starts_with(token)) return false;
    at_ += token.size();
    return true;
  }

  std::string_view text_;
  size_t at_ = 0;
};

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

}  // namespace

std::optional<Json> ParseJson(std::string_view text) {
  Json value;
  if (!JsonReader(text).ReadDocument(value)) return std::nullopt;
  return value;
}

const Json* Json::Find(std::string_view name) const {
  const Json* found = nullptr;
  for (const auto& [key, member] : members) {
    const bool same = std::ranges::equal(key, name, {}, Lower, Lower);
    if (same) found = member.type == Type::kNull ? nullptr : &member;
  }
  return found;
}

}  // namespace berth::legacy
