// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "berth/loadable/cpp/status.hpp"

BERTH_NAMESPACE_BEGIN

// A value of the configuration file. Good for as long as the constructor that was given it runs.
class ConfigValue {
 public:
  explicit ConfigValue(const berth_value* value) : value_(value) {}

  int32_t type() const { return internal::host->value_type(value_); }  // BERTH_VALUE_...
  bool is_null() const { return type() == BERTH_VALUE_NULL; }
  bool boolean() const { return internal::host->value_bool(value_); }
  int64_t integer() const { return internal::host->value_integer(value_); }
  double real() const { return internal::host->value_real(value_); }
  std::string_view string() const { return internal::Cpp(internal::host->value_string(value_)); }
  // Elements of a list, members of a map.
  size_t size() const { return internal::host->value_size(value_); }
  ConfigValue operator[](size_t index) const {
    return ConfigValue(internal::host->value_at(value_, index));
  }
  std::string_view key(size_t index) const {
    return internal::Cpp(internal::host->value_key(value_, index));
  }
  // A map's member; nullopt: there is none.
  std::optional<ConfigValue> Find(std::string_view name) const {
    for (size_t i = 0; type() == BERTH_VALUE_MAP && i < size(); ++i) {
      if (key(i) == name) return (*this)[i];
    }
    return std::nullopt;
  }
  int line() const { return internal::host->value_line(value_); }

 private:
  const berth_value* value_;
};

// Reads the fields of a map strictly: every problem is collected with the field's name, and a field
// that was not asked for is one.
//
//   berth::FieldReader fields(args);
//   fields.Require("label", label_);
//   fields.Read("weight", weight_);
//   fields.Finish();
class FieldReader {
 public:
  explicit FieldReader(ConfigValue value) : value_(value) {
    if (!value.is_null() && value.type() != BERTH_VALUE_MAP) Problem("args: must be a map");
  }

  // Sets `out` when the field is there; T is bool, an integer, double, std::string or a vector of
  // strings.
  template <typename T>
  bool Read(std::string_view field, T& out) {
    known_.push_back(field);
    for (size_t i = 0; value_.type() == BERTH_VALUE_MAP && i < value_.size(); ++i) {
      if (value_.key(i) != field || value_[i].is_null()) continue;
      if (Convert(value_[i], out)) return true;
      Invalid(field, std::string("must be ") + Wanted(out));
      return false;
    }
    return false;
  }
  // The same of a field that must be there.
  template <typename T>
  bool Require(std::string_view field, T& out) {
    const size_t before = problems_.size();
    if (Read(field, out)) return true;
    if (problems_.size() == before) Invalid(field, "is required");
    return false;
  }
  // Records what is wrong with a field.
  void Invalid(std::string_view field, std::string_view detail) {
    Problem(std::string(field) + ": " + std::string(detail));
  }
  void Problem(std::string text) { problems_.push_back(std::move(text)); }

  // Throws std::invalid_argument with all problems, if there are any.
  void Finish() {
    for (size_t i = 0; value_.type() == BERTH_VALUE_MAP && i < value_.size(); ++i) {
      bool known = false;
      for (const std::string_view field : known_) known = known || field == value_.key(i);
      if (!known) Invalid(value_.key(i), "unknown field");
    }
    if (problems_.empty()) return;
    std::string all;
    for (const std::string& problem : problems_) all += (all.empty() ? "" : ", ") + problem;
    throw std::invalid_argument(all);
  }

 private:
  static bool Convert(ConfigValue value, bool& out) {
    if (value.type() != BERTH_VALUE_BOOL) return false;
    out = value.boolean();
    return true;
  }
  static bool Convert(ConfigValue value, int64_t& out) {
    if (value.type() != BERTH_VALUE_INTEGER) return false;
    out = value.integer();
    return true;
  }
  static bool Convert(ConfigValue value, int32_t& out) {
    int64_t wide = 0;
    if (!Convert(value, wide) || wide < std::numeric_limits<int32_t>::min() ||
        wide > std::numeric_limits<int32_t>::max()) {
      return false;
    }
    out = static_cast<int32_t>(wide);
    return true;
  }
  static bool Convert(ConfigValue value, double& out) {
    if (value.type() != BERTH_VALUE_REAL && value.type() != BERTH_VALUE_INTEGER) return false;
    out = value.real();
    return true;
  }
  static bool Convert(ConfigValue value, std::string& out) {
    if (value.type() != BERTH_VALUE_STRING) return false;
    out = std::string(value.string());
    return true;
  }
  static bool Convert(ConfigValue value, std::vector<std::string>& out) {
    if (value.type() != BERTH_VALUE_LIST) return false;
    std::vector<std::string> strings(value.size());
    for (size_t i = 0; i < value.size(); ++i)
      if (!Convert(value[i], strings[i])) return false;
    out = std::move(strings);
    return true;
  }
  static const char* Wanted(bool) { return "true or false"; }
  static const char* Wanted(int64_t) { return "an integer"; }
  static const char* Wanted(int32_t) { return "an integer of 32 bits"; }
  static const char* Wanted(double) { return "a number"; }
  static const char* Wanted(const std::string&) { return "a string"; }
  static const char* Wanted(const std::vector<std::string>&) { return "a list of strings"; }

  ConfigValue value_;
  std::vector<std::string_view> known_;
  std::vector<std::string> problems_;
};

BERTH_NAMESPACE_END
