// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "berth/in_tree/handle.h"
#include "berth/in_tree/points.h"
#include "plugins/legacy/service_affinity_args.h"

namespace berth::plugins {

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
                              public ScoreExtensions,
                              public EnqueueExtensions {
 public:
  static constexpr std::string_view kName = "ServiceAffinity";
  static constexpr std::string_view kReason = "node(s) didn't match service affinity";
  static constexpr std::string_view kFilterWithoutPreFilter =
      "error reading \"PreFilterServiceAffinity\" from cycleState: not found";

  // `args` are valid.
  ServiceAffinity(const ServiceAffinityArgs& args, Handle& handle);

  Inputs DeclaredInputs() const;

  // Skips every pod where the args name no affinityLabels.
  PreFilterResult PreFilter(CycleState& state, const PodInfo& pod,
                            const Snapshot& snapshot) override;
  Status AddPod(CycleState& state, const PodInfo& pod, const PodInfo& added,
                const NodeView& node) override;
  Status RemovePod(CycleState& state, const PodInfo& pod, const PodInfo& removed,
                   const NodeView& node) override;
  void Detach(CycleState& state) override;
  Status Filter(const CycleState& state, const PodInfo& pod, const NodeView& node) const override;
  Status FilterNodes(const CycleState& state, const PodInfo& pod, const Snapshot& snapshot,
                     NodeSet& nodes) const override;

  Status PreScore(CycleState& state, const PodInfo& pod, const Snapshot& snapshot,
                  const NodeSet& feasible) override;
  // How many pods of the pod's first service, in its namespace and not being deleted, are on the
  // node.
  ScoreResult Score(const CycleState& state, const PodInfo& pod,
                    const NodeView& node) const override;
  void ScoreNodes(const CycleState& state, const PodInfo& pod, const Snapshot& snapshot,
                  std::span<const NodeRow> nodes, std::span<int64_t> scores) const override;
  // For each of antiAffinityLabelsPreference the share of the service's pods that are not on nodes
  // with the node's value of it, 0 for nodes without it; the mean of these, from 0 to 100.
  Status NormalizeScore(const CycleState& state, const PodInfo& pod, std::span<const NodeRow> nodes,
                        std::span<int64_t> scores) const override;

  // Queues the pod when a pod alike comes, goes or changes its labels, when a node comes, and when
  // one changes its labels. A change of services is no event: it counts at the next attempt.
  std::vector<ClusterEventWithHint> EventsToRegister() const override;

 private:
  ServiceAffinityArgs args_;
  Handle* handle_;
  Status rejection_;
};

}  // namespace berth::plugins
