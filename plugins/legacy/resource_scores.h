// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "berth/loadable/plugin.hpp"
#include "plugins/shared/allocation_strategy.h"

namespace berth::legacy {

using plugins::ScoringStrategyType;

// A scoring strategy of NodeResourcesFit as a plugin of its own, as Kubernetes had it up to 1.22.
// It scores what NodeResourcesFit with that strategy scores.
//
// Thread safety: immutable; every method may run concurrently.
class ResourceScore : public ColumnScorePlugin {
 public:
  // `args` are valid, their defaults set.
  ResourceScore(ScoringStrategyType type, const ConfigValue& args, Handle handle);

  // From 0 to 100; needs no normalising.
  ScoreResult Score(const CycleState& state, const PodView& pod,
                    const NodeView& node) const override;
  void ScoreNodes(const CycleState& state, const PodView& pod, const Snapshot& snapshot,
                  const uint32_t* rows, int64_t* scores, size_t n) const override;

 private:
  struct Resource {
    ResourceId id = 0;
    int64_t weight = 0;
    bool scalar = false;
  };
  // A resource to score for one pod. Scalar resources that the pod does not ask for have none.
  struct Term {
    ResourceId id = 0;
    int64_t weight = 0;
    int64_t pod_request = 0;
  };

  std::vector<Term> TermsFor(const PodView& pod) const;

  plugins::AllocationStrategy strategy_;
  std::vector<std::string> names_;
  std::vector<Resource> resources_;  // of the same length
};

// Prefers nodes where much stays free.
class NodeResourcesLeastAllocated final : public ResourceScore {
 public:
  NodeResourcesLeastAllocated(const ConfigValue& args, Handle handle)
      : ResourceScore(ScoringStrategyType::kLeastAllocated, args, handle) {}
};

// Prefers nodes where much is used.
class NodeResourcesMostAllocated final : public ResourceScore {
 public:
  NodeResourcesMostAllocated(const ConfigValue& args, Handle handle)
      : ResourceScore(ScoringStrategyType::kMostAllocated, args, handle) {}
};

// Prefers nodes by a function of the used share.
class RequestedToCapacityRatio final : public ResourceScore {
 public:
  RequestedToCapacityRatio(const ConfigValue& args, Handle handle)
      : ResourceScore(ScoringStrategyType::kRequestedToCapacityRatio, args, handle) {}
};

}  // namespace berth::legacy
