// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "plugins/node_resource_topology_match/numa_nodes.h"
#include "plugins/shared/args_kind.h"

namespace berth::plugins {

// The args of NodeResourceTopologyMatch in kubernetes-sigs/scheduler-plugins v0.34.7.
struct NodeResourceTopologyMatchArgs {
  // Which pods of other schedulers make what is known of their node out of date.
  enum class ForeignPods : uint8_t { kNone, kAll, kOnlyExclusiveResources };
  // Which pods a fingerprint is of.
  enum class ResyncMethod : uint8_t { kAutodetect, kAll, kOnlyExclusiveResources };
  // Whether a changed configuration of the kubelet ends what is known of its node.
  enum class ResyncScope : uint8_t { kAll, kOnlyResources };
  // Shared counts pods that run, Dedicated all that have left the phase Pending.
  enum class InformerMode : uint8_t { kDedicated, kShared };

  NumaStrategy strategy = NumaStrategy::kLeastAllocated;
  NumaWeights weights = {{"cpu", 1}, {"memory", 1}};
  int64_t cache_resync_period_seconds = 0;  // 0 or less: each object counts as it comes
  bool discard_reserved_nodes = false;      // counts before that
  ForeignPods foreign_pods = ForeignPods::kAll;
  ResyncMethod resync_method = ResyncMethod::kAutodetect;
  ResyncScope resync_scope = ResyncScope::kAll;
  InformerMode informer_mode = InformerMode::kDedicated;
};

// Errors: unknown names.
extern const ArgsKind<NodeResourceTopologyMatchArgs> kNodeResourceTopologyMatchArgs;

}  // namespace berth::plugins
