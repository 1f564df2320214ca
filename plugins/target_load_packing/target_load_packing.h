// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "berth/in_tree/handle.h"
#include "berth/in_tree/node_metrics.h"
#include "berth/in_tree/points.h"
#include "plugins/shared/args_kind.h"

namespace berth::plugins {

struct TargetLoadPackingArgs {
  NodeMetricsSource source;
  // What a container is expected to use that names neither a request nor a limit.
  int64_t default_milli_cpu = 1000;
  // What one is that names no limit, as a multiple of its request.
  double requests_multiplier = 1.5;
  int64_t target_utilization = 40;  // in percent, from 1 to 100
};

// Errors: a source that is none or that is not read here, a multiplier that is no number, or is
// negative, a target above 100.
extern const ArgsKind<TargetLoadPackingArgs> kTargetLoadPackingArgs;

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
