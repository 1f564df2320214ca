// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "berth/in_tree/handle.h"
#include "berth/in_tree/points.h"
#include "plugins/legacy/node_label_args.h"

namespace berth::plugins {

// Keeps every pod off nodes that lack a label or have one that they must not have, and prefers
// nodes by labels that are there or are not. Kubernetes had it up to 1.22; node affinity says the
// same, for each pod or as addedAffinity.
//
// Thread safety: immutable; every method may run concurrently.
class NodeLabel final : public ColumnFilterPlugin,
                        public ColumnScorePlugin,
                        public EnqueueExtensions {
 public:
  static constexpr std::string_view kName = "NodeLabel";
  static constexpr std::string_view kReason = "node(s) didn't have the requested labels";

  // `args` are valid.
  NodeLabel(const NodeLabelArgs& args, Handle& handle)
      : args_(args),
        rejection_(handle.reasons().Make(Code::kUnschedulableAndUnresolvable, kReason)) {}

  Inputs DeclaredInputs() const { return Inputs::Of(0, {{Reach::kNode}}); }

  Status Filter(const CycleState& state, const PodInfo& pod, const NodeView& node) const override;
  Status FilterNodes(const CycleState& state, const PodInfo& pod, const Snapshot& snapshot,
                     NodeSet& nodes) const override;

  // The share of the preferences that the node fulfils, from 0 to 100; 0 where there are none.
  ScoreResult Score(const CycleState& state, const PodInfo& pod,
                    const NodeView& node) const override;
  void ScoreNodes(const CycleState& state, const PodInfo& pod, const Snapshot& snapshot,
                  std::span<const NodeRow> nodes, std::span<int64_t> scores) const override;

  // Queues the pod when a node comes that passes, or one begins to pass.
  std::vector<ClusterEventWithHint> EventsToRegister() const override;

 private:
  bool Passes(const api::Node& node) const;
  int64_t ScoreOf(const api::Node& node) const;

  NodeLabelArgs args_;
  Status rejection_;
};

}  // namespace berth::plugins
