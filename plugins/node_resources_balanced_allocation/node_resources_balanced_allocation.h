// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "berth/in_tree/handle.h"
#include "berth/in_tree/points.h"
#include "plugins/dynamic_resources/device_counts.h"
#include "plugins/shared/allocation.h"
#include "plugins/shared/args_kind.h"

namespace berth::plugins {

struct NodeResourcesBalancedAllocationArgs {
  std::vector<ResourceSpec> resources = DefaultResourceSpecs();
};

// Errors: a resource named twice, a weight other than 1.
extern const ArgsKind<NodeResourcesBalancedAllocationArgs> kNodeResourcesBalancedAllocationArgs;

// Prefers nodes whose resources would be used more evenly with the pod than without it.
//
// Balance is 1 minus the standard deviation of the used fractions, after Wei Huang et al., "An
// Energy Efficient Virtual Machine Placement Algorithm with Balanced Resource Utilization".
//
// Devices count as in NodeResourcesFit.
//
// Thread safety: the scheduling thread.
class NodeResourcesBalancedAllocation final : public PreScorePlugin,
                                              public ColumnScorePlugin,
                                              public ScoreExtensions,
                                              public MemoryPlugin {
 public:
  static constexpr std::string_view kName = "NodeResourcesBalancedAllocation";

  // `args` are valid.
  NodeResourcesBalancedAllocation(const NodeResourcesBalancedAllocationArgs& args, Handle& handle);

  Inputs DeclaredInputs() const {
    return Inputs::Of(pod_part::kRequests, {{Reach::kNode}, {Reach::kUsage}});
  }

  // Skips pods that request none of the resources.
  Status PreScore(CycleState& state, const PodInfo& pod, const Snapshot& snapshot,
                  const NodeSet& feasible) override;
  // From 50 (balance gets worse) over 75 (stays) to 100 (gets better).
  ScoreResult Score(const CycleState& state, const PodInfo& pod,
                    const NodeView& node) const override;
  void ScoreNodes(const CycleState& state, const PodInfo& pod, const Snapshot& snapshot,
                  std::span<const NodeRow> nodes, std::span<int64_t> scores) const override;
  // As NodeResourcesFit's.
  Status NormalizeScore(const CycleState&, const PodInfo&, std::span<const NodeRow>,
                        std::span<int64_t>) const override {
    return Status::Success();
  }
  bool NormalizesByValue(const CycleState& state) const override;

  size_t kept_bytes() const override { return device_counts_->kept_bytes(); }

 private:
  // Empty for a pod that requests none of the resources.
  std::vector<AllocationTerm> TermsFor(const PodInfo& pod) const;

  ScoredResources resources_;
  PodRequestsOptions pod_options_;
  const std::unique_ptr<DeviceCounts> device_counts_;
};

}  // namespace berth::plugins
