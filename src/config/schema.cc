// SPDX-License-Identifier: Apache-2.0
#include "src/config/schema.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include "berth/field_errors.h"

namespace berth::config {
namespace {

constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

bool IsLineBreak(char c) { return c == '\n' || c == '\r'; }

std::string_view JsonType(const ConfigValue& value) {
  if (value.boolean() != nullptr) return "bool";
  if (value.integer() != nullptr || value.real() != nullptr) return "number";
  if (value.string() != nullptr) return "string";
  return value.list() != nullptr ? "array" : "object";
}

// Whether it is an integer; JSON's must be written as one, where YAML's may be 2.0.
bool IsWhole(const ConfigValue& value, MemberOrder order, int64_t min, int64_t max) {
  if (const int64_t* integer = value.integer()) return *integer >= min && *integer <= max;
  if (order == MemberOrder::kAsWritten) return false;
  const double* real = value.real();
  return real != nullptr && *real == std::trunc(*real) && std::abs(*real) < 0x1.0p63 &&
         *real >= static_cast<double>(min) && *real <= static_cast<double>(max);
}

bool FitsFloat(const ConfigValue& value) {
  if (value.integer() != nullptr) return true;
  return value.real() != nullptr &&
         std::abs(*value.real()) <= static_cast<double>(std::numeric_limits<float>::max());
}

class Checker {
 public:
  Checker(MemberOrder order, FieldHint hint) : order_(order), hint_(hint) {}

  void Check(const Schema& schema, const ConfigValue& value) {
    if (value.is_null()) return;
    switch (schema.kind) {
      case SchemaKind::kAny:
        return;
      case SchemaKind::kBool:
        return Require(value.boolean() != nullptr, schema, value);
      case SchemaKind::kInt32:
        return RequireNumber(IsWhole(value, order_, std::numeric_limits<int32_t>::min(),
                                     std::numeric_limits<int32_t>::max()),
                             schema, value);
      case SchemaKind::kInt64:
        return RequireNumber(IsWhole(value, order_, std::numeric_limits<int64_t>::min(),
                                     std::numeric_limits<int64_t>::max()),
                             schema, value);
      case SchemaKind::kFloat32:
        return RequireNumber(FitsFloat(value), schema, value);
      case SchemaKind::kFloat64:
        return RequireNumber(value.integer() != nullptr || value.real() != nullptr, schema, value);
      case SchemaKind::kString:
        return Require(value.string() != nullptr, schema, value);
      case SchemaKind::kBytes:
        Require(value.string() != nullptr, schema, value);
        if (value.string() == nullptr) return;
        if (const auto read = DecodeBase64(*value.string()); !read) Mistyped(read.error().message);
        return;
      case SchemaKind::kDuration:
        Require(value.string() != nullptr, schema, value);
        if (value.string() == nullptr) return;
        if (const auto read = ParseGoDuration(*value.string()); !read) {
          Mistyped(read.error().message);
        }
        return;
      case SchemaKind::kList:
        Require(value.list() != nullptr, schema, value);
        if (value.list() != nullptr) CheckList(schema, *value.list());
        return;
      case SchemaKind::kStringMap:
        Require(value.map() != nullptr, schema, value);
        if (value.map() != nullptr) CheckStringMap(*value.map());
        return;
      case SchemaKind::kStruct:
        Require(value.map() != nullptr, schema, value);
        if (value.map() != nullptr) CheckStruct(schema, *value.map());
        return;
    }
  }

  SchemaProblems Take() { return std::move(problems_); }

 private:
  void Mistyped(std::string text) {
    if (!problems_.mistyped) problems_.mistyped = std::move(text);
  }

  void Require(bool right, const Schema& schema, const ConfigValue& value) {
    if (!right) Mistyped(std::string(JsonType(value)), schema);
  }

  void RequireNumber(bool right, const Schema& schema, const ConfigValue& value) {
    if (right) return;
    const bool is_number = value.integer() != nullptr || value.real() != nullptr;
    std::string what(is_number ? "number " + value.ToJson() : JsonType(value));
    const bool bare = what.find_first_of(".e", sizeof("number")) == std::string::npos;
    if (value.real() != nullptr && bare) what += ".0";
    Mistyped(what, schema);
  }

  void Mistyped(const std::string& what, const Schema& wanted) {
    std::string text = "json: cannot unmarshal " + what;
    text +=
        go_path_.empty() ? " into Go value" : " into Go struct field " + struct_ + "." + go_path_;
    Mistyped(text + " of type " + std::string(wanted.go_type));
  }

  void CheckList(const Schema& schema, const ConfigValue::List& list) {
    for (size_t i = 0; i < list.size(); ++i) {
      const size_t length = path_.size();
      path_ += "[" + std::to_string(i) + "]";
      Check(*schema.element, list[i]);
      path_.resize(length);
    }
  }

  void CheckStringMap(const ConfigValue::Map& map) {
    static constexpr Schema kText = {SchemaKind::kString, "string"};
    for (const auto& entry : map) Check(kText, entry.second);
  }

  void CheckStruct(const Schema& schema, const ConfigValue::Map& map) {
    std::vector<const ConfigValue::Map::value_type*> members;
    for (const auto& member : map) members.push_back(&member);
    if (order_ == MemberOrder::kByName) {
      std::stable_sort(members.begin(), members.end(),
                       [](const auto* a, const auto* b) { return a->first < b->first; });
    }
    const std::string outer_struct = struct_;
    for (const auto* member : members) {
      const auto field =
          std::find_if(schema.fields.begin(), schema.fields.end(),
                       [member](const SchemaField& f) { return f.name == member->first; });
      const size_t length = path_.size();
      const size_t go_length = go_path_.size();
      path_ += (path_.empty() ? "" : ".") + member->first;
      if (field == schema.fields.end()) {
        ReportUnknown(schema, member->first);
      } else {
        struct_ = schema.go_type.substr(schema.go_type.rfind('.') + 1);
        if (!go_path_.empty()) go_path_ += '.';
        if (!field->embedded.empty()) go_path_.append(field->embedded).append(".");
        go_path_ += member->first;
        Check(*field->type, member->second);
      }
      path_.resize(length);
      go_path_.resize(go_length);
    }
    struct_ = outer_struct;
  }

  // The field that the path leads to.
  void ReportUnknown(const Schema& schema, std::string_view name) {
    std::string& text = problems_.unknown_fields.emplace_back("unknown field " + Quoted(path_));
    if (hint_ == nullptr) return;
    std::vector<std::string> known;
    for (const SchemaField& field : schema.fields) known.emplace_back(field.name);
    text += hint_(name, known);
  }

  MemberOrder order_;
  FieldHint hint_;
  std::string path_;     // with indexes
  std::string go_path_;  // without
  std::string struct_;   // the Go struct that holds the field
  SchemaProblems problems_;
};

ConfigValue Zero(const Schema& schema) {
  switch (schema.kind) {
    case SchemaKind::kBool:
      return ConfigValue(false);
    case SchemaKind::kInt32:
    case SchemaKind::kInt64:
    case SchemaKind::kFloat32:
    case SchemaKind::kFloat64:
      return ConfigValue(int64_t{0});
    case SchemaKind::kString:
      return ConfigValue(std::string());
    case SchemaKind::kStruct:
      return AsPrinted(schema, ConfigValue(ConfigValue::Map{}));
    default:
      return ConfigValue();
  }
}

bool IsZero(const ConfigValue& value) {
  if (value.is_null()) return true;
  if (const bool* boolean = value.boolean()) return !*boolean;
  if (const int64_t* integer = value.integer()) return *integer == 0;
  if (const double* real = value.real()) return *real == 0;
  if (const std::string* text = value.string()) return text->empty();
  if (const ConfigValue::List* list = value.list()) return list->empty();
  // A Go struct is never empty.
  return false;
}

ConfigValue PrintedStruct(const Schema& schema, const ConfigValue& value) {
  ConfigValue::Map fields;
  for (const SchemaField& field : schema.fields) {
    const ConfigValue* given = value.Find(field.name);
    if (given == nullptr) {
      if (field.print == Print::kAlways) fields.emplace_back(field.name, Zero(*field.type));
      continue;
    }
    ConfigValue printed = AsPrinted(*field.type, *given);
    if (field.print == Print::kUnlessZero && IsZero(printed)) continue;
    fields.emplace_back(field.name, std::move(printed));
  }
  return ConfigValue(std::move(fields));
}

// The shortest decimal that reads back as the same float.
ConfigValue PrintedFloat(double value) {
  char text[32];
  const auto [end, error] = std::to_chars(text, text + sizeof text, static_cast<float>(value));
  double shortest = value;
  std::from_chars(text, end, shortest);
  return ConfigValue(shortest);
}

}  // namespace

Result<std::string> DecodeBase64(std::string_view text) {
  const auto illegal = [](size_t at) {
    return Fail("illegal base64 data at input byte " + std::to_string(at));
  };
  std::string bytes;
  uint32_t bits = 0;
  int digits = 0;
  size_t at = 0;
  for (; at < text.size() && text[at] != '='; ++at) {
    if (IsLineBreak(text[at])) continue;
    const size_t digit = kAlphabet.find(text[at]);
    if (digit == std::string_view::npos) return illegal(at);
    bits = bits << 6 | static_cast<uint32_t>(digit);
    if (++digits < 4) continue;
    for (int shift = 16; shift >= 0; shift -= 8) bytes += static_cast<char>(bits >> shift & 0xff);
    bits = 0;
    digits = 0;
  }
  if (at == text.size()) {
    if (digits == 0) return bytes;
    return illegal(at - static_cast<size_t>(digits));
  }
  if (digits < 2) return illegal(at);
  int padding = 0;
  for (; at < text.size(); ++at) {
    if (IsLineBreak(text[at])) continue;
    if (text[at] != '=' || padding == 4 - digits) return illegal(at);
    ++padding;
  }
  if (padding != 4 - digits) return illegal(at);
  bits <<= 6 * (4 - digits);
  bytes += static_cast<char>(bits >> 16 & 0xff);
  if (digits == 3) bytes += static_cast<char>(bits >> 8 & 0xff);
  return bytes;
}

SchemaProblems CheckAgainst(const Schema& schema, const ConfigValue& value, MemberOrder order,
                            FieldHint hint) {
  Checker checker(order, hint);
  checker.Check(schema, value);
  return checker.Take();
}

ConfigValue AsPrinted(const Schema& schema, const ConfigValue& value) {
  if (value.is_null()) return Zero(schema);
  switch (schema.kind) {
    case SchemaKind::kInt32:
    case SchemaKind::kInt64:
      if (value.real() != nullptr) return ConfigValue(static_cast<int64_t>(*value.real()));
      return value;
    case SchemaKind::kFloat32:
      return PrintedFloat(value.integer() != nullptr ? static_cast<double>(*value.integer())
                                                     : *value.real());
    case SchemaKind::kDuration:
      return ConfigValue(FormatGoDuration(*ParseGoDuration(*value.string())));
    case SchemaKind::kList: {
      ConfigValue::List list;
      for (const ConfigValue& element : *value.list()) {
        list.push_back(AsPrinted(*schema.element, element));
      }
      return ConfigValue(std::move(list));
    }
    case SchemaKind::kStruct:
      return PrintedStruct(schema, value);
    default:
      return value;
  }
}

}  // namespace berth::config
