// SPDX-License-Identifier: Apache-2.0
#include "plugins/taint_toleration/taint_toleration.h"

#include <algorithm>

#include "berth/matching.h"
#include "plugins/shared/hint_objects.h"
#include "plugins/shared/normalize_score.h"
#include "plugins/shared/spend_on_nodes.h"
#include "plugins/shared/tolerated_taints.h"

namespace berth::plugins {
namespace {

struct PreScoreState {
  // Those that can tolerate a PreferNoSchedule taint.
  std::vector<api::Toleration> tolerations;
};

PreScoreState ForPreferNoSchedule(const api::Pod& pod) {
  PreScoreState state;
  for (const api::Toleration& toleration : pod.spec.tolerations) {
    if (toleration.effect.empty() || toleration.effect == api::kTaintEffectPreferNoSchedule) {
      state.tolerations.push_back(toleration);
    }
  }
  return state;
}

}  // namespace

TaintToleration::TaintToleration(Handle& handle)
    : rejection_(handle.reasons().Make(Code::kUnschedulableAndUnresolvable, kReason)),
      comparison_operators_(handle.features().taint_toleration_comparison_operators) {}

int64_t TaintToleration::CountIntolerable(std::span<const api::Toleration> tolerations,
                                          std::span<const api::Taint> taints) const {
  return std::count_if(taints.begin(), taints.end(), [&](const api::Taint& taint) {
    return taint.effect == api::kTaintEffectPreferNoSchedule &&
           !Tolerates(tolerations, taint, comparison_operators_);
  });
}

Status TaintToleration::Filter(const CycleState& state, const PodInfo& pod,
                               const NodeView& node) const {
  const uint64_t taints = node.node().spec.taints.size();
  if (!SpendOnNodes(state, pod.pod->spec.tolerations.size(), taints)) return OutOfBudget(state);
  return ToleratesRepellingTaints(pod.pod->spec.tolerations, node.node().spec.taints,
                                  comparison_operators_)
             ? Status::Success()
             : rejection_;
}

Status TaintToleration::FilterNodes(const CycleState& state, const PodInfo& pod,
                                    const Snapshot& snapshot, NodeSet& nodes) const {
  if (!SpendOnNodes(state, pod.pod->spec.tolerations.size(), snapshot.num_taint_sets())) {
    return OutOfBudget(state);
  }
  FilterTolerated(pod.pod->spec.tolerations, comparison_operators_, snapshot, nodes);
  return {};
}

Status TaintToleration::PreScore(CycleState& state, const PodInfo& pod, const Snapshot& snapshot,
                                 const NodeSet&) {
  if (!SpendOnNodes(state, pod.pod->spec.tolerations.size(), snapshot.num_taint_sets())) {
    return OutOfBudget(state);
  }
  state.Write(ForPreferNoSchedule(*pod.pod));
  return Status::Success();
}

ScoreResult TaintToleration::Score(const CycleState& state, const PodInfo& pod,
                                   const NodeView& node) const {
  const std::vector<api::Taint>& taints = node.node().spec.taints;
  const auto data = state.ReadOr<PreScoreState>([&] { return ForPreferNoSchedule(*pod.pod); });
  return {CountIntolerable(data->tolerations, taints)};
}

void TaintToleration::ScoreNodes(const CycleState& state, const PodInfo& pod,
                                 const Snapshot& snapshot, std::span<const NodeRow> nodes,
                                 std::span<int64_t> scores) const {
  const auto data = state.ReadOr<PreScoreState>([&] { return ForPreferNoSchedule(*pod.pod); });
  const std::span<const TaintSetId> taint_set_of = snapshot.taint_sets();
  constexpr int64_t kUnknown = -1;
  std::vector<int64_t> counts(snapshot.num_taint_sets(), kUnknown);
  for (size_t i = 0; i < nodes.size(); ++i) {
    int64_t& count = counts[taint_set_of[nodes[i]]];
    if (count == kUnknown) {
      count = CountIntolerable(data->tolerations, snapshot.taints(taint_set_of[nodes[i]]));
    }
    scores[i] = count;
  }
}

Status TaintToleration::NormalizeScore(const CycleState&, const PodInfo&, std::span<const NodeRow>,
                                       std::span<int64_t> scores) const {
  DefaultNormalizeScore(Best::kLeast, scores);
  return Status::Success();
}

std::vector<ClusterEventWithHint> TaintToleration::EventsToRegister() const {
  return {
      {{EventResource::kNode, action::kAdd | action::kUpdateNodeTaint},
       [this](const api::Pod& pod, const api::ObjectPtr& old_object,
              const api::ObjectPtr& new_object) -> Result<QueueingHint> {
         const auto change = AsUpdate<api::Node>(old_object, new_object);
         if (!change) return Fail(change.error());
         const auto tolerates = [&](const api::Node& node) {
           return ToleratesRepellingTaints(pod.spec.tolerations, node.spec.taints,
                                           comparison_operators_);
         };
         const bool was_tolerated = change->old_object != nullptr && tolerates(*change->old_object);
         return QueueIf(!was_tolerated && tolerates(*change->new_object));
       }},
      {{EventResource::kTargetPod, action::kUpdatePodToleration}, nullptr},
  };
}

}  // namespace berth::plugins
