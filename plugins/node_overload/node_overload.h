// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include "berth/in_tree/handle.h"
#include "berth/in_tree/points.h"
#include "plugins/node_overload/args.h"

namespace berth::plugins {

// Keeps pods off nodes that are measured to use more of their cpu or memory than a threshold,
// whatever is requested there. A node of which nothing is known passes, and so do pods of
// DaemonSets everywhere.
//
// Thread safety: immutable but for what is measured; every method may run concurrently.
class NodeOverload final : public PreFilterPlugin,
                           public ColumnFilterPlugin,
                           public EnqueueExtensions {
 public:
  static constexpr std::string_view kName = "NodeOverload";

  // `args` are valid.
  NodeOverload(const NodeOverloadArgs& args, Handle& handle);

  Inputs DeclaredInputs() const;

  // Skips pods of DaemonSets.
  PreFilterResult PreFilter(CycleState& state, const PodInfo& pod,
                            const Snapshot& snapshot) override;
  // UnschedulableAndUnresolvable: what a pod uses that is evicted shows too late to make room.
  Status Filter(const CycleState& state, const PodInfo& pod, const NodeView& node) const override;
  Status FilterNodes(const CycleState& state, const PodInfo& pod, const Snapshot& snapshot,
                     NodeSet& nodes) const override;
  // Nodes are measured again, or come.
  std::vector<ClusterEventWithHint> EventsToRegister() const override;

 private:
  Status VerdictOn(const Snapshot& snapshot, NodeRow row) const;

  const NodeOverloadArgs args_;
  const MeasuredNodes& measured_;
  const Status cpu_;
  const Status memory_;
};

}  // namespace berth::plugins
