// SPDX-License-Identifier: Apache-2.0
#include "plugins/legacy/args/resource_score_args.h"

#include <limits>

#include "berth/field_errors.h"

namespace berth::plugins {
namespace {

constexpr std::string_view kResources = "resources";
constexpr std::string_view kShape = "shape";
constexpr std::string_view kLeast = "NodeResourcesLeastAllocated";
constexpr std::string_view kMost = "NodeResourcesMostAllocated";
constexpr std::string_view kRatio = "RequestedToCapacityRatio";
constexpr int64_t kMaxWeight = 100;

bool HasShape(std::string_view plugin) { return plugin == kRatio; }

std::vector<std::string> Problems(std::string_view plugin, const ResourceScoreArgs& args,
                                  const std::string& path) {
  std::vector<std::string> problems;
  if (HasShape(plugin)) ValidateShape(args.shape, FieldPath(path, kShape), problems);
  const int64_t max = HasShape(plugin) ? std::numeric_limits<int64_t>::max() : kMaxWeight;
  for (size_t i = 0; i < args.resources.size(); ++i) {
    const ResourceSpec& resource = args.resources[i];
    if (resource.weight > 0 && resource.weight <= max) continue;
    problems.push_back(InvalidField(IndexedPath(FieldPath(path, kResources), i) + ".weight",
                                    std::to_string(resource.weight),
                                    "resource weight of " + resource.name + " not in valid range " +
                                        (HasShape(plugin) ? "[1, inf)" : "(0, 100]")));
  }
  return problems;
}

Result<ResourceScoreArgs> Read(std::string_view plugin, const ConfigValue& value,
                               const std::string& path) {
  ResourceScoreArgs args;
  FieldReader fields(value, path);
  ReadTypeMeta(fields, plugin);
  args.resources = ReadResources(fields, kResources);
  if (HasShape(plugin) && fields.Get(kShape) != nullptr) args.shape = ReadShape(fields, kShape);
  if (auto error = fields.Finish()) return Fail(std::move(*error));
  return args;
}

Result<ResourceScoreArgs> Parse(std::string_view plugin, const ConfigValue& value) {
  auto args = Read(plugin, value, "");
  if (!args) return args;
  if (auto error = AggregateProblems(Problems(plugin, *args, ""))) return Fail(std::move(*error));
  return args;
}

std::vector<std::string> ProblemsOf(std::string_view plugin, const ConfigValue& args,
                                    const std::string& path) {
  const auto read = Read(plugin, args, path);
  return read ? Problems(plugin, *read, path) : std::vector<std::string>{read.error().message};
}

}  // namespace

std::vector<UtilizationShapePoint> DefaultRatioShape() { return {{0, 10}, {100, 0}}; }

Result<ResourceScoreArgs> ParseNodeResourcesLeastAllocatedArgs(const ConfigValue& value) {
  return Parse(kLeast, value);
}
Result<ResourceScoreArgs> ParseNodeResourcesMostAllocatedArgs(const ConfigValue& value) {
  return Parse(kMost, value);
}
Result<ResourceScoreArgs> ParseRequestedToCapacityRatioArgs(const ConfigValue& value) {
  return Parse(kRatio, value);
}

ConfigValue AllocatedArgsWithDefaults(const ConfigValue& args, const ArgsFeatures&) {
  return WithField(args, kResources, WithDefaultResources(args.Find(kResources)));
}

ConfigValue RequestedToCapacityRatioArgsWithDefaults(const ConfigValue& args,
                                                     const ArgsFeatures& features) {
  ConfigValue::List shape;
  for (const UtilizationShapePoint& point : DefaultRatioShape()) {
    shape.emplace_back(ConfigValue::Map{{"utilization", ConfigValue(int64_t{point.utilization})},
                                        {"score", ConfigValue(int64_t{point.score})}});
  }
  return WithDefault(AllocatedArgsWithDefaults(args, features), kShape,
                     ConfigValue(std::move(shape)));
}

std::vector<std::string> NodeResourcesLeastAllocatedArgsProblems(const ConfigValue& args,
                                                                 const std::string& path,
                                                                 const ArgsFeatures&) {
  return ProblemsOf(kLeast, args, path);
}
std::vector<std::string> NodeResourcesMostAllocatedArgsProblems(const ConfigValue& args,
                                                                const std::string& path,
                                                                const ArgsFeatures&) {
  return ProblemsOf(kMost, args, path);
}
std::vector<std::string> RequestedToCapacityRatioArgsProblems(const ConfigValue& args,
                                                              const std::string& path,
                                                              const ArgsFeatures&) {
  return ProblemsOf(kRatio, args, path);
}

}  // namespace berth::plugins
