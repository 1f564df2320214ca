// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "berth/loadable/plugin.hpp"

namespace berth::legacy {

// Keeps every pod off nodes that lack a label or have one that they must not have, and prefers
// nodes by labels that are there or are not. Kubernetes had it up to 1.22; node affinity says the
// same, for each pod or as addedAffinity.
//
// Thread safety: immutable; every method may run concurrently.
class NodeLabel final : public ColumnFilterPlugin,
                        public ColumnScorePlugin,
                        public EnqueueExtensions {
 public:
  static constexpr std::string_view kReason = "node(s) didn't have the requested labels";

  // `args` are valid.
  NodeLabel(const ConfigValue& args, Handle handle);

  Status Filter(const CycleState& state, const PodView& pod, const NodeView& node) const override;
  void FilterNodes(const CycleState& state, const PodView& pod, const Snapshot& snapshot,
                   NodeSet& nodes) const override;

  // The share of the preferences that the node fulfils, from 0 to 100; 0 where there are none.
  ScoreResult Score(const CycleState& state, const PodView& pod,
                    const NodeView& node) const override;
  void ScoreNodes(const CycleState& state, const PodView& pod, const Snapshot& snapshot,
                  const uint32_t* rows, int64_t* scores, size_t n) const override;

  // Queues the pod when a node comes that passes, or one begins to pass.
  std::vector<ClusterEventWithHint> EventsToRegister() const override;

 private:
  bool Passes(const NodeView& node) const;
  int64_t ScoreOf(const NodeView& node) const;

  // Keys of node labels; their values do not matter.
  std::vector<std::string> present_;
  std::vector<std::string> absent_;
  std::vector<std::string> present_preference_;
  std::vector<std::string> absent_preference_;
};

}  // namespace berth::legacy
