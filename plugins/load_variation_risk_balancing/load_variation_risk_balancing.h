// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "berth/in_tree/handle.h"
#include "berth/in_tree/node_metrics.h"
#include "berth/in_tree/points.h"
#include "plugins/shared/args_kind.h"
#include "plugins/shared/measured_load.h"

namespace berth::plugins {

struct LoadVariationRiskBalancingArgs {
  NodeMetricsSource source;
  // The standard deviation counts as `margin` times its root of power `sensitivity`.
  double margin = 1;
  double sensitivity = 1;
};

// Numbers below 0 become the defaults. Errors: a source that is none or that is not read here.
extern const ArgsKind<LoadVariationRiskBalancingArgs> kLoadVariationRiskBalancingArgs;

// Prefers nodes whose load, its mean and how much it varies together, is small: of cpu and of
// memory, the one that is worse counts.
//
// Thread safety: immutable but for what is measured; every method may run concurrently.
class LoadVariationRiskBalancing final : public ColumnScorePlugin {
 public:
  static constexpr std::string_view kName = "LoadVariationRiskBalancing";

  // `args` are valid.
  LoadVariationRiskBalancing(const LoadVariationRiskBalancingArgs& args, Handle& handle);

  Inputs DeclaredInputs() const {
    return Inputs::Of(pod_part::kRequests, {{Reach::kNode}, {Reach::kMeasured}});
  }

  // 0 where nothing is known of the node.
  ScoreResult Score(const CycleState& state, const PodInfo& pod,
                    const NodeView& node) const override;
  void ScoreNodes(const CycleState& state, const PodInfo& pod, const Snapshot& snapshot,
                  std::span<const NodeRow> nodes, std::span<int64_t> scores) const override;

 private:
  int64_t ScoreOf(const PodAmounts& requests, const MeasuredNode& node) const;
  double ScoreOf(MeasuredLoad load, double request) const;

  const LoadVariationRiskBalancingArgs args_;
  const MeasuredNodes& measured_;
};

}  // namespace berth::plugins
