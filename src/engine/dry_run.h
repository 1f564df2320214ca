// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "berth/in_tree/dry_run.h"
#include "src/engine/filter.h"

namespace berth::engine {

// Dry runs of preemption for one pod, whose PreFilter has run in `cycle`.
//
// What no imagined pod can change is looked at once for all nodes, by columns, once a few nodes
// were asked about: the filters that declare that they read nothing but the node itself. The others
// see the node's row with an overlay.
// The state of PreFilter is copied for a node only where a filter has AddPod and RemovePod for pods
// that come and go.
//
// Thread safety: the scheduling thread. All references must outlive it.
class PreemptionDryRun final : public DryRun {
 public:
  PreemptionDryRun(const framework::Profile& profile, const framework::Cycle& cycle,
                   const PodInfo& pod, ClusterState cluster);

  void Begin(NodeRow row) override;
  Status RemovePod(const PodInfo& pod, NodeRow row) override;
  Status AddPod(const PodInfo& pod, NodeRow row) override;
  Status Filter() override;

 private:
  NodeView View(NodeRow row) const {
    return row == row_ ? NodeView(cluster_.snapshot, row, &overlay_)
                       : NodeView(cluster_.snapshot, row);
  }
  const CycleState& state() const { return imagined_ ? *imagined_ : cycle_.state; }
  void FindFixedFilters();
  Status RunFilters(const CycleState& state, const NodeView& node) const;
  Status FilterWithNominatedPods(const std::vector<const PodInfo*>& nominated);
  // The same status with reasons that live as long as the cycle.
  Status Keep(const Status& status) const;

  const framework::Profile& profile_;
  const framework::Cycle& cycle_;
  const PodInfo& pod_;
  const ClusterState cluster_;
  const bool extensions_;
  size_t num_begun_ = 0;  // nodes
  // The filters that were not skipped and, once the fixed ones are found, those of them that do
  // not read only the node.
  std::vector<const framework::FilterEntry*> filters_;
  std::vector<const framework::FilterEntry*> changing_filters_;
  // The rows that pass the rest of them; empty before.
  NodeSet passed_fixed_;

  NodeRow row_ = kNoRow;
  std::vector<const PodInfo*> nominated_;  // on that node, that the pod must also fit with
  Overlay overlay_;
  std::optional<CycleState> imagined_;
};

}  // namespace berth::engine
