// SPDX-License-Identifier: Apache-2.0
#include "plugins/node_resources_fit/args.h"

#include <utility>

namespace berth::plugins {
namespace {

constexpr std::string_view kSupportedTypes[] = {"LeastAllocated", "MostAllocated",
                                                "RequestedToCapacityRatio"};

// The args as the file has them: the type as text, the shape with its absence.
struct RawStrategy {
  std::string type = "LeastAllocated";
  std::vector<ResourceSpec> resources = DefaultResourceSpecs();
  std::optional<std::vector<UtilizationShapePoint>> shape;
};

RawStrategy ReadStrategy(FieldReader& fields) {
  RawStrategy strategy;
  ReadNested(fields, "scoringStrategy", [&](FieldReader& nested) {
    // A strategy that is given has no default type.
    strategy.type.clear();
    nested.Read("type", strategy.type);
    strategy.resources = ReadResources(nested, "resources");
    ReadNested(nested, "requestedToCapacityRatio",
               [&](FieldReader& ratio) { strategy.shape = ReadShape(ratio, "shape"); });
  });
  return strategy;
}

void ValidateLabelName(const std::string& path, const std::string& name,
                       std::vector<std::string>& problems) {
  for (const std::string& problem : LabelKeyProblems(name)) {
    problems.push_back(InvalidField(path, Quoted(name), problem));
  }
}

void ValidateIgnored(const NodeResourcesFitArgs& args, std::vector<std::string>& problems) {
  for (size_t i = 0; i < args.ignored_resources.size(); ++i) {
    ValidateLabelName(IndexedPath("ignoredResources", i), args.ignored_resources[i], problems);
  }
  for (size_t i = 0; i < args.ignored_resource_groups.size(); ++i) {
    const std::string& group = args.ignored_resource_groups[i];
    const std::string path = IndexedPath("ignoredResourceGroups", i);
    if (group.find('/') != std::string::npos) {
      problems.push_back(
          InvalidField(path, Quoted(group), "resource group name can't contain '/'"));
    }
    ValidateLabelName(path, group, problems);
  }
}

std::optional<ScoringStrategyType> TypeNamed(std::string_view name) {
  if (name == kSupportedTypes[0]) return ScoringStrategyType::kLeastAllocated;
  if (name == kSupportedTypes[1]) return ScoringStrategyType::kMostAllocated;
  if (name == kSupportedTypes[2]) return ScoringStrategyType::kRequestedToCapacityRatio;
  return std::nullopt;
}

void ValidateStrategy(const RawStrategy& strategy, std::vector<std::string>& problems) {
  const auto type = TypeNamed(strategy.type);
  if (!type) {
    problems.push_back(
        UnsupportedField("scoringStrategy.type", Quoted(strategy.type), kSupportedTypes));
  }
  for (size_t i = 0; i < strategy.resources.size(); ++i) {
    const ResourceSpec& resource = strategy.resources[i];
    if (resource.weight > 0 && resource.weight <= 100) continue;
    problems.push_back(InvalidField(
        IndexedPath("scoringStrategy.resources", i) + ".weight", std::to_string(resource.weight),
        "resource weight of " + resource.name + " not in valid range (0, 100]"));
  }
  const std::string ratio_path = "scoringStrategy.requestedToCapacityRatio";
  if (type != ScoringStrategyType::kRequestedToCapacityRatio) {
    if (strategy.shape) {
      problems.push_back(
          ForbiddenField(ratio_path, "must be nil when type is not RequestedToCapacityRatio"));
    }
  } else if (!strategy.shape) {
    problems.push_back(
        RequiredField(ratio_path, "must be specified when type is RequestedToCapacityRatio"));
  } else {
    ValidateShape(*strategy.shape, ratio_path + ".shape", problems);
  }
}

struct RawFitArgs {
  NodeResourcesFitArgs args;
  RawStrategy strategy;
};

RawFitArgs ReadFitArgs(FieldReader& fields) {
  RawFitArgs raw;
  fields.Read("ignoredResources", raw.args.ignored_resources);
  fields.Read("ignoredResourceGroups", raw.args.ignored_resource_groups);
  raw.strategy = ReadStrategy(fields);
  return raw;
}

std::vector<std::string> FitProblems(const RawFitArgs& raw, const std::string&) {
  std::vector<std::string> problems;
  ValidateIgnored(raw.args, problems);
  ValidateStrategy(raw.strategy, problems);
  return problems;
}

NodeResourcesFitArgs FitArgsOf(RawFitArgs raw) {
  ScoringStrategy& strategy = raw.args.scoring_strategy;
  strategy.type = *TypeNamed(raw.strategy.type);
  strategy.resources = std::move(raw.strategy.resources);
  if (raw.strategy.shape) strategy.shape = std::move(*raw.strategy.shape);
  return std::move(raw.args);
}

ConfigValue WithFitDefaults(const ConfigValue& args, const ArgsFeatures&) {
  constexpr std::string_view kStrategy = "scoringStrategy";
  constexpr std::string_view kResources = "resources";
  const ConfigValue* given = args.Find(kStrategy);
  // A strategy that is given has no default type.
  ConfigValue strategy =
      given != nullptr
          ? *given
          : ConfigValue(ConfigValue::Map{{"type", ConfigValue(std::string(kSupportedTypes[0]))}});
  strategy = WithField(strategy, kResources, WithDefaultResources(strategy.Find(kResources)));
  return WithField(args, kStrategy, std::move(strategy));
}

}  // namespace

constexpr ArgsKind<NodeResourcesFitArgs> kNodeResourcesFitArgs =
    MakeArgsKind<"NodeResourcesFit", ReadFitArgs, FitProblems, FitArgsOf>(WithFitDefaults);

}  // namespace berth::plugins
