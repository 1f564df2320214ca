// SPDX-License-Identifier: Apache-2.0
#include "src/api/json_known.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <initializer_list>
#include <system_error>
#include <utility>

#include "src/base/utf8.h"

namespace berth::api {
namespace {

// No table has lists or maps nested deeper in one value; what is deeper has the wrong type.
constexpr size_t kDeepestValue = 16;
// What is written so can be no number that a double holds.
constexpr size_t kMostNumber = 300;
constexpr size_t kMostExponentDigits = 2;

constexpr char kRawMark = '\0';
constexpr std::string_view kRawMarkEscaped = "\\u0000";
constexpr std::string_view kReplacementEscaped = "\\ufffd";

bool IsJsonSpace(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }
bool IsHighSurrogate(uint32_t unit) { return unit >= 0xd800 && unit < 0xdc00; }
bool IsLowSurrogate(uint32_t unit) { return unit >= 0xdc00 && unit < 0xe000; }

template <typename T>
std::optional<T> WholeNumber(std::string_view text, int base) {
  T number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number, base);
  if (error != std::errc{} || rest != end) return std::nullopt;
  return number;
}

// The code unit of an escape "\uXXXX" at the front of `text`.
std::optional<uint32_t> EscapedUnit(std::string_view text) {
  constexpr size_t kLength = 6;
  if (text.size() < kLength || !text.starts_with("\\u")) return std::nullopt;
  return WholeNumber<uint32_t>(text.substr(2, kLength - 2), 16);
}

bool TakeDigits(std::string_view& rest) {
  const size_t length = std::min(rest.find_first_not_of("0123456789"), rest.size());
  rest.remove_prefix(length);
  return length > 0;
}

bool IsNumber(std::string_view word) {
  if (word.starts_with('-')) word.remove_prefix(1);
  if (word.size() > 1 && word[0] == '0' && word[1] >= '0' && word[1] <= '9') return false;
  if (!TakeDigits(word)) return false;
  if (word.starts_with('.')) {
    word.remove_prefix(1);
    if (!TakeDigits(word)) return false;
  }
  if (word.starts_with('e') || word.starts_with('E')) {
    word.remove_prefix(1);
    if (word.starts_with('-') || word.starts_with('+')) word.remove_prefix(1);
    if (!TakeDigits(word)) return false;
  }
  return word.empty();
}

bool IsWord(std::string_view word) {
  return word == "true" || word == "false" || word == "null" || IsNumber(word);
}

// Whether a parser has no type for the number.
bool IsHuge(std::string_view number) {
  const size_t fraction = number.find_first_of(".eE");
  if (fraction == std::string_view::npos)
    return !WholeNumber<int64_t>(number, 10) && !WholeNumber<uint64_t>(number, 10);
  const size_t exponent = number.find_first_of("eE");
  return number.size() > kMostNumber ||
         (exponent != std::string_view::npos &&
          number.size() - exponent > kMostExponentDigits + 2);  // the letter and a sign
}

// Whether the string between quotes, `written`, says `name`, which is plain ASCII.
bool Says(std::string_view written, std::string_view name) {
  if (written.find('\\') == std::string_view::npos) return written == name;
  for (const char c : name) {
    if (written.empty()) return false;
    size_t length = 1;
    auto unit = static_cast<uint32_t>(static_cast<unsigned char>(written.front()));
    if (written.front() == '\\') {
      const auto escaped = EscapedUnit(written);
      if (!escaped) return false;
      unit = *escaped;
      length = 6;
    }
    if (unit != static_cast<uint32_t>(static_cast<unsigned char>(c))) return false;
    written.remove_prefix(length);
  }
  return written.empty();
}

class JsonCutter {
 public:
  explicit JsonCutter(std::string_view text) : text_(text) {}

  std::optional<KnownJson> Cut(const JsonShape& shape) {
    static constexpr JsonShape kType;
    static constexpr JsonMember kTypeMembers[] = {{"apiVersion", &kType}, {"kind", &kType}};
    if (!SkipSpace() || text_[at_] != '{') return std::nullopt;
    if (!CutObject({kTypeMembers, shape.members}) || SkipSpace()) return std::nullopt;
    return std::move(known_);
  }

 private:
  // Each returns whether the text goes on as JSON does; those that begin at a value leave at_
  // behind it.

  // Whether anything is left.
  bool SkipSpace() {
    while (at_ < text_.size() && IsJsonSpace(text_[at_])) ++at_;
    return at_ < text_.size();
  }

  bool Take(char c) {
    if (!SkipSpace() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  // What is between the quotes, as written.
  std::optional<std::string_view> TakeString() {
    if (!Take('"')) return std::nullopt;
    constexpr std::string_view kEscapes = "\"\\/bfnrtu";
    const size_t begin = at_;
    for (; at_ < text_.size() && static_cast<unsigned char>(text_[at_]) >= 0x20; ++at_) {
      if (text_[at_] == '"') return text_.substr(begin, at_++ - begin);
      if (text_[at_] != '\\') continue;
      if (++at_ == text_.size() || kEscapes.find(text_[at_]) == std::string_view::npos) break;
    }
    return std::nullopt;
  }

  // A number, true, false or null: all up to what ends such.
  std::string_view TakeWord() {
    const size_t begin = at_;
    at_ = std::min(text_.find_first_of(",:]}[{\" \n\r\t", at_), text_.size());
    return text_.substr(begin, at_ - begin);
  }

  bool SkipKey() { return TakeString() && Take(':'); }

  bool SkipValue() {
    std::string open;  // the brackets around
    while (SkipSpace()) {
      const char c = text_[at_];
      if (c == '{' || c == '[') {
        ++at_;
        if (!Take(c == '{' ? '}' : ']')) {
          open += c;
          if (c == '{' && !SkipKey()) return false;
          continue;
        }
      } else if (c == '"' ? !TakeString() : !IsWord(TakeWord())) {
        return false;
      }
      // Behind a value: on to the next.
      while (!open.empty() && !Take(',')) {
        if (!Take(open.back() == '{' ? '}' : ']')) return false;
        open.pop_back();
      }
      if (open.empty()) return true;
      if (open.back() == '{' && !SkipKey()) return false;
    }
    return false;
  }

  // `member(key)` reads the value behind each key.
  template <typename F>
  bool ForEachMember(F member) {
    if (!Take('{')) return false;
    if (Take('}')) return true;
    do {
      const auto key = TakeString();
      if (!key || !Take(':') || !SkipSpace() || !member(*key)) return false;
    } while (Take(','));
    return Take('}');
  }

  bool CutObject(std::initializer_list<std::span<const JsonMember>> members) {
    known_.text += '{';
    bool first = true;
    const auto cut = [&](std::string_view key) {
      for (const auto& some : members) {
        for (const JsonMember& known : some) {
          if (!Says(key, known.name)) continue;
          known_.text.append(first ? "\"" : ",\"").append(known.name).append("\":");
          first = false;
          return CutValue(*known.shape, false);
        }
      }
      return SkipValue();
    };
    if (!ForEachMember(cut)) return false;
    known_.text += '}';
    return true;
  }

  bool CutMap(const JsonShape& element) {
    known_.text += '{';
    bool first = true;
    const auto cut = [&](std::string_view key) {
      if (!first) known_.text += ',';
      first = false;
      AppendString(key);
      known_.text += ':';
      return CutValue(element, false);
    };
    if (!ForEachMember(cut)) return false;
    known_.text += '}';
    return true;
  }

  bool CutList(const JsonShape& element) {
    if (!Take('[')) return false;
    known_.text += '[';
    if (Take(']')) {
      known_.text += ']';
      return true;
    }
    for (bool first = true; first || Take(','); first = false) {
      if (!first) known_.text += ',';
      if (!SkipSpace() || !CutValue(element, true)) return false;
    }
    known_.text += ']';
    return Take(']');
  }

  bool CutValue(const JsonShape& shape, bool in_list) {
    const size_t begin = at_;
    const char c = text_[at_];
    switch (shape.type) {
      case JsonShape::Type::kRaw:
        if (!SkipValue()) return false;
        if (text_.substr(begin, at_ - begin) == "null") {
          known_.text += "null";
        } else {
          known_.text.append("\"").append(kRawMarkEscaped);
          known_.text.append(std::to_string(known_.raw.size())).append("\"");
          known_.raw.push_back(text_.substr(begin, at_ - begin));
        }
        return true;
      case JsonShape::Type::kObject:
        if (c == '{') return CutObject({shape.members});
        break;
      case JsonShape::Type::kMap:
        if (c == '{') return CutMap(*shape.element);
        break;
      case JsonShape::Type::kValue:
        break;
    }
    // A list of lists is none that a table has.
    if (c == '[' && !in_list) return CutList(shape);
    return CopyValue();
  }

  // A value that has no shape, mended; an empty object or list where it is nested too deeply.
  bool CopyValue() {
    const size_t begin = at_;
    const size_t begin_out = known_.text.size();
    size_t depth = 0;
    while (SkipSpace()) {
      const char c = text_[at_];
      if (c == '"') {
        const auto string = TakeString();
        if (!string) return false;
        AppendString(*string);
      } else if (c == '{' || c == '[') {
        ++at_;
        known_.text += c;
        if (++depth > kDeepestValue) {
          at_ = begin;
          known_.text.resize(begin_out);
          known_.text += text_[begin] == '{' ? "{}" : "[]";
          return SkipValue();
        }
      } else if (c == '}' || c == ']') {
        if (depth == 0) return false;
        ++at_;
        known_.text += c;
        --depth;
      } else if (depth > 0 && (c == ',' || c == ':')) {
        ++at_;
        known_.text += c;
      } else if (!CopyWord()) {
        return false;
      }
      if (depth == 0) return true;
    }
    return false;
  }

  // A number that no parser holds stays as a string, which is what a quantity may be.
  bool CopyWord() {
    const std::string_view word = TakeWord();
    if (!IsWord(word)) return false;
    const bool huge = IsNumber(word) && IsHuge(word);
    if (huge) known_.text += '"';
    known_.text += word;
    if (huge) known_.text += '"';
    return true;
  }

  // As Go's encoder writes what its decoder has read: U+FFFD for what is no character.
  void AppendString(std::string_view written) {
    std::string& out = known_.text;
    out += '"';
    while (!written.empty()) {
      size_t length = 1;
      if (written.front() == '\\') {
        length = 2;
        if (const auto unit = EscapedUnit(written)) {
          length = 6;
          const auto next = EscapedUnit(written.substr(length));
          if (IsHighSurrogate(*unit) && next && IsLowSurrogate(*next)) {
            length = 12;
          } else if (IsHighSurrogate(*unit) || IsLowSurrogate(*unit)) {
            out += kReplacementEscaped;
            written.remove_prefix(length);
            continue;
          }
        }
      } else {
        length = base::Utf8Length(written);
        if (length == 0) {
          out += kReplacementEscaped;
          written.remove_prefix(1);
          continue;
        }
      }
      length = std::min(length, written.size());
      out.append(written.substr(0, length));
      written.remove_prefix(length);
    }
    out += '"';
  }

  std::string_view text_;
  size_t at_ = 0;
  KnownJson known_;
};

}  // namespace

std::optional<KnownJson> KeepKnown(std::string_view text, const JsonShape& shape) {
  return JsonCutter(text).Cut(shape);
}

std::optional<size_t> RawIndex(std::string_view string) {
  if (!string.starts_with(kRawMark)) return std::nullopt;
  return WholeNumber<size_t>(string.substr(1), 10);
}

}  // namespace berth::api
