// SPDX-License-Identifier: Apache-2.0
#include "berth/config_value.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "berth/field_errors.h"

namespace berth {
namespace {

std::string NumberText(double value) {
  if (!std::isfinite(value)) return "null";
  char buffer[32];
  const auto [end, error] = std::to_chars(buffer, buffer + sizeof buffer, value);
  return std::string(buffer, end);
}

// A whole number, also when the file wrote it as 1.0 or 1e3.
std::optional<int64_t> WholeNumber(const ConfigValue& value) {
  if (const int64_t* integer = value.integer()) return *integer;
  const double* real = value.real();
  if (real == nullptr || *real != std::trunc(*real) || std::abs(*real) >= 0x1.0p63) {
    return std::nullopt;
  }
  return static_cast<int64_t>(*real);
}

}  // namespace

const ConfigValue* ConfigValue::Find(std::string_view key) const {
  const Map* entries = map();
  if (entries == nullptr) return nullptr;
  for (const auto& [name, value] : *entries) {
    if (name == key) return value.is_null() ? nullptr : &value;
  }
  return nullptr;
}

std::string_view ConfigValue::TypeName() const {
  if (is_null()) return "null";
  if (boolean() != nullptr) return "a boolean";
  if (integer() != nullptr || real() != nullptr) return "a number";
  if (string() != nullptr) return "a string";
  return list() != nullptr ? "a list" : "a map";
}

std::string ConfigValue::ToJson() const {
  if (const bool* value = boolean()) return *value ? "true" : "false";
  if (const int64_t* value = integer()) return std::to_string(*value);
  if (const double* value = real()) return NumberText(*value);
  if (const std::string* value = string()) return Quoted(*value);
  std::string text;
  if (const List* values = list()) {
    for (const ConfigValue& value : *values) {
      text += text.empty() ? "[" : ",";
      text += value.ToJson();
    }
    return values->empty() ? "[]" : text + "]";
  }
  if (const Map* values = map()) {
    for (const auto& [key, value] : *values) {
      text += text.empty() ? "{" : ",";
      text += Quoted(key) + ":" + value.ToJson();
    }
    return values->empty() ? "{}" : text + "}";
  }
  return "null";
}

FieldReader::FieldReader(const ConfigValue& value, std::string path, FieldHint hint)
    : value_(&value), path_(std::move(path)), hint_(hint) {
  if (value.is_null() || value.map() != nullptr) return;
  problems_.push_back(
      InvalidField(path_.empty() ? "<root>" : path_, value.ToJson(), "must be a map"));
}

FieldReader FieldReader::Nested(const ConfigValue& value, std::string path) const {
  return {value, std::move(path), hint_};
}

const ConfigValue* FieldReader::Take(std::string_view field) {
  known_.emplace_back(field);
  return value_->Find(field);
}

void FieldReader::WrongType(std::string_view field, const ConfigValue& value,
                            std::string_view wanted) {
  Invalid(field, value.ToJson(), "must be " + std::string(wanted));
}

bool FieldReader::Read(std::string_view field, bool& out) {
  const ConfigValue* value = Take(field);
  if (value == nullptr) return false;
  if (value->boolean() == nullptr) {
    WrongType(field, *value, "a boolean");
    return false;
  }
  out = *value->boolean();
  return true;
}

bool FieldReader::Read(std::string_view field, int32_t& out) {
  int64_t wide = 0;
  if (!Read(field, wide)) return false;
  if (wide < std::numeric_limits<int32_t>::min() || wide > std::numeric_limits<int32_t>::max()) {
    Invalid(field, std::to_string(wide), "must be a 32-bit integer");
    return false;
  }
  out = static_cast<int32_t>(wide);
  return true;
}

bool FieldReader::Read(std::string_view field, int64_t& out) {
  const ConfigValue* value = Take(field);
  if (value == nullptr) return false;
  const auto number = WholeNumber(*value);
  if (!number) {
    WrongType(field, *value, "an integer");
    return false;
  }
  out = *number;
  return true;
}

bool FieldReader::Read(std::string_view field, double& out) {
  const ConfigValue* value = Take(field);
  if (value == nullptr) return false;
  if (value->integer() != nullptr) {
    out = static_cast<double>(*value->integer());
  } else if (value->real() != nullptr) {
    out = *value->real();
  } else {
    WrongType(field, *value, "a number");
    return false;
  }
  return true;
}

bool FieldReader::Read(std::string_view field, std::string& out) {
  const ConfigValue* value = Take(field);
  if (value == nullptr) return false;
  if (value->string() == nullptr) {
    WrongType(field, *value, "a string");
    return false;
  }
  out = *value->string();
  return true;
}

bool FieldReader::Read(std::string_view field, std::vector<std::string>& out) {
  const ConfigValue* value = Take(field);
  if (value == nullptr) return false;
  if (value->list() == nullptr) {
    WrongType(field, *value, "a list of strings");
    return false;
  }
  std::vector<std::string> texts;
  for (size_t i = 0; i < value->list()->size(); ++i) {
    const ConfigValue& element = (*value->list())[i];
    // As in Go, where null leaves the element as it is made.
    if (element.is_null()) {
      texts.emplace_back();
      continue;
    }
    if (element.string() == nullptr) {
      WrongType(std::string(field) + "[" + std::to_string(i) + "]", element, "a string");
      return false;
    }
    texts.push_back(*element.string());
  }
  out = std::move(texts);
  return true;
}

bool FieldReader::Read(std::string_view field, Duration& out) {
  const ConfigValue* value = Take(field);
  if (value == nullptr) return false;
  if (value->string() == nullptr) {
    WrongType(field, *value, "a duration such as 1m30s");
    return false;
  }
  const auto duration = ParseGoDuration(*value->string());
  if (!duration) {
    Invalid(field, Quoted(*value->string()), duration.error().message);
    return false;
  }
  out = *duration;
  return true;
}

const ConfigValue* FieldReader::Get(std::string_view field) { return Take(field); }

const ConfigValue::List& FieldReader::GetList(std::string_view field) {
  static const ConfigValue::List kEmpty;
  const ConfigValue* value = Take(field);
  if (value == nullptr) return kEmpty;
  if (value->list() == nullptr) {
    WrongType(field, *value, "a list");
    return kEmpty;
  }
  return *value->list();
}

std::string FieldReader::PathOf(std::string_view field) const {
  return path_.empty() ? std::string(field) : path_ + "." + std::string(field);
}

void FieldReader::Invalid(std::string_view field, std::string_view value, std::string_view detail) {
  problems_.push_back(InvalidField(PathOf(field), value, detail));
}

void FieldReader::Problem(std::string text) { problems_.push_back(std::move(text)); }

void FieldReader::Merge(FieldReader& nested) {
  nested.CollectUnknown();
  std::move(nested.problems_.begin(), nested.problems_.end(), std::back_inserter(problems_));
  nested.problems_.clear();
}

void FieldReader::CollectUnknown() {
  if (finished_ || value_->map() == nullptr) return;
  finished_ = true;
  std::vector<std::string> unknown;
  for (const auto& [name, value] : *value_->map()) {
    if (std::find(known_.begin(), known_.end(), name) == known_.end()) unknown.push_back(name);
  }
  std::sort(unknown.begin(), unknown.end());
  for (const std::string& name : unknown) {
    problems_.push_back("unknown field " + Quoted(PathOf(name)) +
                        (hint_ == nullptr ? "" : hint_(name, known_)));
  }
}

std::optional<Error> FieldReader::Finish() {
  CollectUnknown();
  if (problems_.empty()) return std::nullopt;
  std::string text;
  for (const std::string& problem : problems_) {
    if (!text.empty()) text += ", ";
    text += problem;
  }
  return Error{text};
}

}  // namespace berth
