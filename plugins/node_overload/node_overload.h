// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "berth/in_tree/handle.h"
#include "berth/in_tree/node_metrics.h"
#include "berth/in_tree/points.h"
#include "plugins/shared/args_kind.h"

namespace berth::plugins {

struct NodeOverloadArgs {
  NodeMetricsSource source;
  // In percent of the node's capacity, from 1 to 100; nullopt: not looked at.
  std::optional<int64_t> cpu_threshold = 65;
  std::optional<int64_t> memory_threshold = 95;
};

// Errors: a source that is none or that is not read here, a threshold that is no percentage or is
// of another resource.
extern const ArgsKind<NodeOverloadArgs> kNodeOverloadArgs;

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

  Inputs DeclaredInputs() const {
    return Inputs::Of(pod_part::kOwner, {{Reach::kNode}, {Reach::kMeasured}});
  }

  // Skips pods of DaemonSets.
  PreFilterResult PreFilter(CycleState& state, const PodInfo& pod,
                            const Snapshot& snapshot) override;
  // UnschedulableAndUnresolvable: what a pod uses that is evicted shows too late to make room.
  Status Filter(const CycleState& state, const PodInfo& pod, const NodeView& node) const override;
  Status FilterNodes(const CycleState& state, const PodInfo& pod, const Snapshot& snapshot,
                     NodeSet& nodes) const override;
  // Nodes are measured again, or come.
  std::vector<ClusterEventWithHint> EventsToRegister() const override {
    return {{{EventResource::kNodeMetrics, action::kUpdate}},
            {{EventResource::kNode, action::kAdd}}};
  }

 private:
  Status VerdictOn(const Snapshot& snapshot, NodeRow row) const;

  const NodeOverloadArgs args_;
  const MeasuredNodes& measured_;
  const Status cpu_;
  const Status memory_;
};

}  // namespace berth::plugins
