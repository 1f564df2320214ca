// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "berth/result.h"
#include "src/cel/environment.h"
#include "src/cel/format_clause.h"
#include "src/cel/go_text.h"
#include "src/cel/value.h"
#include "src/cel/value_ops.h"

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

// "%s has %d".format([...]): %s, %d, %f, %e, %b, %x, %X and %o, with a precision ("%.3f") where one
// makes sense. %f groups thousands and %e writes a power of ten, as cel-go does for English.
//
// An error: a clause that is none, or an argument that is missing or of another kind.
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

using Characters = std::vector<char32_t>;

Value OutOfRange(int64_t index) {
  return Value::Error("index out of range: " + std::to_string(index));
}

bool IsWithin(int64_t index, const Characters& characters) {
  return index >= 0 && index <= static_cast<int64_t>(characters.size());
}

Value Part(const Characters& characters, int64_t begin, int64_t end) {
  return Value::String(FromRunes(characters.data() + begin, characters.data() + end));
}

Value CharAt(Budget&, std::span<Value> args) {
  const Characters characters = Runes(args[0].text());
  const int64_t index = args[1].integer();
  if (!IsWithin(index, characters)) return OutOfRange(index);
  return Part(characters, index, std::min(index + 1, static_cast<int64_t>(characters.size())));
}

int64_t Search(const Characters& text, const Characters& part, int64_t offset) {
  const auto begin = text.begin() + offset;
  const auto found = std::search(begin, text.end(), part.begin(), part.end());
  return found == text.end() ? -1 : found - text.begin();
}

Value IndexOf(Budget&, std::span<Value> args) {
  const int64_t offset = args.size() == 3 ? args[2].integer() : 0;
  if (offset < 0) return OutOfRange(offset);
  const Characters text = Runes(args[0].text());
  const auto size = static_cast<int64_t>(text.size());
  if (args[1].text().empty()) return Value::Int(std::min(offset, size));
  if (offset >= size) return Value::Int(-1);
  return Value::Int(Search(text, Runes(args[1].text()), offset));
}

Value LastIndexOf(Budget&, std::span<Value> args) {
  const Characters text = Runes(args[0].text());
  const Characters part = Runes(args[1].text());
  const auto size = static_cast<int64_t>(text.size());
  int64_t offset = size - 1;
  if (args.size() == 3) {
    offset = args[2].integer();
    if (offset < 0) return OutOfRange(offset);
    if (part.empty()) return Value::Int(std::min(offset, size));
    if (offset >= size) return Value::Int(-1);
  } else if (part.empty()) {
    return Value::Int(size);
  } else if (args[0].text().size() < args[1].text().size()) {
    return Value::Int(-1);
  }
  for (int64_t i = std::min(offset, size - static_cast<int64_t>(part.size())); i >= 0; --i)
    if (std::equal(part.begin(), part.end(), text.begin() + i)) return Value::Int(i);
  return Value::Int(-1);
}

template <char from, char to>
Value ChangeCase(Budget&, std::span<Value> args) {
  std::string text = args[0].text();
  for (char& c : text)
    if (c >= from && c <= from + 25) c = static_cast<char>(c - from + to);
  return Value::String(std::move(text));
}

// Where an empty text is found: before each character and at the end.
std::vector<size_t> Boundaries(std::string_view text) {
  std::vector<size_t> at = {0};
  while (at.back() < text.size())
    at.push_back(at.back() + FirstRune(text.substr(at.back())).length);
  return at;
}

// Where `part` stands in `text`, without overlaps, the first `most` times; all when it is negative.
std::vector<size_t> Places(std::string_view text, std::string_view part, int64_t most) {
  std::vector<size_t> places;
  if (part.empty()) {
    places = Boundaries(text);
  } else {
    for (size_t at = text.find(part); at != std::string_view::npos;
         at = text.find(part, at + part.size()))
      places.push_back(at);
  }
  if (most >= 0 && places.size() > static_cast<size_t>(most))
    places.resize(static_cast<size_t>(most));
  return places;
}

Value Replace(Budget& budget, std::span<Value> args) {
  const std::string& text = args[0].text();
  const std::string& from = args[1].text();
  const std::string& to = args[2].text();
  const std::vector<size_t> places = Places(text, from, args.size() == 4 ? args[3].integer() : -1);
  budget.Allocate(text.size() + places.size() * to.size());
  if (budget.out_of_memory()) return NoSuchOverload();
  std::string replaced;
  size_t done = 0;
  for (const size_t place : places) {
    replaced.append(text, done, place - done).append(to);
    done = place + from.size();
  }
  return Value::String(replaced.append(text, done));
}

Value Split(Budget& budget, std::span<Value> args) {
  const std::string& text = args[0].text();
  const std::string& separator = args[1].text();
  const int64_t most = args.size() == 3 ? args[2].integer() : -1;
  std::vector<Value> parts;
  if (most == 0) return Value::ListOf({});
  std::vector<size_t> places = Places(text, separator, -1);
  if (separator.empty()) {
    // Between the characters, not at the ends.
    places.erase(places.begin());
    if (!places.empty()) places.pop_back();
    if (text.empty()) return Value::ListOf({});
  }
  if (most > 0 && places.size() > static_cast<size_t>(most - 1))
    places.resize(static_cast<size_t>(most - 1));
  budget.Allocate(text.size() + (places.size() + 1) * sizeof(Value));
  size_t done = 0;
  for (const size_t place : places) {
    parts.push_back(Value::String(text.substr(done, place - done)));
    done = place + separator.size();
  }
  parts.push_back(Value::String(text.substr(done)));
  return Value::ListOf(std::move(parts));
}

Value Substring(Budget&, std::span<Value> args) {
  const Characters characters = Runes(args[0].text());
  const int64_t begin = args[1].integer();
  const int64_t end =
      args.size() == 3 ? args[2].integer() : static_cast<int64_t>(characters.size());
  if (args.size() == 3 && begin > end)
    return Value::Error("invalid substring range. start: " + std::to_string(begin) +
                        ", end: " + std::to_string(end));
  if (!IsWithin(begin, characters)) return OutOfRange(begin);
  if (!IsWithin(end, characters)) return OutOfRange(end);
  return Part(characters, begin, end);
}

bool IsSpace(char32_t c) {
  return (c >= 9 && c <= 13) || c == ' ' || c == 0x85 || c == 0xA0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F ||
         c == 0x3000;
}

Value Trim(Budget&, std::span<Value> args) {
  const Characters characters = Runes(args[0].text());
  int64_t begin = 0;
  auto end = static_cast<int64_t>(characters.size());
  while (begin < end && IsSpace(characters[static_cast<size_t>(begin)])) ++begin;
  while (end > begin && IsSpace(characters[static_cast<size_t>(end - 1)])) --end;
  return Part(characters, begin, end);
}

Value Quote(Budget&, std::span<Value> args) {
  constexpr std::string_view kEscaped = "\a\b\f\n\r\t\v\\\"";
  std::string quoted = "\"";
  for (const char32_t c : Runes(args[0].text())) {
    const size_t escape =
        c < 128 && c != 0 ? kEscaped.find(static_cast<char>(c)) : std::string_view::npos;
    if (escape == std::string_view::npos) {
      AppendRune(quoted, c);
    } else {
      quoted += {'\\', "abfnrtv\\\""[escape]};
    }
  }
  return Value::String(quoted += '"');
}

Value Join(Budget& budget, std::span<Value> args) {
  const std::string separator = args.size() == 2 ? args[1].text() : "";
  std::string joined;
  bool first = true;
  for (const Value& item : args[0].list().items) {
    if (!first) joined += separator;
    first = false;
    if (item.kind() != Kind::kString)
      return Value::Error("join: invalid input: " + DebugText(item));
    budget.Allocate(item.text().size() + separator.size());
    if (budget.out_of_memory()) return NoSuchOverload();
    joined += item.text();
  }
  return Value::String(std::move(joined));
}

Value Format(Budget& budget, std::span<Value> args) {
  return FormatText(budget, args[0].text(), args[1].list());
}

}  // namespace

void AddStrings(Environment& environment) {
  static constexpr FunctionRow kRows[] = {
      {"charAt", "string_char_at_int", "string.(int) string", CharAt},
      {"indexOf", "string_index_of_string", "string.(string) int", IndexOf},
      {"indexOf", "string_index_of_string_int", "string.(string, int) int", IndexOf},
      {"lastIndexOf", "string_last_index_of_string", "string.(string) int", LastIndexOf},
      {"lastIndexOf", "string_last_index_of_string_int", "string.(string, int) int", LastIndexOf},
      {"lowerAscii", "string_lower_ascii", "string.() string", ChangeCase<'A', 'a'>},
      {"replace", "string_replace_string_string", "string.(string, string) string", Replace},
      {"replace", "string_replace_string_string_int", "string.(string, string, int) string",
       Replace},
      {"split", "string_split_string", "string.(string) list(string)", Split},
      {"split", "string_split_string_int", "string.(string, int) list(string)", Split},
      {"substring", "string_substring_int", "string.(int) string", Substring},
      {"substring", "string_substring_int_int", "string.(int, int) string", Substring},
      {"trim", "string_trim", "string.() string", Trim},
      {"upperAscii", "string_upper_ascii", "string.() string", ChangeCase<'a', 'A'>},
      {"format", "string_format", "string.(list(dyn)) string", Format, Cost::kFirst},
      {"strings.quote", "strings_quote", "(string) string", Quote, Cost::kFirst},
      {"join", "list_join", "list(string).() string", Join},
      {"join", "list_join_string", "list(string).(string) string", Join},
  };
  environment.Add(kRows);
  for (const char* const name : {"lowerAscii", "upperAscii", "substring", "trim"})
    environment.SetCost(name, Cost::kFirst);
  environment.SetCost("replace", Cost::kFirstTwice);
  environment.SetCost("split", Cost::kFirstTwice);
  environment.SetCost("join", Cost::kResultTwice);
}

}  // namespace berth::cel
