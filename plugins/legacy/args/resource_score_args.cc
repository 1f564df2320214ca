// SPDX-License-Identifier: Apache-2.0
#include "plugins/legacy/args/resource_score_args.h"

#include <limits>

namespace berth::plugins {
namespace {

constexpr std::string_view kResources = "resources";
constexpr std::string_view kShape = "shape";
constexpr int64_t kMaxWeight = 100;

template <bool with_shape>
std::vector<std::string> ScoreProblems(const ResourceScoreArgs& args, const std::string& path) {
  std::vector<std::string> problems;
  if (with_shape) ValidateShape(args.shape, FieldPath(path, kShape), problems);
  const int64_t max = with_shape ? std::numeric_limits<int64_t>::max() : kMaxWeight;
  for (size_t i = 0; i < args.resources.size(); ++i) {
    const ResourceSpec& resource = args.resources[i];
    if (resource.weight > 0 && resource.weight <= max) continue;
    problems.push_back(InvalidField(IndexedPath(FieldPath(path, kResources), i) + ".weight",
                                    std::to_string(resource.weight),
                                    "resource weight of " + resource.name + " not in valid range " +
                                        (with_shape ? "[1, inf)" : "(0, 100]")));
  }
  return problems;
}

template <bool with_shape>
ResourceScoreArgs ReadScoreArgs(FieldReader& fields) {
  ResourceScoreArgs args;
  args.resources = ReadResources(fields, kResources);
  if (with_shape && fields.Get(kShape) != nullptr) args.shape = ReadShape(fields, kShape);
  return args;
}

ConfigValue WithAllocatedDefaults(const ConfigValue& args, const ArgsFeatures&) {
  return WithField(args, kResources, WithDefaultResources(args.Find(kResources)));
}

ConfigValue WithRatioDefaults(const ConfigValue& args, const ArgsFeatures& features) {
  ConfigValue::List shape;
  for (const UtilizationShapePoint& point : DefaultRatioShape()) {
    shape.emplace_back(ConfigValue::Map{{"utilization", ConfigValue(int64_t{point.utilization})},
                                        {"score", ConfigValue(int64_t{point.score})}});
  }
  return WithDefault(WithAllocatedDefaults(args, features), kShape, ConfigValue(std::move(shape)));
}

}  // namespace

std::vector<UtilizationShapePoint> DefaultRatioShape() { return {{0, 10}, {100, 0}}; }

constexpr ArgsKind<ResourceScoreArgs> kNodeResourcesLeastAllocatedArgs =
    MakeArgsKind<"NodeResourcesLeastAllocated", ReadScoreArgs<false>, ScoreProblems<false>>(
        WithAllocatedDefaults);
constexpr ArgsKind<ResourceScoreArgs> kNodeResourcesMostAllocatedArgs =
    MakeArgsKind<"NodeResourcesMostAllocated", ReadScoreArgs<false>, ScoreProblems<false>>(
        WithAllocatedDefaults);
constexpr ArgsKind<ResourceScoreArgs> kRequestedToCapacityRatioArgs =
    MakeArgsKind<"RequestedToCapacityRatio", ReadScoreArgs<true>, ScoreProblems<true>>(
        WithRatioDefaults);

}  // namespace berth::plugins
