// SPDX-License-Identifier: Apache-2.0
#include "plugins/pod_topology_spread/pod_topology_spread.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "plugins/pod_topology_spread/pre_filter_state.h"
#include "plugins/pod_topology_spread/pre_score_state.h"
#include "plugins/pod_topology_spread/queueing_hints.h"

namespace berth::plugins {
namespace {

using Verdict = SpreadPreFilterState::Verdict;

constexpr std::string_view kNoPreFilter =
    "reading \"PreFilterPodTopologySpread\" from cycleState: not found";
constexpr std::string_view kNoPreScore =
    "error reading \"PreScorePodTopologySpread\" from cycleState: not found";

Status ErrorWithin(const CycleState& state, std::string_view what, const Error& error) {
  return state.reasons().Error(std::string(what) + ": " + error.message);
}

}  // namespace

PodTopologySpread::PodTopologySpread(const PodTopologySpreadArgs& args, Handle& handle)
    : constraints_(args, handle),
      comparison_operators_(handle.features().taint_toleration_comparison_operators),
      skew_rejection_(handle.reasons().Make(Code::kUnschedulable, kSkewReason)),
      label_rejection_(handle.reasons().Make(Code::kUnschedulableAndUnresolvable, kLabelReason)),
      no_pre_filter_(handle.reasons().Error(kNoPreFilter)),
      no_pre_score_(handle.reasons().Error(kNoPreScore)) {}

Result<std::unique_ptr<Plugin>> PodTopologySpread::Make(const ConfigValue& args, Handle& handle) {
  const auto parsed = ParsePodTopologySpreadArgs(args);
  if (!parsed) return Fail(parsed.error());
  return std::make_unique<PodTopologySpread>(*parsed, handle);
}

Inputs PodTopologySpread::DeclaredInputs() const {
  // The keys whose domains matter are the pod's, so no single domain bounds the reach. The owner
  // and other objects make the selector of default constraints.
  return Inputs::Of(pod_part::kTopologySpread | pod_part::kNamespace | pod_part::kTestedLabels |
                        pod_part::kNodeAffinity | pod_part::kTolerations | pod_part::kOwner,
                    {{Reach::kNode}, {Reach::kCluster}, {Reach::kOtherObjects}});
}

PreFilterResult PodTopologySpread::PreFilter(CycleState& state, const PodInfo& pod,
                                             const Snapshot& snapshot) {
  auto constraints = constraints_.Hard(*pod.pod);
  if (!constraints) {
    return {.status = ErrorWithin(state, "get constraints from pod", constraints.error())};
  }
  if (constraints->empty()) return {.status = Status::Skip()};
  state.Write(std::make_unique<SpreadPreFilterState>(*pod.pod, snapshot, std::move(*constraints),
                                                     comparison_operators_));
  return {};
}

// The pod's constraints do not depend on other pods: a pod without any stays so.
bool PodTopologySpread::UpdatePreFilter(CycleState& state, const PodInfo& pod,
                                        const Snapshot& snapshot, std::span<const NodeRow> rows,
                                        NodeSet& touched) {
  (void)pod, (void)snapshot;
  if (auto* data = state.Mutable<SpreadPreFilterState>()) data->Update(rows, touched);
  return true;
}

Status PodTopologySpread::AddPod(CycleState& state, const PodInfo& pod, const PodInfo& added,
                                 const NodeView& node) {
  return Count(state, pod, added, node, 1);
}

Status PodTopologySpread::RemovePod(CycleState& state, const PodInfo& pod, const PodInfo& removed,
                                    const NodeView& node) {
  return Count(state, pod, removed, node, -1);
}

Status PodTopologySpread::Count(CycleState& state, const PodInfo& pod, const PodInfo& changed,
                                const NodeView& node, int32_t delta) const {
  auto* data = state.Mutable<SpreadPreFilterState>();
  if (data == nullptr) return no_pre_filter_;
  if (changed.pod->metadata.namespace_ == pod.pod->metadata.namespace_) {
    data->Count(*changed.pod, node.row(), delta);
  }
  return Status::Success();
}

Status PodTopologySpread::Filter(const CycleState& state, const PodInfo& pod,
                                 const NodeView& node) const {
  (void)pod;
  const auto* data = state.Read<SpreadPreFilterState>();
  if (data == nullptr) return no_pre_filter_;
  switch (data->Judge(node.row())) {
    case Verdict::kPass:
      return Status::Success();
    case Verdict::kMissingLabel:
      return label_rejection_;
    case Verdict::kTooSkewed:
      break;
  }
  return skew_rejection_;
}

void PodTopologySpread::FilterNodes(const CycleState& state, const PodInfo& pod,
                                    const Snapshot& snapshot, NodeSet& nodes) const {
  (void)pod, (void)snapshot;
  const auto* data = state.Read<SpreadPreFilterState>();
  if (data == nullptr) {
    nodes.Assign(nodes.size(), false);
    return;
  }
  data->FilterNodes(nodes);
}

Status PodTopologySpread::PreScore(CycleState& state, const PodInfo& pod, const Snapshot& snapshot,
                                   const NodeSet& feasible) {
  if (snapshot.num_nodes() == 0) return Status::Skip();
  auto constraints = constraints_.Soft(*pod.pod);
  if (!constraints) return ErrorWithin(state, "calculating preScoreState", constraints.error());
  if (constraints->empty()) return Status::Skip();
  state.Write(std::make_unique<SpreadPreScoreState>(
      *pod.pod, snapshot, std::move(*constraints), feasible, constraints_.RequiresAllKeys(*pod.pod),
      comparison_operators_));
  return Status::Success();
}

bool PodTopologySpread::UpdatePreScore(CycleState& state, const PodInfo& pod,
                                       const Snapshot& snapshot, std::span<const NodeRow> rows,
                                       const NodeSet& feasible, NodeSet& touched) {
  (void)pod, (void)snapshot;
  auto* data = state.Mutable<SpreadPreScoreState>();
  return data == nullptr || data->Update(rows, feasible, touched);
}

std::optional<ScoreGroups> PodTopologySpread::Groups(const CycleState& state) const {
  const auto* data = state.Read<SpreadPreScoreState>();
  return data == nullptr ? std::nullopt : data->Groups();
}

ScoreResult PodTopologySpread::Score(const CycleState& state, const PodInfo& pod,
                                     const NodeView& node) const {
  (void)pod;
  const auto* data = state.Read<SpreadPreScoreState>();
  if (data == nullptr) return {0, no_pre_score_};
  return {data->Score(node.row())};
}

void PodTopologySpread::ScoreNodes(const CycleState& state, const PodInfo& pod,
                                   const Snapshot& snapshot, std::span<const NodeRow> nodes,
                                   std::span<int64_t> scores) const {
  (void)pod, (void)snapshot;
  if (const auto* data = state.Read<SpreadPreScoreState>()) {
    data->ScoreNodes(nodes, scores);
  } else {
    std::ranges::fill(scores, 0);
  }
}

bool PodTopologySpread::NormalizesByValue(const CycleState& state) const {
  const auto* data = state.Read<SpreadPreScoreState>();
  return data != nullptr && data->ignored().Empty();
}

Status PodTopologySpread::NormalizeScore(const CycleState& state, const PodInfo& pod,
                                         std::span<const NodeRow> nodes,
                                         std::span<int64_t> scores) const {
  (void)pod;
  const auto* data = state.Read<SpreadPreScoreState>();
  if (data == nullptr) return no_pre_score_;
  int64_t least = std::numeric_limits<int64_t>::max();
  int64_t most = 0;
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (data->ignored().Test(nodes[i])) continue;
    least = std::min(least, scores[i]);
    most = std::max(most, scores[i]);
  }
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (data->ignored().Test(nodes[i])) {
      scores[i] = 0;
    } else {
      scores[i] = most == 0 ? kMaxNodeScore : kMaxNodeScore * (most + least - scores[i]) / most;
    }
  }
  return Status::Success();
}

std::vector<ClusterEventWithHint> PodTopologySpread::EventsToRegister() const {
  return SpreadEvents(constraints_);
}

}  // namespace berth::plugins
