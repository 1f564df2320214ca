// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "berth/loadable/plugin.hpp"

namespace berth::legacy {

// Keeps the pods of a Service on nodes with the same values of some labels, and spreads them over
// the values of others. Kubernetes had it up to 1.22; pod affinity and topology spread constraints
// say the same.
//
// Which value a service has, the node of its first pod says: of pods with all labels of the new
// one, in its namespace, that on the lowest row. What the pod's nodeSelector says about a label
// wins.
//
// Thread safety: Filter, Score and their column forms may run concurrently; the rest on the
// scheduling thread.
class ServiceAffinity final : public PreFilterPlugin,
                              public PreFilterExtensions,
                              public ColumnFilterPlugin,
                              public PreScorePlugin,
                              public ColumnScorePlugin,
                              public NormalizeScorePlugin,
                              public EnqueueExtensions {
 public:
  static constexpr std::string_view kReason = "node(s) didn't match service affinity";
  static constexpr const char* kFilterWithoutPreFilter =
      "error reading \"PreFilterServiceAffinity\" from cycleState: not found";

  // `args` are valid.
  ServiceAffinity(const ConfigValue& args, Handle handle);

  // Skips every pod where the args name no affinityLabels.
  PreFilterResult PreFilter(CycleState& state, const PodView& pod,
                            const Snapshot& snapshot) override;
  Status AddPod(CycleState& state, const PodView& pod, const PodView& added,
                const NodeView& node) override;
  Status RemovePod(CycleState& state, const PodView& pod, const PodView& removed,
                   const NodeView& node) override;
  void Detach(CycleState& state) override;
  Status Filter(const CycleState& state, const PodView& pod, const NodeView& node) const override;
  void FilterNodes(const CycleState& state, const PodView& pod, const Snapshot& snapshot,
                   NodeSet& nodes) const override;

  Status PreScore(CycleState& state, const PodView& pod, const Snapshot& snapshot,
                  const ConstNodeSet& feasible) override;
  // How many pods of the pod's first service, in its namespace and not being deleted, are on the
  // node.
  ScoreResult Score(const CycleState& state, const PodView& pod,
                    const NodeView& node) const override;
  void ScoreNodes(const CycleState& state, const PodView& pod, const Snapshot& snapshot,
                  const uint32_t* rows, int64_t* scores, size_t n) const override;
  // For each of antiAffinityLabelsPreference the share of the service's pods that are not on nodes
  // with the node's value of it, 0 for nodes without it; the mean of these, from 0 to 100.
  Status NormalizeScore(const CycleState& state, const PodView& pod, const Snapshot& snapshot,
                        const uint32_t* rows, int64_t* scores, size_t n) const override;

  // Queues the pod when a pod alike comes, goes or changes its labels, when a node comes, and when
  // one changes its labels. A change of services is no event: it counts at the next attempt.
  std::vector<ClusterEventWithHint> EventsToRegister() const override;

 private:
  std::optional<Selector> FirstService(const PodView& pod) const;

  // Keys of node labels: pods of a service stay on nodes with the same values of these,
  std::vector<std::string> affinity_labels_;
  // and are spread over the values of each of these.
  std::vector<std::string> anti_affinity_labels_preference_;
  Handle handle_;
};

}  // namespace berth::legacy
