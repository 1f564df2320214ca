// SPDX-License-Identifier: Apache-2.0
#include "plugins/legacy/args/legacy_args.h"

#include <algorithm>
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

constexpr std::string_view kPresent = "presentLabels";
constexpr std::string_view kAbsent = "absentLabels";
constexpr std::string_view kPresentPreference = "presentLabelsPreference";
constexpr std::string_view kAbsentPreference = "absentLabelsPreference";

void AddConflicts(const std::vector<std::string>& present, const std::string& present_path,
                  const std::vector<std::string>& absent, const std::string& absent_path,
                  std::vector<std::string>& problems) {
  for (size_t i = 0; i < absent.size(); ++i) {
    // The last one counts where a key stands twice.
    const auto at = std::find(present.rbegin(), present.rend(), absent[i]);
    if (at == present.rend()) continue;
    const auto index = static_cast<size_t>(present.rend() - at - 1);
    problems.push_back(InvalidField(IndexedPath(present_path, index), Quoted(absent[i]),
                                    "conflict with " + IndexedPath(absent_path, i)));
  }
}

std::vector<std::string> NodeLabelProblems(const NodeLabelArgs& args, const std::string& path) {
  std::vector<std::string> problems;
  AddConflicts(args.present_labels, FieldPath(path, kPresent), args.absent_labels,
               FieldPath(path, kAbsent), problems);
  AddConflicts(args.present_labels_preference, FieldPath(path, kPresentPreference),
               args.absent_labels_preference, FieldPath(path, kAbsentPreference), problems);
  return problems;
}

NodeLabelArgs ReadNodeLabelArgs(FieldReader& fields) {
  NodeLabelArgs args;
  fields.Read(kPresent, args.present_labels);
  fields.Read(kAbsent, args.absent_labels);
  fields.Read(kPresentPreference, args.present_labels_preference);
  fields.Read(kAbsentPreference, args.absent_labels_preference);
  return args;
}

ServiceAffinityArgs ReadServiceAffinityArgs(FieldReader& fields) {
  ServiceAffinityArgs args;
  fields.Read("affinityLabels", args.affinity_labels);
  fields.Read("antiAffinityLabelsPreference", args.anti_affinity_labels_preference);
  return args;
}

}  // namespace

constexpr ArgsKind<NodeLabelArgs> kNodeLabelArgs =
    MakeArgsKind<"NodeLabel", ReadNodeLabelArgs, NodeLabelProblems>();

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

constexpr ArgsKind<ServiceAffinityArgs> kServiceAffinityArgs =
    MakeArgsKind<"ServiceAffinity", ReadServiceAffinityArgs>();

}  // namespace berth::plugins
