// SPDX-License-Identifier: Apache-2.0
#include "plugins/node_resources_balanced_allocation/node_resources_balanced_allocation.h"

#include <algorithm>
#include <cmath>

namespace berth::plugins {
namespace {

constexpr std::string_view kResources = "resources";

std::vector<std::string> BalancedProblems(const NodeResourcesBalancedAllocationArgs& args,
                                          const std::string& parent) {
  const std::vector<ResourceSpec>& resources = args.resources;
  std::vector<std::string> problems;
  for (auto at = resources.begin(); at != resources.end(); ++at) {
    const std::string path =
        IndexedPath(FieldPath(parent, kResources), static_cast<size_t>(at - resources.begin()));
    if (std::any_of(resources.begin(), at,
                    [&](const ResourceSpec& other) { return other.name == at->name; })) {
      problems.push_back(DuplicateField(path + ".name", Quoted(at->name)));
    }
    if (at->weight != 1) {
      problems.push_back(InvalidField(path + ".weight", std::to_string(at->weight), "must be 1"));
    }
  }
  return problems;
}

NodeResourcesBalancedAllocationArgs ReadBalancedArgs(FieldReader& fields) {
  NodeResourcesBalancedAllocationArgs args;
  args.resources = ReadResources(fields, kResources);
  return args;
}

ConfigValue WithBalancedDefaults(const ConfigValue& args, const ArgsFeatures&) {
  return WithField(args, kResources, WithDefaultResources(args.Find(kResources)));
}

struct PreScoreState {
  std::vector<AllocationTerm> terms;
};

double UsedFraction(int64_t used, int64_t allocatable) {
  return std::min(static_cast<double>(used) / static_cast<double>(allocatable), 1.0);
}

// Whether the balance is looked at as it is or as it would be with the pod.
enum class Moment { kWithoutPod, kWithPod };

// Between 50 and 100. `of(i)` reads the node's amounts for terms[i].
template <typename Allocations>
int64_t Balance(std::span<const AllocationTerm> terms, const Allocations& of, Moment moment) {
  const auto fraction_of = [&](size_t i, const NodeAllocation& node) {
    const int64_t pod = moment == Moment::kWithPod ? terms[i].pod_request : 0;
    return UsedFraction(SumSaturated(node.allocated, pod), node.allocatable);
  };
  double total = 0;
  double first = 0;
  double second = 0;
  int64_t count = 0;
  for (size_t i = 0; i < terms.size(); ++i) {
    const NodeAllocation node = of(i);
    if (node.allocatable == 0) continue;
    const double fraction = fraction_of(i, node);
    total += fraction;
    ++count;
    if (count == 1) first = fraction;
    if (count == 2) second = fraction;
  }
  double deviation = 0;
  if (count == 2) {
    deviation = std::abs((first - second) / 2);
  } else if (count > 2) {
    const double mean = total / static_cast<double>(count);
    double sum = 0;
    for (size_t i = 0; i < terms.size(); ++i) {
      const NodeAllocation node = of(i);
      if (node.allocatable == 0) continue;
      const double distance = fraction_of(i, node) - mean;
      sum = sum + distance * distance;
    }
    deviation = std::sqrt(sum / static_cast<double>(count));
  }
  return static_cast<int64_t>((1 - deviation) * static_cast<double>(kMaxNodeScore));
}

template <typename Allocations>
int64_t ScoreOf(std::span<const AllocationTerm> terms, const Allocations& of) {
  if (terms.empty()) return 0;
  const int64_t with_pod = Balance(terms, of, Moment::kWithPod);
  const int64_t without_pod = Balance(terms, of, Moment::kWithoutPod);
  return kMaxNodeScore / 2 + (kMaxNodeScore / 2 + with_pod - without_pod) / 2;
}

}  // namespace

constexpr ArgsKind<NodeResourcesBalancedAllocationArgs> kNodeResourcesBalancedAllocationArgs =
    MakeArgsKind<"NodeResourcesBalancedAllocation", ReadBalancedArgs, BalancedProblems>(
        WithBalancedDefaults);

NodeResourcesBalancedAllocation::NodeResourcesBalancedAllocation(
    const NodeResourcesBalancedAllocationArgs& args, Handle& handle)
    : resources_(args.resources, handle.resource_names()),
      pod_options_{
          .use_status = true,
          .pod_level = handle.features().pod_level_resources,
          .pod_level_status = handle.features().in_place_pod_level_resources_vertical_scaling},
      device_counts_(std::make_unique<DeviceCounts>(handle)) {}

std::vector<AllocationTerm> NodeResourcesBalancedAllocation::TermsFor(const PodInfo& pod) const {
  const std::vector<int64_t> amounts = resources_.PodAmounts(*pod.pod, pod_options_);
  const bool best_effort =
      std::all_of(amounts.begin(), amounts.end(), [](int64_t amount) { return amount == 0; });
  if (best_effort) return {};
  return resources_.Terms(amounts,
                          [this](std::string_view name) { return device_counts_->Find(name); });
}

Status NodeResourcesBalancedAllocation::PreScore(CycleState& state, const PodInfo& pod,
                                                 const Snapshot&, const NodeSet&) {
  PreScoreState data{TermsFor(pod)};
  if (data.terms.empty()) return Status::Skip();
  state.Write(std::move(data));
  return Status::Success();
}

ScoreResult NodeResourcesBalancedAllocation::Score(const CycleState& state, const PodInfo& pod,
                                                   const NodeView& node) const {
  const auto data = state.ReadOr<PreScoreState>([&] { return PreScoreState{TermsFor(pod)}; });
  const std::span<const AllocationTerm> terms = data->terms;
  return {ScoreOf(terms, ViewAllocations(node, terms, NodeAmounts::kRequested))};
}

void NodeResourcesBalancedAllocation::ScoreNodes(const CycleState& state, const PodInfo& pod,
                                                 const Snapshot& snapshot,
                                                 std::span<const NodeRow> nodes,
                                                 std::span<int64_t> scores) const {
  const auto data = state.ReadOr<PreScoreState>([&] { return PreScoreState{TermsFor(pod)}; });
  const std::span<const AllocationTerm> terms = data->terms;
  ColumnAllocations allocations(snapshot, terms, NodeAmounts::kRequested);
  for (size_t i = 0; i < nodes.size(); ++i) {
    allocations.MoveTo(nodes[i]);
    scores[i] = ScoreOf(terms, allocations);
  }
}

bool NodeResourcesBalancedAllocation::NormalizesByValue(const CycleState& state) const {
  const auto* data = state.Find<PreScoreState>();
  return data != nullptr && !CountsDevices(data->terms);
}

}  // namespace berth::plugins
