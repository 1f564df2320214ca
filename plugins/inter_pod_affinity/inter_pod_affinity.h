// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "berth/in_tree/handle.h"
#include "berth/in_tree/points.h"
#include "plugins/inter_pod_affinity/terms.h"
#include "plugins/shared/args_kind.h"

namespace berth::plugins {

struct InterPodAffinityArgs {
  // What a required affinity term of a placed pod adds to the score where the incoming pod matches
  // it; 0..100.
  int32_t hard_pod_affinity_weight = 1;
  // Score nothing for pods that have no preferred terms of their own.
  bool ignore_preferred_terms_of_existing_pods = false;
};

// Errors: what kube-scheduler rejects, in its words.
extern const ArgsKind<InterPodAffinityArgs> kInterPodAffinityArgs;

// Keeps a pod near the pods that its required affinity wants, away from those that its required
// anti-affinity does not want, and away from placed pods whose anti-affinity does not want it;
// prefers nodes by the preferred terms of both sides. How near is near, the topology key of a term
// says.
//
// The snapshot counts which pods match which term, and in which domain; this plugin only reads the
// counts and never walks pods. Overlays are in the state: Filter does not look at them.
//
// Thread safety: Filter, Score and their column forms may run concurrently; the rest on the
// scheduling thread.
class InterPodAffinity final : public UpdatablePreFilterPlugin,
                               public PreFilterExtensions,
                               public ColumnFilterPlugin,
                               public UpdatablePreScorePlugin,
                               public ColumnScorePlugin,
                               public ScoreExtensions,
                               public EnqueueExtensions {
 public:
  static constexpr std::string_view kName = "InterPodAffinity";
  static constexpr bool kSkipsDeferredResizes = true;
  static constexpr std::string_view kAffinityReason = "node(s) didn't match pod affinity rules";
  static constexpr std::string_view kAntiAffinityReason =
      "node(s) didn't match pod anti-affinity rules";
  static constexpr std::string_view kPlacedPodsReason =
      "node(s) didn't satisfy existing pods anti-affinity rules";
  static constexpr std::string_view kFilterWithoutPreFilter =
      "error reading \"PreFilterInterPodAffinity\" from cycleState: not found";
  static constexpr std::string_view kScoreWithoutPreScore =
      "failed to read \"PreScoreInterPodAffinity\" from cycleState: not found";

  // `args` are valid.
  InterPodAffinity(const InterPodAffinityArgs& args, Handle& handle);

  Inputs DeclaredInputs() const;

  // Skips pods without required terms that no placed pod keeps away. Terms that cannot be read
  // reject the pod.
  PreFilterResult PreFilter(CycleState& state, const PodInfo& pod,
                            const Snapshot& snapshot) override;
  bool UpdatePreFilter(CycleState& state, const PodInfo& pod, const Snapshot& snapshot,
                       std::span<const NodeRow> rows, NodeSet& touched) override;
  Status AddPod(CycleState& state, const PodInfo& pod, const PodInfo& added,
                const NodeView& node) override;
  Status RemovePod(CycleState& state, const PodInfo& pod, const PodInfo& removed,
                   const NodeView& node) override;
  void Detach(CycleState& state) override;

  // Affinity is asked first, and its rejection is UnschedulableAndUnresolvable: evicting pods
  // brings none near. Then the pod's anti-affinity, then that of placed pods.
  Status Filter(const CycleState& state, const PodInfo& pod, const NodeView& node) const override;
  Status FilterNodes(const CycleState& state, const PodInfo& pod, const Snapshot& snapshot,
                     NodeSet& nodes) const override;

  // Skips when no preferred term on either side, and no required affinity of a placed pod, counts.
  Status PreScore(CycleState& state, const PodInfo& pod, const Snapshot& snapshot,
                  const NodeSet& feasible) override;
  std::optional<ScoreGroups> Groups(const CycleState& state) const override;
  bool UpdatePreScore(CycleState& state, const PodInfo& pod, const Snapshot& snapshot,
                      std::span<const NodeRow> rows, const NodeSet& feasible,
                      NodeSet& touched) override;
  // The weights of all terms, once for each pod they match near the node; anti-affinity is
  // negative.
  ScoreResult Score(const CycleState& state, const PodInfo& pod,
                    const NodeView& node) const override;
  void ScoreNodes(const CycleState& state, const PodInfo& pod, const Snapshot& snapshot,
                  std::span<const NodeRow> nodes, std::span<int64_t> scores) const override;
  bool NormalizesByValue(const CycleState&) const override { return true; }
  // Spreads the scores over 0 to 100; all become 0 when they are equal.
  Status NormalizeScore(const CycleState& state, const PodInfo& pod, std::span<const NodeRow> nodes,
                        std::span<int64_t> scores) const override;

  // Queues the pod when a pod that it wants comes, one that it or that did not want it goes, when
  // its own labels change, and when a node comes into, or changes, a domain that it asks about.
  std::vector<ClusterEventWithHint> EventsToRegister() const override;

 private:
  // A preferred term of the incoming pod.
  struct OwnTerm {
    std::shared_ptr<const Topology> topology;
    PodQuery query;
    int64_t weight = 0;  // negative: of anti-affinity
  };
  using OwnTerms = std::vector<OwnTerm>;

  OwnTerms ReadOwnTerms(const PodAffinityTerms& affinity, const Snapshot& snapshot,
                        CycleBudget& budget);
  // Fills placed_ with the terms of placed pods that mean the pod.
  void FindPlaced(const PodInfo& pod, const Snapshot& snapshot, AffinityTermKinds kinds);
  AffinityTermKinds ScoredKinds() const;
  int64_t WeightOf(const AffinityTerm& placed) const;

  InterPodAffinityArgs args_;
  TermResolver resolver_;
  std::vector<AffinityTermCounts> placed_;  // room for one call
  Status affinity_rejection_;
  Status anti_affinity_rejection_;
  Status placed_pods_rejection_;
};

}  // namespace berth::plugins
