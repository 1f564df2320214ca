// SPDX-License-Identifier: Apache-2.0
#include "plugins/node_resources_fit/node_resources_fit.h"

#include <algorithm>

#include "plugins/node_resources_fit/queueing_hints.h"

namespace berth::plugins {
namespace {

struct PreFilterState {
  std::vector<FitCheck> checks;
  std::shared_ptr<const FitReasons> reasons;  // nullptr: made up node by node
};

struct PreScoreState {
  std::vector<AllocationTerm> terms;
};

}  // namespace

NodeResourcesFit::NodeResourcesFit(const NodeResourcesFitArgs& args, Handle& handle)
    : handle_(&handle),
      ignored_resources_(args.ignored_resources.begin(), args.ignored_resources.end()),
      ignored_resource_groups_(args.ignored_resource_groups.begin(),
                               args.ignored_resource_groups.end()),
      reason_memo_(handle.resource_names()),
      classes_(handle.listers()),
      strategy_(args.scoring_strategy.type, args.scoring_strategy.shape),
      scored_(args.scoring_strategy.resources, handle.resource_names()),
      device_counts_(std::make_unique<DeviceCounts>(handle)) {}

Inputs NodeResourcesFit::DeclaredInputs() const {
  return Inputs::Of(pod_part::kRequests, {{Reach::kNode}, {Reach::kUsage}});
}

bool NodeResourcesFit::IsIgnored(std::string_view resource) const {
  if (ignored_resources_.empty() && ignored_resource_groups_.empty()) return false;
  return IsExtendedResourceName(resource) &&
         (ignored_resources_.contains(resource) ||
          ignored_resource_groups_.contains(resource.substr(0, resource.find('/'))));
}

std::vector<FitCheck> NodeResourcesFit::ChecksFor(const PodInfo& pod) const {
  const Resources& requests = pod.requests;
  std::vector<FitCheck> checks;
  const auto add = [&checks](ResourceId id, int64_t amount, bool or_devices = false) {
    if (amount > 0) checks.push_back({id, amount, or_devices});
  };
  add(kCpu, requests.milli_cpu);
  add(kMemory, requests.memory);
  add(kEphemeralStorage, requests.ephemeral_storage);
  const ResourceNames& names = handle_->resource_names();
  const auto scalars_begin = static_cast<std::ptrdiff_t>(checks.size());
  for (const auto& [id, amount] : requests.scalars) {
    const std::string_view name = names.Name(id);
    if (!IsIgnored(name)) add(id, amount, classes_.Find(name) != nullptr);
  }
  std::sort(
      checks.begin() + scalars_begin, checks.end(),
      [&](const FitCheck& a, const FitCheck& b) { return names.Name(a.id) < names.Name(b.id); });
  return checks;
}

PreFilterResult NodeResourcesFit::PreFilter(CycleState& state, const PodInfo& pod,
                                            const Snapshot&) {
  PreFilterState data{ChecksFor(pod), nullptr};
  data.reasons = reason_memo_.Find(data.checks);
  state.Write(std::move(data));
  return {};
}

Status NodeResourcesFit::Filter(const CycleState& state, const PodInfo& pod,
                                const NodeView& node) const {
  const auto data =
      state.ReadOr<PreFilterState>([&] { return PreFilterState{ChecksFor(pod), nullptr}; });
  const FitResult result = RunFitChecks(data->checks, node);
  if (result.fits) return Status::Success();
  const Code code =
      result.unresolvable ? Code::kUnschedulableAndUnresolvable : Code::kUnschedulable;
  if (data->reasons) return Status(code, data->reasons->by_failures[result.failures]);
  return state.reasons().Make(code, ReasonsOnNode(data->checks, node, handle_->resource_names()));
}

Status NodeResourcesFit::FilterNodes(const CycleState& state, const PodInfo& pod,
                                     const Snapshot& snapshot, NodeSet& nodes) const {
  const auto data =
      state.ReadOr<PreFilterState>([&] { return PreFilterState{ChecksFor(pod), nullptr}; });
  FilterByFitChecks(data->checks, snapshot, nodes);
  return {};
}

// As upstream, the score counts what containers request: no pod-level resources, no status, but
// defaults for containers that request no cpu or memory.
std::vector<int64_t> NodeResourcesFit::AmountsOf(const PodInfo& pod) const {
  const PodRequestsOptions options{
      .use_status = false, .pod_level = false, .pod_level_status = false, .non_missing = true};
  return scored_.PodAmounts(*pod.pod, options);
}

std::vector<AllocationTerm> NodeResourcesFit::TermsFor(const PodInfo& pod) const {
  return scored_.Terms(AmountsOf(pod),
                       [this](std::string_view name) { return device_counts_->Find(name); });
}

Status NodeResourcesFit::PreScore(CycleState& state, const PodInfo& pod, const Snapshot&,
                                  const NodeSet&) {
  state.Write(PreScoreState{TermsFor(pod)});
  return Status::Success();
}

ScoreResult NodeResourcesFit::Score(const CycleState& state, const PodInfo& pod,
                                    const NodeView& node) const {
  const auto data = state.ReadOr<PreScoreState>([&] { return PreScoreState{TermsFor(pod)}; });
  const std::span<const AllocationTerm> terms = data->terms;
  return {strategy_.Score(terms, ViewAllocations(node, terms, NodeAmounts::kNonZeroRequested))};
}

void NodeResourcesFit::ScoreNodes(const CycleState& state, const PodInfo& pod,
                                  const Snapshot& snapshot, std::span<const NodeRow> nodes,
                                  std::span<int64_t> scores) const {
  const auto data = state.ReadOr<PreScoreState>([&] { return PreScoreState{TermsFor(pod)}; });
  const std::span<const AllocationTerm> terms = data->terms;
  ColumnAllocations allocations(snapshot, terms, NodeAmounts::kNonZeroRequested);
  for (size_t i = 0; i < nodes.size(); ++i) {
    allocations.MoveTo(nodes[i]);
    scores[i] = strategy_.Score(terms, allocations);
  }
}

bool NodeResourcesFit::NormalizesByValue(const CycleState& state) const {
  const auto* data = state.Find<PreScoreState>();
  return data != nullptr && !CountsDevices(data->terms);
}

ScoreResult NodeResourcesFit::ScorePlacement(CycleState&, const PodGroupInfo&,
                                             const Snapshot& snapshot,
                                             const PodGroupAssignments& placement) {
  std::vector<int64_t> amounts(scored_.size());
  for (const ProposedAssignment& assignment : placement.assignments) {
    const std::vector<int64_t> of_pod = AmountsOf(*assignment.pod);
    for (size_t i = 0; i < amounts.size(); ++i) amounts[i] += of_pod[i];
  }
  const std::vector<AllocationTerm> terms = scored_.Terms(amounts);
  std::vector<NodeAllocation> sums(terms.size());
  ColumnAllocations allocations(snapshot, terms, NodeAmounts::kNonZeroRequested);
  placement.placement->nodes.ForEach([&](NodeRow row) {
    allocations.MoveTo(row);
    for (size_t i = 0; i < terms.size(); ++i) {
      const NodeAllocation node = allocations(i);
      if (node.allocatable == 0) continue;
      sums[i].allocatable += node.allocatable;
      sums[i].allocated += node.allocated;
    }
  });
  return {MostAllocatedScore(terms, [&sums](size_t term) { return sums[term]; })};
}

std::vector<ClusterEventWithHint> NodeResourcesFit::EventsToRegister() const {
  const Features& features = handle_->features();
  return FitEvents(
      classes_,
      {.pod = {.pod_level = features.pod_level_resources},
       .placed_pod = {.use_status = true,
                      .pod_level_status = features.in_place_pod_level_resources_vertical_scaling}});
}

}  // namespace berth::plugins
