// SPDX-License-Identifier: Apache-2.0
#include "plugins/inter_pod_affinity/inter_pod_affinity.h"

#include <algorithm>
#include <utility>

#include "plugins/inter_pod_affinity/filter_state.h"
#include "plugins/inter_pod_affinity/queueing_hints.h"
#include "plugins/inter_pod_affinity/score_state.h"

namespace berth::plugins {
namespace {

bool HasUnreadableTerms(const PodInfo& pod) {
  return pod.affinity != nullptr && !pod.affinity->error.empty();
}

}  // namespace

InterPodAffinity::InterPodAffinity(const InterPodAffinityArgs& args, Handle& handle)
    : args_(args),
      resolver_(handle.listers()),
      affinity_rejection_(
          handle.reasons().Make(Code::kUnschedulableAndUnresolvable, kAffinityReason)),
      anti_affinity_rejection_(handle.reasons().Make(Code::kUnschedulable, kAntiAffinityReason)),
      placed_pods_rejection_(handle.reasons().Make(Code::kUnschedulable, kPlacedPodsReason)) {}

// Placed pods may name any topology key, so a change anywhere may matter anywhere.
Inputs InterPodAffinity::DeclaredInputs() const {
  return Inputs::Of(pod_part::kTestedLabels | pod_part::kNamespace | pod_part::kPodAffinity,
                    {{Reach::kNode}, {Reach::kCluster}, {Reach::kOtherObjects}});
}

PreFilterResult InterPodAffinity::PreFilter(CycleState& state, const PodInfo& pod,
                                            const Snapshot& snapshot) {
  if (HasUnreadableTerms(pod)) {
    return {.status = state.reasons().Make(Code::kUnschedulableAndUnresolvable,
                                           "parsing pod: " + pod.affinity->error)};
  }
  FindPlaced(pod, snapshot, Only(AffinityTermKind::kRequiredAntiAffinity));
  if (placed_.empty() && (pod.affinity == nullptr || !pod.affinity->any_required())) {
    return {.status = Status::Skip()};
  }
  PodAffinityFilterState data(pod, snapshot, resolver_, placed_);
  if (data.nothing_to_say()) return {.status = Status::Skip()};
  state.Write(std::move(data));
  return {};
}

bool InterPodAffinity::UpdatePreFilter(CycleState& state, const PodInfo& pod,
                                       const Snapshot& snapshot, std::span<const NodeRow> rows,
                                       NodeSet& touched) {
  FindPlaced(pod, snapshot, Only(AffinityTermKind::kRequiredAntiAffinity));
  auto* data = state.Find<PodAffinityFilterState>();
  if (data == nullptr) {  // PreFilter said Skip
    return placed_.empty() && (pod.affinity == nullptr || !pod.affinity->any_required());
  }
  return data->Update(rows, placed_, touched);
}

Status InterPodAffinity::AddPod(CycleState& state, const PodInfo&, const PodInfo& added,
                                const NodeView& node) {
  state.Mutable<PodAffinityFilterState>().UpdateWithPod(node.snapshot(), added, node.row(), 1);
  return Status::Success();
}

Status InterPodAffinity::RemovePod(CycleState& state, const PodInfo&, const PodInfo& removed,
                                   const NodeView& node) {
  state.Mutable<PodAffinityFilterState>().UpdateWithPod(node.snapshot(), removed, node.row(), -1);
  return Status::Success();
}

void InterPodAffinity::Detach(CycleState& state) {
  state.Mutable<PodAffinityFilterState>().Detach();
}

Status InterPodAffinity::Filter(const CycleState& state, const PodInfo&,
                                const NodeView& node) const {
  const auto& data = state.Read<PodAffinityFilterState>();
  if (!data.SatisfiesAffinity(node.row())) return affinity_rejection_;
  if (!data.SatisfiesAntiAffinity(node.row())) return anti_affinity_rejection_;
  if (!data.SatisfiesPlacedPods(node.row())) return placed_pods_rejection_;
  return Status::Success();
}

Status InterPodAffinity::FilterNodes(const CycleState& state, const PodInfo&, const Snapshot&,
                                     NodeSet& nodes) const {
  state.Read<PodAffinityFilterState>().FilterNodes(nodes);
  return {};
}

Status InterPodAffinity::PreScore(CycleState& state, const PodInfo& pod, const Snapshot& snapshot,
                                  const NodeSet&) {
  if (HasUnreadableTerms(pod)) {
    return state.reasons().Error("failed to parse pod: " + pod.affinity->error);
  }
  const bool prefers = pod.affinity != nullptr && pod.affinity->any_preferred();
  if (args_.ignore_preferred_terms_of_existing_pods && !prefers) return Status::Skip();

  PodAffinityScoreState data;
  const auto add_own = [&](const std::vector<AffinityTerm>& terms, int64_t sign) {
    for (const AffinityTerm& term : terms) {
      const PodQuery query{.all_of = {resolver_.Resolve(term)}};
      data.AddOwn(snapshot, term.topology_key, CountByDomain(snapshot, query, term.topology_key),
                  sign * term.weight);
    }
  };
  if (prefers) {
    add_own(pod.affinity->preferred_affinity, 1);
    add_own(pod.affinity->preferred_anti_affinity, -1);
  }
  FindPlaced(pod, snapshot, ScoredKinds());
  for (const AffinityTermCounts& placed : placed_) {
    data.AddPlaced(snapshot, placed, WeightOf(*placed.term));
  }
  if (data.empty()) return Status::Skip();
  data.MakeGroups();
  state.Write(std::move(data));
  return Status::Success();
}

std::optional<ScoreGroups> InterPodAffinity::Groups(const CycleState& state) const {
  const auto* data = state.Find<PodAffinityScoreState>();
  return data == nullptr ? std::nullopt : data->Groups();
}

bool InterPodAffinity::UpdatePreScore(CycleState& state, const PodInfo& pod,
                                      const Snapshot& snapshot, std::span<const NodeRow> rows,
                                      const NodeSet&, NodeSet& touched) {
  const bool prefers = pod.affinity != nullptr && pod.affinity->any_preferred();
  if (args_.ignore_preferred_terms_of_existing_pods && !prefers) return true;
  auto* data = state.Find<PodAffinityScoreState>();  // nullptr: PreScore said Skip
  if (data == nullptr && prefers) return false;
  FindPlaced(pod, snapshot, ScoredKinds());
  return data == nullptr ? placed_.empty() : data->Update(rows, placed_, touched);
}

void InterPodAffinity::FindPlaced(const PodInfo& pod, const Snapshot& snapshot,
                                  AffinityTermKinds kinds) {
  placed_.clear();
  snapshot.MatchingAffinityTerms(*pod.pod, resolver_.NamespaceLabels(pod.pod->metadata.namespace_),
                                 kinds, placed_);
}

AffinityTermKinds InterPodAffinity::ScoredKinds() const {
  AffinityTermKinds kinds =
      Only(AffinityTermKind::kPreferredAffinity) | Only(AffinityTermKind::kPreferredAntiAffinity);
  if (args_.hard_pod_affinity_weight > 0) kinds |= Only(AffinityTermKind::kRequiredAffinity);
  return kinds;
}

int64_t InterPodAffinity::WeightOf(const AffinityTerm& placed) const {
  if (placed.kind == AffinityTermKind::kPreferredAffinity) return placed.weight;
  if (placed.kind == AffinityTermKind::kPreferredAntiAffinity) return -int64_t{placed.weight};
  return args_.hard_pod_affinity_weight;
}

ScoreResult InterPodAffinity::Score(const CycleState& state, const PodInfo&,
                                    const NodeView& node) const {
  return {state.Read<PodAffinityScoreState>().Score(node.row())};
}

void InterPodAffinity::ScoreNodes(const CycleState& state, const PodInfo&, const Snapshot&,
                                  std::span<const NodeRow> nodes, std::span<int64_t> scores) const {
  state.Read<PodAffinityScoreState>().ScoreNodes(nodes, scores);
}

Status InterPodAffinity::NormalizeScore(const CycleState&, const PodInfo&, std::span<const NodeRow>,
                                        std::span<int64_t> scores) const {
  if (scores.empty()) return Status::Success();
  const auto [min_at, max_at] = std::minmax_element(scores.begin(), scores.end());
  const int64_t min = *min_at;
  const auto range = static_cast<double>(*max_at - min);
  for (int64_t& score : scores) {
    // The quotient first: 29 of 100 becomes 28, as in kube-scheduler.
    const double scaled =
        range > 0 ? double{kMaxNodeScore} * (static_cast<double>(score - min) / range) : 0;
    score = static_cast<int64_t>(scaled);
  }
  return Status::Success();
}

std::vector<ClusterEventWithHint> InterPodAffinity::EventsToRegister() const {
  return InterPodAffinityEvents(resolver_);
}

}  // namespace berth::plugins
