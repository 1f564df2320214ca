// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "berth/in_tree/handle.h"
#include "berth/in_tree/points.h"
#include "plugins/shared/args_kind.h"

namespace berth::plugins {

// Whether nodes that have little to give are preferred, or those that have much.
enum class AllocatableMode : uint8_t { kLeast, kMost };

struct NodeResourcesAllocatableArgs {
  // Each name once. A milli-core counts as much as a MiB by default.
  std::vector<ResourceSpec> resources = {{"cpu", int64_t{1} << 20}, {"memory", 1}};
  AllocatableMode mode = AllocatableMode::kLeast;
};

// Of a resource that is named twice the last weight counts. Errors: a weight that is not above 0 or
// is left out, another mode.
extern const ArgsKind<NodeResourcesAllocatableArgs> kNodeResourcesAllocatableArgs;

// Prefers nodes that have little to give in all, whatever of it is used, or those that have much,
// as the args say: the weighted mean of what is allocatable of each resource. So small pods go to
// small nodes, and large ones stay free for large pods.
//
// Thread safety: immutable; every method may run concurrently.
class NodeResourcesAllocatable final : public ColumnScorePlugin, public ScoreExtensions {
 public:
  static constexpr std::string_view kName = "NodeResourcesAllocatable";

  // `args` are valid.
  NodeResourcesAllocatable(const NodeResourcesAllocatableArgs& args, Handle& handle);

  Inputs DeclaredInputs() const { return Inputs::Of(0, {{Reach::kNode}}); }

  // The weighted mean of the allocatable amounts, cpu in milli-cores and all else in whole units;
  // negative where the least is best. Towards zero; saturates.
  ScoreResult Score(const CycleState& state, const PodInfo& pod,
                    const NodeView& node) const override;
  void ScoreNodes(const CycleState& state, const PodInfo& pod, const Snapshot& snapshot,
                  std::span<const NodeRow> nodes, std::span<int64_t> scores) const override;
  // The best node gets 100, the worst 0, the others a share of it; 0 where all are alike.
  Status NormalizeScore(const CycleState& state, const PodInfo& pod, std::span<const NodeRow> nodes,
                        std::span<int64_t> scores) const override;
  bool NormalizesByValue(const CycleState&) const override { return true; }

 private:
  struct Weighted {
    ResourceId id = 0;
    int64_t weight = 0;
  };

  template <typename Allocatable>
  int64_t MeanOf(const Allocatable& allocatable) const;

  std::vector<Weighted> resources_;
  int64_t sign_ = 1;
  WideAmount sum_of_weights_ = 0;
};

}  // namespace berth::plugins
