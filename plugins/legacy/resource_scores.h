// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "berth/in_tree/handle.h"
#include "berth/in_tree/points.h"
#include "plugins/legacy/resource_score_args.h"
#include "plugins/shared/allocation.h"
#include "plugins/shared/allocation_strategy.h"

namespace berth::plugins {

// A scoring strategy of NodeResourcesFit as a plugin of its own, as Kubernetes had it up to 1.22.
// It scores what NodeResourcesFit with that strategy scores.
//
// Thread safety: immutable; every method may run concurrently.
class ResourceScore : public ColumnScorePlugin {
 public:
  // `args` are valid.
  ResourceScore(ScoringStrategyType type, const ResourceScoreArgs& args, Handle& handle)
      : strategy_(type, args.shape), resources_(args.resources, handle.resource_names()) {}

  Inputs DeclaredInputs() const {
    return Inputs::Of(pod_part::kRequests, {{Reach::kNode}, {Reach::kUsage}});
  }

  // From 0 to 100; needs no normalising.
  ScoreResult Score(const CycleState& state, const PodInfo& pod,
                    const NodeView& node) const override;
  void ScoreNodes(const CycleState& state, const PodInfo& pod, const Snapshot& snapshot,
                  std::span<const NodeRow> nodes, std::span<int64_t> scores) const override;

 private:
  std::vector<AllocationTerm> TermsFor(const PodInfo& pod) const;

  AllocationStrategy strategy_;
  ScoredResources resources_;
};

// Prefers nodes where much stays free.
class NodeResourcesLeastAllocated final : public ResourceScore {
 public:
  static constexpr std::string_view kName = "NodeResourcesLeastAllocated";
  NodeResourcesLeastAllocated(const ResourceScoreArgs& args, Handle& handle)
      : ResourceScore(ScoringStrategyType::kLeastAllocated, args, handle) {}
};

// Prefers nodes where much is used.
class NodeResourcesMostAllocated final : public ResourceScore {
 public:
  static constexpr std::string_view kName = "NodeResourcesMostAllocated";
  NodeResourcesMostAllocated(const ResourceScoreArgs& args, Handle& handle)
      : ResourceScore(ScoringStrategyType::kMostAllocated, args, handle) {}
};

// Prefers nodes by a function of the used share.
class RequestedToCapacityRatio final : public ResourceScore {
 public:
  static constexpr std::string_view kName = "RequestedToCapacityRatio";
  RequestedToCapacityRatio(const ResourceScoreArgs& args, Handle& handle)
      : ResourceScore(ScoringStrategyType::kRequestedToCapacityRatio, args, handle) {}
};

}  // namespace berth::plugins
