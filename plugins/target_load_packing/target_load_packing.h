// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "berth/in_tree/handle.h"
#include "berth/in_tree/points.h"
#include "plugins/target_load_packing/args.h"

namespace berth::plugins {

// Packs pods onto nodes until the cpu that is measured there, with what new pods are expected to
// use, reaches a target; beyond it the emptier node is preferred.
//
// Thread safety: immutable but for what is measured; every method may run concurrently.
class TargetLoadPacking final : public ColumnScorePlugin {
 public:
  static constexpr std::string_view kName = "TargetLoadPacking";

  // `args` are valid.
  TargetLoadPacking(const TargetLoadPackingArgs& args, Handle& handle);

  Inputs DeclaredInputs() const;

  // 0 where the node's cpu is not known.
  ScoreResult Score(const CycleState& state, const PodInfo& pod,
                    const NodeView& node) const override;
  void ScoreNodes(const CycleState& state, const PodInfo& pod, const Snapshot& snapshot,
                  std::span<const NodeRow> nodes, std::span<int64_t> scores) const override;

 private:
  // What the pod is expected to use, in milli-cores.
  int64_t ExpectedUse(const api::Pod& pod) const;
  int64_t ScoreOf(int64_t expected_use, const Snapshot& snapshot, NodeRow row) const;

  const TargetLoadPackingArgs args_;
  const MeasuredNodes& measured_;
};

}  // namespace berth::plugins
