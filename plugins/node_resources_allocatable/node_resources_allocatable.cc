// SPDX-License-Identifier: Apache-2.0
#include "plugins/node_resources_allocatable/node_resources_allocatable.h"

#include <algorithm>
#include <utility>

#include "berth/resources.h"
#include "berth/saturating.h"

namespace berth::plugins {
namespace {

constexpr std::string_view kAllocatableResources = "resources";
constexpr std::string_view kMode = "mode";
constexpr std::string_view kModes[] = {"Least", "Most"};

// The args as the file has them; empty where it says nothing.
struct RawAllocatableArgs {
  std::vector<ResourceSpec> resources;
  std::string mode;
};

RawAllocatableArgs ReadAllocatableArgs(FieldReader& fields) {
  RawAllocatableArgs args;
  ReadEach(fields, kAllocatableResources, [&](FieldReader& entry) {
    ResourceSpec& spec = args.resources.emplace_back();
    entry.Read("name", spec.name);
    entry.Read("weight", spec.weight);
  });
  fields.Read(kMode, args.mode);
  return args;
}

std::vector<std::string> AllocatableProblems(const RawAllocatableArgs& args,
                                             const std::string& parent) {
  std::vector<std::string> problems;
  for (size_t i = 0; i < args.resources.size(); ++i) {
    if (args.resources[i].weight > 0) continue;
    problems.push_back(
        InvalidField(IndexedPath(FieldPath(parent, kAllocatableResources), i) + ".weight",
                     std::to_string(args.resources[i].weight), "must be greater than 0"));
  }
  if (!args.mode.empty() && std::ranges::find(kModes, args.mode) == std::end(kModes)) {
    problems.push_back(UnsupportedField(FieldPath(parent, kMode), Quoted(args.mode), kModes));
  }
  return problems;
}

NodeResourcesAllocatableArgs AllocatableArgsOf(RawAllocatableArgs raw) {
  NodeResourcesAllocatableArgs args;
  if (!raw.resources.empty()) args.resources.clear();
  for (ResourceSpec& spec : raw.resources) {
    const auto known = std::ranges::find(args.resources, spec.name, &ResourceSpec::name);
    if (known == args.resources.end()) {
      args.resources.push_back(std::move(spec));
    } else {
      known->weight = spec.weight;
    }
  }
  if (raw.mode == kModes[1]) args.mode = AllocatableMode::kMost;
  return args;
}

ConfigValue WithAllocatableDefaults(const ConfigValue& args, const ArgsFeatures&) {
  ConfigValue out = args;
  const ConfigValue* resources = args.Find(kAllocatableResources);
  const bool none =
      resources == nullptr || (resources->list() != nullptr && resources->list()->empty());
  if (none) {
    ConfigValue::List defaults;
    for (const ResourceSpec& spec : NodeResourcesAllocatableArgs().resources) {
      defaults.emplace_back(
          ConfigValue::Map{{"name", ConfigValue(spec.name)}, {"weight", ConfigValue(spec.weight)}});
    }
    out = WithField(out, kAllocatableResources, ConfigValue(std::move(defaults)));
  }
  const ConfigValue* mode = args.Find(kMode);
  if (mode == nullptr || (mode->string() != nullptr && mode->string()->empty())) {
    out = WithField(out, kMode, ConfigValue(std::string(kModes[0])));
  }
  return out;
}

}  // namespace

constexpr ArgsKind<NodeResourcesAllocatableArgs> kNodeResourcesAllocatableArgs =
    MakeArgsKind<"NodeResourcesAllocatable", ReadAllocatableArgs, AllocatableProblems,
                 AllocatableArgsOf>(WithAllocatableDefaults);

NodeResourcesAllocatable::NodeResourcesAllocatable(const NodeResourcesAllocatableArgs& args,
                                                   Handle& handle)
    : sign_(args.mode == AllocatableMode::kLeast ? -1 : 1) {
  for (const ResourceSpec& spec : args.resources) {
    // Of a name that is no scheduling resource a node has nothing: its column is empty.
    resources_.push_back({handle.resource_names().Intern(spec.name), spec.weight});
    sum_of_weights_ += spec.weight;
  }
}

// `allocatable(i)` is what the node has of resources_[i].
template <typename Allocatable>
int64_t NodeResourcesAllocatable::MeanOf(const Allocatable& allocatable) const {
  WideAmount sum = 0;
  for (size_t i = 0; i < resources_.size(); ++i) {
    sum += WideAmount{allocatable(i)} * resources_[i].weight;
  }
  return Saturated(sign_ * (sum / sum_of_weights_));
}

ScoreResult NodeResourcesAllocatable::Score(const CycleState&, const PodInfo&,
                                            const NodeView& node) const {
  return {MeanOf([&](size_t i) { return node.allocatable(resources_[i].id); })};
}

void NodeResourcesAllocatable::ScoreNodes(const CycleState&, const PodInfo&,
                                          const Snapshot& snapshot, std::span<const NodeRow> nodes,
                                          std::span<int64_t> scores) const {
  std::vector<Column> columns;
  columns.reserve(resources_.size());
  for (const Weighted& resource : resources_) columns.push_back(snapshot.allocatable(resource.id));
  for (size_t i = 0; i < nodes.size(); ++i) {
    scores[i] = MeanOf([&](size_t resource) { return columns[resource][nodes[i]]; });
  }
}

Status NodeResourcesAllocatable::NormalizeScore(const CycleState&, const PodInfo&,
                                                std::span<const NodeRow>,
                                                std::span<int64_t> scores) const {
  if (scores.empty()) return Status::Success();
  const auto [worst, best] = std::ranges::minmax(scores);
  const WideAmount range = WideAmount{best} - worst;
  for (int64_t& score : scores) {
    score = range == 0 ? kMinNodeScore
                       : static_cast<int64_t>((WideAmount{score} - worst) * kMaxNodeScore / range);
  }
  return Status::Success();
}

}  // namespace berth::plugins
