// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "berth/api/pod.h"
#include "berth/config_value.h"
#include "berth/field_errors.h"
#include "plugins/shared/broken_linear_function.h"

namespace berth::plugins {

// A resource and its weight in a score.
struct ResourceSpec {
  std::string name;
  int64_t weight = 0;

  friend bool operator==(const ResourceSpec&, const ResourceSpec&) = default;
};

// cpu and memory, weight 1 each.
std::vector<ResourceSpec> DefaultResourceSpecs();

// Takes the optional apiVersion and kind of a plugin's args. A kind other than `<plugin>Args` is a
// problem.
void ReadTypeMeta(FieldReader& fields, std::string_view plugin);

// Calls read(entry) for each element of a list of maps.
template <typename ReadEntry>
void ReadEach(FieldReader& fields, std::string_view field, const ReadEntry& read) {
  const ConfigValue::List& list = fields.GetList(field);
  for (size_t i = 0; i < list.size(); ++i) {
    FieldReader entry = fields.Nested(list[i], IndexedPath(fields.PathOf(field), i));
    read(entry);
    fields.Merge(entry);
  }
}

// Calls read(nested) for the map at the field; false where there is none.
template <typename ReadFields>
bool ReadNested(FieldReader& fields, std::string_view field, const ReadFields& read) {
  const ConfigValue* value = fields.Get(field);
  if (value == nullptr) return false;
  FieldReader nested = fields.Nested(*value, fields.PathOf(field));
  read(nested);
  fields.Merge(nested);
  return true;
}

// A value, by the name that stands for it in args.
template <typename Value>
using NamedValue = std::pair<std::string_view, Value>;

// Reads one of the names; what is not there leaves `out` alone.
template <typename Value, size_t n>
void ReadNamed(FieldReader& fields, std::string_view field, const NamedValue<Value> (&names)[n],
               Value& out) {
  std::string text;
  if (!fields.Read(field, text)) return;
  const auto named = std::ranges::find(names, text, &NamedValue<Value>::first);
  if (named != std::end(names)) {
    out = named->second;
    return;
  }
  std::vector<std::string_view> supported;
  for (const auto& [name, value] : names) supported.push_back(name);
  fields.Problem(UnsupportedField(fields.PathOf(field), Quoted(text), supported));
}

// Adds a problem where the value at `path` is below `low` or above `high`; INT64_MAX: any is fine.
void CheckRange(int64_t value, int64_t low, int64_t high, const std::string& path,
                std::vector<std::string>& problems);

// What a topology spread constraint may say of pods that it does not fit.
inline constexpr std::string_view kWhenUnsatisfiableActions[] = {"DoNotSchedule", "ScheduleAnyway"};
// Each adds what is wrong with a constraint's field at `path`.
void CheckLabelKey(const std::string& path, const std::string& key,
                   std::vector<std::string>& problems);
void CheckWhenUnsatisfiable(const std::string& path, const std::string& action,
                            std::vector<std::string>& problems);

// Reads a list of {name, weight}; a missing weight becomes 1, a missing list the default.
std::vector<ResourceSpec> ReadResources(FieldReader& fields, std::string_view field);

// Reads a list of {key, operator, values}; nothing is checked.
std::vector<api::NodeSelectorRequirement> ReadNodeRequirements(FieldReader& fields,
                                                               std::string_view field);

// `args`, or an empty map for null, with `field` set where it is absent or null.
ConfigValue WithDefault(const ConfigValue& args, std::string_view field, ConfigValue value);
// The same, also where it is there.
ConfigValue WithField(const ConfigValue& args, std::string_view field, ConfigValue value);
// A list of {name, weight} as ReadResources reads it; `list` may be nullptr.
ConfigValue WithDefaultResources(const ConfigValue* list);

// "path.field", or "field" where there is no path.
std::string FieldPath(std::string_view path, std::string_view field);

std::vector<UtilizationShapePoint> ReadShape(FieldReader& fields, std::string_view field);

// Adds what is wrong with the shape at `path`: it needs a point, utilizations that increase within
// 0..100, and scores within 0..10.
void ValidateShape(std::span<const UtilizationShapePoint> shape, std::string_view path,
                   std::vector<std::string>& problems);

}  // namespace berth::plugins
