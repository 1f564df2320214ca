// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "berth/result.h"
#include "berth/time.h"

namespace berth {

// A value of a configuration file: null, bool, number, string, list or map, with the place it
// stands at. What a plugin's args arrive as. Immutable once built.
class ConfigValue {
 public:
  using List = std::vector<ConfigValue>;
  using Map = std::vector<std::pair<std::string, ConfigValue>>;  // in file order, keys unique

  ConfigValue() = default;
  template <typename T>
  explicit ConfigValue(T value, int line = 0) : value_(std::move(value)), line_(line) {}

  bool is_null() const { return std::holds_alternative<std::monostate>(value_); }
  const bool* boolean() const { return std::get_if<bool>(&value_); }
  const int64_t* integer() const { return std::get_if<int64_t>(&value_); }
  // A number that is no int64.
  const double* real() const { return std::get_if<double>(&value_); }
  const std::string* string() const { return std::get_if<std::string>(&value_); }
  const List* list() const { return std::get_if<List>(&value_); }
  const Map* map() const { return std::get_if<Map>(&value_); }
  // The member of a map, or nullptr (also for a null member, as Kubernetes decodes).
  const ConfigValue* Find(std::string_view key) const;

  // 1-based; 0 when the value was not read from a file.
  int line() const { return line_; }
  // "a string", "a list", ... for messages.
  std::string_view TypeName() const;
  // As compact JSON.
  std::string ToJson() const;

 private:
  std::variant<std::monostate, bool, int64_t, double, std::string, List, Map> value_;
  int line_ = 0;
};

// What to say of a field that nothing asked for, behind that it is unknown; `known` were asked for.
using FieldHint = std::string (*)(std::string_view unknown, const std::vector<std::string>& known);

// Reads the fields of a map strictly: every problem is collected with the field's path, and a
// field that was not asked for is one.
//
//   FieldReader fields(args, "");
//   fields.Read("hardPodAffinityWeight", weight);
//   if (auto error = fields.Finish()) return Fail(*error);
class FieldReader {
 public:
  // `path` is put before field names in messages ("profiles[0].plugins"); may be "". `value` must
  // outlive the reader. A null value reads as an empty map. `hint` may be nullptr.
  FieldReader(const ConfigValue& value, std::string path, FieldHint hint = nullptr);
  // Of a map within this one, with the same hint; to be merged.
  FieldReader Nested(const ConfigValue& value, std::string path) const;

  // Each sets `out` and returns true when the field is there with the right type; a wrong type or
  // a number out of range is recorded, an absent or null field leaves `out` alone.
  bool Read(std::string_view field, bool& out);
  bool Read(std::string_view field, int32_t& out);
  bool Read(std::string_view field, int64_t& out);
  bool Read(std::string_view field, double& out);
  bool Read(std::string_view field, std::string& out);
  bool Read(std::string_view field, std::vector<std::string>& out);
  // A Go duration string, such as 1m30s.
  bool Read(std::string_view field, Duration& out);
  // Any value; nullptr when absent or null.
  const ConfigValue* Get(std::string_view field);
  // A list's elements; empty when absent.
  const ConfigValue::List& GetList(std::string_view field);

  // "path.field".
  std::string PathOf(std::string_view field) const;
  // Records a problem: `Invalid value: <value>: <detail>` at the field.
  void Invalid(std::string_view field, std::string_view value, std::string_view detail);
  // Records a problem with its full text.
  void Problem(std::string text);
  // Takes over the problems of a reader of a nested map.
  void Merge(FieldReader& nested);

  // All problems, unknown fields included, joined by ", "; nullopt when there is none.
  std::optional<Error> Finish();

 private:
  const ConfigValue* Take(std::string_view field);
  void CollectUnknown();
  void WrongType(std::string_view field, const ConfigValue& value, std::string_view wanted);

  const ConfigValue* value_;
  std::string path_;
  FieldHint hint_;
  std::vector<std::string> known_;
  std::vector<std::string> problems_;
  bool finished_ = false;
};

// "1h2m3.5s" as Go reads it. Errors: anything else.
Result<Duration> ParseGoDuration(std::string_view text);
// As Go prints it: "5m0s", "1.5s", "100ms", "0s".
std::string FormatGoDuration(Duration duration);

}  // namespace berth
