// SPDX-License-Identifier: Apache-2.0
#include "plugins/pod_topology_spread/pod_topology_spread.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "berth/cluster_event.h"
#include "plugins/pod_topology_spread/pre_filter_state.h"
#include "plugins/pod_topology_spread/pre_score_state.h"
#include "plugins/shared/hint_objects.h"

// Which events may make a pod schedulable that PodTopologySpread rejected. Only constraints with
// DoNotSchedule matter.

namespace berth::plugins {
namespace {

bool AnySelects(const SpreadConstraints& constraints, const api::Pod& pod) {
  return std::ranges::any_of(constraints, [&](const SpreadConstraint& constraint) {
    return constraint.selector.Matches(pod.metadata.labels);
  });
}

bool SelectionChanged(const SpreadConstraints& constraints, const api::Pod& before,
                      const api::Pod& after) {
  if (before.metadata.labels == after.metadata.labels) return false;
  return std::ranges::any_of(constraints, [&](const SpreadConstraint& constraint) {
    return constraint.selector.Matches(before.metadata.labels) !=
           constraint.selector.Matches(after.metadata.labels);
  });
}

// A value that is not there reads as "".
bool AnyValueChanged(const SpreadConstraints& constraints, const api::Node& before,
                     const api::Node& after) {
  const auto value = [](const api::Node& node, const std::string& key) -> std::string_view {
    const std::string* found = api::Find(node.metadata.labels, key);
    return found == nullptr ? std::string_view() : *found;
  };
  return std::ranges::any_of(constraints, [&](const SpreadConstraint& constraint) {
    return value(before, constraint.topology_key) != value(after, constraint.topology_key);
  });
}

// Whether the pod may stand where the constraints of `pod` count it.
bool MayCount(const api::Pod& other, const api::Pod& pod) {
  return IsPlaced(other) && other.metadata.namespace_ == pod.metadata.namespace_;
}

Result<QueueingHint> AfterAssignedPodChange(const ConstraintSource& source, const api::Pod& pod,
                                            const api::ObjectPtr& old_object,
                                            const api::ObjectPtr& new_object) {
  const auto change = AsChange<api::Pod>(old_object, new_object);
  if (!change) return Fail(change.error());
  const api::Pod* before = change->old_object;
  const api::Pod* after = change->new_object;
  for (const api::Pod* other : {before, after}) {
    if (other != nullptr && !MayCount(*other, pod)) return QueueingHint::kQueueSkip;
  }
  const auto constraints = source.Hard(pod);
  if (!constraints) return Fail(constraints.error());
  if (before != nullptr && after != nullptr) {
    return QueueIf(SelectionChanged(*constraints, *before, *after));
  }
  return QueueIf(AnySelects(*constraints, after != nullptr ? *after : *before));
}

Result<QueueingHint> AfterTargetPodChange(const ConstraintSource& source, const api::Pod& pod,
                                          const api::ObjectPtr& old_object,
                                          const api::ObjectPtr& new_object) {
  const auto change = AsUpdate<api::Pod>(old_object, new_object);
  if (!change) return Fail(change.error());
  if (change->old_object == nullptr) return Fail("the event has no old object");
  const auto constraints = source.Hard(pod);
  if (!constraints) return Fail(constraints.error());
  const bool honors_taints =
      std::ranges::any_of(*constraints, &SpreadConstraint::honors_node_taints);
  const api::Pod& before = *change->old_object;
  const api::Pod& after = *change->new_object;
  if (honors_taints && before.spec.tolerations != after.spec.tolerations) {
    return QueueingHint::kQueue;
  }
  return QueueIf(SelectionChanged(*constraints, before, after));
}

Result<QueueingHint> AfterNodeChange(const ConstraintSource& source, const api::Pod& pod,
                                     const api::ObjectPtr& old_object,
                                     const api::ObjectPtr& new_object) {
  const auto change = AsChange<api::Node>(old_object, new_object);
  if (!change) return Fail(change.error());
  const auto constraints = source.Hard(pod);
  if (!constraints) return Fail(constraints.error());
  const api::Node* before = change->old_object;
  const api::Node* after = change->new_object;
  const auto counts = [&](const api::Node* node) {
    return node != nullptr && HasAllKeys(node->metadata.labels, *constraints);
  };
  if (before == nullptr || after == nullptr) return QueueIf(counts(before) || counts(after));
  if (counts(before) != counts(after)) return QueueingHint::kQueue;
  return QueueIf(counts(after) && (AnyValueChanged(*constraints, *before, *after) ||
                                   before->spec.taints != after->spec.taints));
}

// `source` must outlive the hints.
std::vector<ClusterEventWithHint> SpreadEvents(const ConstraintSource& source) {
  const auto with_source = [&source](auto hint) {
    return [&source, hint](const api::Pod& pod, const api::ObjectPtr& old_object,
                           const api::ObjectPtr& new_object) {
      return hint(source, pod, old_object, new_object);
    };
  };
  return {
      {{EventResource::kAssignedPod, action::kAdd | action::kUpdatePodLabel | action::kDelete},
       with_source(AfterAssignedPodChange)},
      {{EventResource::kTargetPod, action::kUpdatePodToleration | action::kUpdatePodLabel},
       with_source(AfterTargetPodChange)},
      {{EventResource::kNode,
        action::kAdd | action::kDelete | action::kUpdateNodeLabel | action::kUpdateNodeTaint},
       with_source(AfterNodeChange)},
  };
}

using Verdict = SpreadPreFilterState::Verdict;

Status ErrorWithin(const CycleState& state, std::string_view what, const Error& error) {
  return state.reasons().Error(std::string(what) + ": " + error.message);
}

}  // namespace

PodTopologySpread::PodTopologySpread(const PodTopologySpreadArgs& args, Handle& handle)
    : constraints_(args, handle),
      comparison_operators_(handle.features().taint_toleration_comparison_operators),
      skew_rejection_(handle.reasons().Make(Code::kUnschedulable, kSkewReason)),
      label_rejection_(handle.reasons().Make(Code::kUnschedulableAndUnresolvable, kLabelReason)) {}

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
  if (!SpendOn(*constraints, snapshot, pod.pod->metadata.namespace_, state.budget())) {
    return {.status = state.reasons().Error(state.budget().Message())};
  }
  state.Write(
      SpreadPreFilterState(*pod.pod, snapshot, std::move(*constraints), comparison_operators_));
  return {};
}

// The pod's constraints do not depend on other pods: a pod without any stays so.
bool PodTopologySpread::UpdatePreFilter(CycleState& state, const PodInfo&, const Snapshot&,
                                        std::span<const NodeRow> rows, NodeSet& touched) {
  if (auto* data = state.Find<SpreadPreFilterState>()) data->Update(rows, touched);
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
  if (changed.pod->metadata.namespace_ == pod.pod->metadata.namespace_) {
    state.Mutable<SpreadPreFilterState>().Count(*changed.pod, node.row(), delta);
  }
  return Status::Success();
}

Status PodTopologySpread::Filter(const CycleState& state, const PodInfo&,
                                 const NodeView& node) const {
  switch (state.Read<SpreadPreFilterState>().Judge(node.row())) {
    case Verdict::kPass:
      return Status::Success();
    case Verdict::kMissingLabel:
      return label_rejection_;
    case Verdict::kTooSkewed:
      break;
  }
  return skew_rejection_;
}

Status PodTopologySpread::FilterNodes(const CycleState& state, const PodInfo&, const Snapshot&,
                                      NodeSet& nodes) const {
  state.Read<SpreadPreFilterState>().FilterNodes(nodes);
  return {};
}

Status PodTopologySpread::PreScore(CycleState& state, const PodInfo& pod, const Snapshot& snapshot,
                                   const NodeSet& feasible) {
  if (snapshot.num_nodes() == 0) return Status::Skip();
  auto constraints = constraints_.Soft(*pod.pod);
  if (!constraints) return ErrorWithin(state, "calculating preScoreState", constraints.error());
  if (constraints->empty()) return Status::Skip();
  if (!SpendOn(*constraints, snapshot, pod.pod->metadata.namespace_, state.budget())) {
    return state.reasons().Error(state.budget().Message());
  }
  state.Write(SpreadPreScoreState(*pod.pod, snapshot, std::move(*constraints), feasible,
                                  constraints_.RequiresAllKeys(*pod.pod), comparison_operators_));
  return Status::Success();
}

bool PodTopologySpread::UpdatePreScore(CycleState& state, const PodInfo&, const Snapshot&,
                                       std::span<const NodeRow> rows, const NodeSet& feasible,
                                       NodeSet& touched) {
  auto* data = state.Find<SpreadPreScoreState>();  // nullptr: PreScore said Skip
  return data == nullptr || data->Update(rows, feasible, touched);
}

std::optional<ScoreGroups> PodTopologySpread::Groups(const CycleState& state) const {
  const auto* data = state.Find<SpreadPreScoreState>();
  return data == nullptr ? std::nullopt : data->Groups();
}

ScoreResult PodTopologySpread::Score(const CycleState& state, const PodInfo&,
                                     const NodeView& node) const {
  return {state.Read<SpreadPreScoreState>().Score(node.row())};
}

void PodTopologySpread::ScoreNodes(const CycleState& state, const PodInfo&, const Snapshot&,
                                   std::span<const NodeRow> nodes,
                                   std::span<int64_t> scores) const {
  state.Read<SpreadPreScoreState>().ScoreNodes(nodes, scores);
}

bool PodTopologySpread::NormalizesByValue(const CycleState& state) const {
  return state.Read<SpreadPreScoreState>().ignored().Empty();
}

Status PodTopologySpread::NormalizeScore(const CycleState& state, const PodInfo&,
                                         std::span<const NodeRow> nodes,
                                         std::span<int64_t> scores) const {
  const NodeSet& ignored = state.Read<SpreadPreScoreState>().ignored();
  int64_t least = std::numeric_limits<int64_t>::max();
  int64_t most = 0;
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (ignored.Test(nodes[i])) continue;
    least = std::min(least, scores[i]);
    most = std::max(most, scores[i]);
  }
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (ignored.Test(nodes[i])) {
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
