// SPDX-License-Identifier: Apache-2.0
#include "src/cel/string_format.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "berth/result.h"
#include "src/cel/conversions.h"
#include "src/cel/format_clause.h"
#include "src/cel/go_text.h"

namespace berth::cel {
namespace {

constexpr int kDefaultDigits = 6;
constexpr char kRuntime[] = "error during formatting: ";

// A text, or an error value.
using Formatted = Result<std::string>;

Formatted WrongType(char verb, const Value& value) {
  return Fail(WrongFormatType(verb, TypeNameOf(value)));
}

// A list may hold the same large list many times.
constexpr size_t kLongestText = 1 << 20;
Formatted TooLong() { return Fail("the text is too long"); }

Formatted Text(const Value& value);

Formatted InsideAggregate(const Value& value) {
  switch (value.kind()) {
    case Kind::kTimestamp:
      return "timestamp(" + GoQuote(ToText(value).text()) + ")";
    case Kind::kDuration:
      return "duration(" + GoQuote(ToText(value).text()) + ")";
    case Kind::kDouble:
      if (std::isfinite(value.real())) return FormatDoubleFixed(value.real(), kDefaultDigits);
      return GoQuote(FormatDouble(value.real()));
    case Kind::kString:
      return GoQuote(value.text());
    case Kind::kBytes: {
      const Formatted text = Text(value);
      return text ? Formatted("b" + GoQuote(*text)) : text;
    }
    case Kind::kOptional:
    case Kind::kExtension:
      return Fail("no formatting function for " + std::string(TypeNameOf(value)));
    default:
      return Text(value);
  }
}

Formatted ListText(const List& list) {
  std::string text = "[";
  for (const Value& item : list.items) {
    if (text.size() > 1) text += ", ";
    Formatted formatted = InsideAggregate(item);
    if (!formatted) return formatted;
    text += *formatted;
    if (text.size() > kLongestText) return TooLong();
  }
  return text + "]";
}

Formatted MapText(const Map& map) {
  std::vector<std::pair<std::string, std::string>> entries;
  size_t size = 0;
  for (const auto& [key, value] : map.entries()) {
    if (key.kind() != Kind::kString && key.kind() != Kind::kBool && key.kind() != Kind::kInt &&
        key.kind() != Kind::kUint)
      return Fail("no formatting function for map key of type " + std::string(TypeNameOf(key)));
    const Formatted key_text = InsideAggregate(key);
    const Formatted value_text = InsideAggregate(value);
    if (!key_text || !value_text) return key_text ? value_text : key_text;
    size += key_text->size() + value_text->size();
    if (size > kLongestText) return TooLong();
    entries.emplace_back(*key_text, *value_text);
  }
  std::stable_sort(entries.begin(), entries.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::string text = "{";
  for (const auto& [key, value] : entries) {
    if (text.size() > 1) text += ", ";
    text += key + ":" + value;
  }
  return text + "}";
}

Formatted Text(const Value& value) {
  switch (value.kind()) {
    case Kind::kList:
      return ListText(value.list());
    case Kind::kMap:
      return MapText(value.map());
    case Kind::kOptional:
    case Kind::kExtension:
      return WrongType('s', value);
    default: {
      const Value text = ToText(value);
      if (text.IsError())
        return Fail("could not convert argument " + GoQuote(text.text()) + " to string");
      return text.text();
    }
  }
}

Formatted Decimal(const Value& value) {
  if (value.kind() != Kind::kInt && value.kind() != Kind::kUint) return WrongType('d', value);
  return DebugText(value);
}

// The number of %f and %e: a double, or its name as a string.
std::optional<double> Number(const Value& value) {
  if (value.kind() == Kind::kDouble) return value.real();
  if (value.kind() != Kind::kString) return std::nullopt;
  const std::string& text = value.text();
  if (text == "NaN" || text == "Infinity" || text == "-Infinity") return ParseDouble(text);
  return std::nullopt;
}

std::string NotFinite(double number) {
  if (std::isnan(number)) return "NaN";
  return number < 0 ? "-\xE2\x88\x9E" : "\xE2\x88\x9E";
}

Formatted Fixed(const Value& value, int digits) {
  const std::optional<double> number = Number(value);
  if (!number) return WrongType('f', value);
  if (!std::isfinite(*number)) return NotFinite(*number);
  std::string text = FormatDoubleFixed(*number, digits);
  const size_t first = text.front() == '-' ? 1 : 0;
  size_t at = std::min(text.find('.'), text.size());
  while (at > first + 3) text.insert(at -= 3, ",");
  return text;
}

Formatted Scientific(const Value& value, int digits) {
  const std::optional<double> number = Number(value);
  if (!number) return WrongType('e', value);
  if (!std::isfinite(*number)) {
    std::string text = NotFinite(*number);
    const auto width = static_cast<size_t>(digits);
    const size_t length = CodePoints(text);
    return std::string(width > length ? width - length : 0, ' ') + text;
  }
  const std::string plain = FormatDoubleScientific(*number, digits);
  const size_t exponent = plain.find('e');
  std::string text = plain.substr(0, exponent) + "\u00D710";
  constexpr const char* kSuperscript[] = {"\u2070", "\u00B9", "\u00B2", "\u00B3", "\u2074",
                                          "\u2075", "\u2076", "\u2077", "\u2078", "\u2079"};
  for (const char c : plain.substr(exponent + 1)) {
    if (c == '-') text += "\u207B";
    if (c >= '0' && c <= '9') text += kSuperscript[c - '0'];
  }
  return text;
}

// A magnitude in base 2, 8 or 16.
std::string InBase(uint64_t magnitude, unsigned bits) {
  std::string digits;
  do {
    digits += "0123456789abcdef"[magnitude & ((1U << bits) - 1)];
    magnitude >>= bits;
  } while (magnitude != 0);
  std::reverse(digits.begin(), digits.end());
  return digits;
}

std::string Whole(const Value& value, unsigned bits) {
  if (value.kind() == Kind::kUint) return InBase(value.natural(), bits);
  const int64_t number = value.integer();
  const uint64_t magnitude =
      number < 0 ? ~static_cast<uint64_t>(number) + 1 : static_cast<uint64_t>(number);
  return (number < 0 ? "-" : "") + InBase(magnitude, bits);
}

Formatted Binary(const Value& value) {
  if (value.kind() == Kind::kBool) return std::string(value.boolean() ? "1" : "0");
  if (value.kind() != Kind::kInt && value.kind() != Kind::kUint) return WrongType('b', value);
  return Whole(value, 1);
}

Formatted Octal(const Value& value) {
  if (value.kind() != Kind::kInt && value.kind() != Kind::kUint) return WrongType('o', value);
  return Whole(value, 3);
}

Formatted Hexadecimal(const Value& value, bool upper) {
  std::string text;
  if (value.kind() == Kind::kString || value.kind() == Kind::kBytes) {
    for (const char c : value.text()) {
      const auto byte = static_cast<unsigned char>(c);
      text += {"0123456789abcdef"[byte >> 4], "0123456789abcdef"[byte & 15]};
    }
  } else if (value.kind() == Kind::kInt || value.kind() == Kind::kUint) {
    text = Whole(value, 4);
  } else {
    return WrongType('x', value);
  }
  if (upper)
    for (char& c : text)
      if (c >= 'a') c = static_cast<char>(c - 'a' + 'A');
  return text;
}

Formatted Apply(const FormatClause& clause, const Value& value) {
  switch (clause.verb) {
    case 's':
      return Text(value);
    case 'd':
      return Decimal(value);
    case 'f':
      return Fixed(value, clause.digits);
    case 'e':
      return Scientific(value, clause.digits);
    case 'b':
      return Binary(value);
    case 'o':
      return Octal(value);
    default:
      return Hexadecimal(value, clause.verb == 'X');
  }
}

}  // namespace

Value FormatText(Budget& budget, const std::string& format, const List& args) {
  std::string text;
  std::string_view rest = format;
  size_t used = 0;
  while (!rest.empty()) {
    if (rest.front() != '%') {
      text += rest.front();
      rest.remove_prefix(1);
      continue;
    }
    rest.remove_prefix(1);
    if (!rest.empty() && rest.front() == '%') {
      text += '%';
      rest.remove_prefix(1);
      continue;
    }
    if (used >= args.items.size())
      return Value::Error("index " + std::to_string(used) + " out of range");
    if (rest.empty()) return Value::Error("unexpected end of string");
    const Result<FormatClause> clause = ReadFormatClause(rest);
    if (!clause) return Value::Error(clause.error().message);
    const Formatted formatted = Apply(*clause, args.items[used++]);
    if (!formatted) return Value::Error(kRuntime + formatted.error().message);
    budget.Allocate(formatted->size());
    if (budget.out_of_memory()) return NoSuchOverload();
    text += *formatted;
    rest.remove_prefix(clause->length);
  }
  return Value::String(std::move(text));
}

}  // namespace berth::cel
