// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "berth/api/pod.h"
#include "berth/config_value.h"

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

}  // namespace berth::plugins
