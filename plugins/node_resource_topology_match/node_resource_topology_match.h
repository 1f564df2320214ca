// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "berth/in_tree/claim_preview.h"
#include "berth/in_tree/handle.h"
#include "berth/in_tree/points.h"
#include "plugins/node_resource_topology_match/args.h"
#include "plugins/node_resource_topology_match/node_topologies.h"

namespace berth::plugins {

// Keeps pods off nodes whose kubelet would refuse them because their containers do not fit on one
// NUMA node (Topology Manager policy single-numa-node), and prefers nodes by what their NUMA nodes
// have left. What that is, agents write to NodeResourceTopologies of topology.node.k8s.io; that a
// profile names the plugin, at whatever point, makes them be watched. A node without one is as if
// the plugin were not there.
//
// Thread safety: Filter and Score may run concurrently; the rest on the scheduling thread.
class NodeResourceTopologyMatch final : public PreFilterPlugin,
                                        public FilterPlugin,
                                        public PreScorePlugin,
                                        public ScorePlugin,
                                        public ReservePlugin,
                                        public PostBindPlugin,
                                        public PointsAwarePlugin,
                                        public InTheWayPlugin,
                                        public MemoryPlugin,
                                        public EnqueueExtensions {
 public:
  static constexpr std::string_view kName = "NodeResourceTopologyMatch";
  static constexpr bool kSkipsDeferredResizes = true;

  NodeResourceTopologyMatch(const NodeResourceTopologyMatchArgs& args, Handle& handle);

  // What is known of a node changes with time, and with what was placed by this instance.
  Inputs DeclaredInputs() const { return Inputs::EachPod(); }

  void SetCalledPoints(const CalledPoints& points) override { pre_filters_ = points.pre_filter; }

  // Skips pods that any node takes.
  PreFilterResult PreFilter(CycleState& state, const PodInfo& pod,
                            const Snapshot& snapshot) override;
  // Unschedulable where the policy is single-numa-node and the pod, or one of its containers, fits
  // on no NUMA node, or where it is not known what they have left.
  Status Filter(const CycleState& state, const PodInfo& pod, const NodeView& node) const override;
  // Skips pods that are not Guaranteed: all nodes are equal for them.
  Status PreScore(CycleState& state, const PodInfo& pod, const Snapshot& snapshot,
                  const NodeSet& feasible) override;
  // 100 for a pod that is not Guaranteed, 0 where nothing is known.
  ScoreResult Score(const CycleState& state, const PodInfo& pod,
                    const NodeView& node) const override;
  Status Reserve(CycleState& state, const PodInfo& pod, std::string_view node_name) override;
  void Unreserve(CycleState& state, const PodInfo& pod, std::string_view node_name) override;
  // Does nothing: the pod stays on its way until the watch shows it on its node.
  void PostBind(CycleState&, const PodInfo&, std::string_view) override {}
  std::vector<ClusterEventWithHint> EventsToRegister() const override;
  // What each NUMA node lacks; nothing of a pod whose containers are aligned one by one.
  std::string InTheWayOf(const api::Pod& pod, const NodeView& node) const override;
  size_t kept_bytes() const override { return topologies_.bytes(); }

 private:
  void Update(const Snapshot& snapshot) {
    topologies_.Update(snapshot, handle_.listers(), handle_.clock().Now());
  }
  NodeTopologies::Known KnownOf(const NodeView& node) const;

  Handle& handle_;
  const NumaStrategy strategy_;
  const NumaWeights weights_;
  NodeTopologies topologies_;
  bool pre_filters_ = false;  // each pod, so that all is up to date
  const Status not_known_;
  const Status pod_;
  const Status container_;
  const Status init_container_;
  const Status sidecar_container_;
};

}  // namespace berth::plugins
