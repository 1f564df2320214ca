// SPDX-License-Identifier: Apache-2.0
#include "plugins/shared/args_reader.h"

#include <algorithm>
#include <iterator>

namespace berth::plugins {
namespace {

constexpr int32_t kMaxUtilization = 100;
constexpr int32_t kMaxShapeScore = 10;

}  // namespace

std::vector<ResourceSpec> DefaultResourceSpecs() { return {{"cpu", 1}, {"memory", 1}}; }

void ReadTypeMeta(FieldReader& fields, std::string_view plugin) {
  constexpr std::string_view kGroup = "kubescheduler.config.k8s.io";
  const std::string wanted = std::string(plugin) + "Args";
  std::string api_version = std::string(kGroup) + "/v1";
  std::string kind = wanted;
  fields.Read("apiVersion", api_version);
  fields.Read("kind", kind);
  const std::string group = api_version.substr(0, api_version.find('/'));
  if (kind != wanted || group != kGroup) {
    fields.Problem("args for plugin " + std::string(plugin) + " were not of type " + wanted + "." +
                   std::string(kGroup) + ", got " + kind + "." + group);
  }
}

void CheckRange(int64_t value, int64_t low, int64_t high, const std::string& path,
                std::vector<std::string>& problems) {
  if (value >= low && value <= high) return;
  const std::string range =
      "[" + std::to_string(low) + ", " + (high == INT64_MAX ? "inf)" : std::to_string(high) + "]");
  problems.push_back(InvalidField(path, std::to_string(value), "not in valid range " + range));
}

void CheckLabelKey(const std::string& path, const std::string& key,
                   std::vector<std::string>& problems) {
  if (key.empty()) problems.push_back(RequiredField(path, "can not be empty"));
  if (key.empty()) return;
  for (const std::string& problem : LabelKeyProblems(key)) {
    problems.push_back(InvalidField(path, Quoted(key), problem));
  }
}

void CheckWhenUnsatisfiable(const std::string& path, const std::string& action,
                            std::vector<std::string>& problems) {
  if (action.empty()) {
    problems.push_back(RequiredField(path, "can not be empty"));
  } else if (std::ranges::find(kWhenUnsatisfiableActions, action) ==
             std::end(kWhenUnsatisfiableActions)) {
    problems.push_back(UnsupportedField(path, Quoted(action), kWhenUnsatisfiableActions));
  }
}

std::vector<ResourceSpec> ReadResources(FieldReader& fields, std::string_view field) {
  std::vector<ResourceSpec> resources;
  ReadEach(fields, field, [&](FieldReader& entry) {
    ResourceSpec& spec = resources.emplace_back();
    entry.Read("name", spec.name);
    entry.Read("weight", spec.weight);
  });
  if (resources.empty()) resources = DefaultResourceSpecs();
  for (ResourceSpec& spec : resources) {
    if (spec.weight == 0) spec.weight = 1;
  }
  return resources;
}

std::vector<api::NodeSelectorRequirement> ReadNodeRequirements(FieldReader& fields,
                                                               std::string_view field) {
  std::vector<api::NodeSelectorRequirement> requirements;
  ReadEach(fields, field, [&](FieldReader& entry) {
    api::NodeSelectorRequirement& requirement = requirements.emplace_back();
    entry.Read("key", requirement.key);
    entry.Read("operator", requirement.operator_);
    entry.Read("values", requirement.values);
  });
  return requirements;
}

ConfigValue WithField(const ConfigValue& args, std::string_view field, ConfigValue value) {
  ConfigValue::Map fields;
  if (args.map() != nullptr) fields = *args.map();
  std::erase_if(fields, [field](const auto& entry) { return entry.first == field; });
  fields.emplace_back(field, std::move(value));
  return ConfigValue(std::move(fields), args.line());
}

ConfigValue WithDefault(const ConfigValue& args, std::string_view field, ConfigValue value) {
  return args.Find(field) != nullptr ? args : WithField(args, field, std::move(value));
}

ConfigValue WithDefaultResources(const ConfigValue* list) {
  ConfigValue::List resources;
  if (list != nullptr && list->list() != nullptr) resources = *list->list();
  if (resources.empty()) {
    for (const ResourceSpec& spec : DefaultResourceSpecs()) {
      resources.emplace_back(ConfigValue::Map{{"name", ConfigValue(spec.name)}});
    }
  }
  for (ConfigValue& resource : resources) {
    const ConfigValue* weight = resource.Find("weight");
    if (weight == nullptr || (weight->integer() != nullptr && *weight->integer() == 0)) {
      resource = WithField(resource, "weight", ConfigValue(int64_t{1}));
    }
  }
  return ConfigValue(std::move(resources));
}

std::string FieldPath(std::string_view path, std::string_view field) {
  return path.empty() ? std::string(field) : std::string(path) + "." + std::string(field);
}

std::vector<UtilizationShapePoint> ReadShape(FieldReader& fields, std::string_view field) {
  std::vector<UtilizationShapePoint> shape;
  ReadEach(fields, field, [&](FieldReader& entry) {
    UtilizationShapePoint& point = shape.emplace_back();
    entry.Read("utilization", point.utilization);
    entry.Read("score", point.score);
  });
  return shape;
}

void ValidateShape(std::span<const UtilizationShapePoint> shape, std::string_view path,
                   std::vector<std::string>& problems) {
  if (shape.empty()) {
    problems.push_back(RequiredField(path, "at least one point must be specified"));
    return;
  }
  for (size_t i = 1; i < shape.size(); ++i) {
    if (shape[i - 1].utilization < shape[i].utilization) continue;
    problems.push_back(InvalidField(IndexedPath(path, i) + ".utilization",
                                    std::to_string(shape[i].utilization),
                                    "values must be sorted in increasing order"));
    break;
  }
  for (size_t i = 0; i < shape.size(); ++i) {
    const std::string point = IndexedPath(path, i);
    CheckRange(shape[i].utilization, 0, kMaxUtilization, point + ".utilization", problems);
    CheckRange(shape[i].score, 0, kMaxShapeScore, point + ".score", problems);
  }
}

}  // namespace berth::plugins
