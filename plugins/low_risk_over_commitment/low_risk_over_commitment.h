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

struct LowRiskOverCommitmentArgs {
  NodeMetricsSource source;
  // Over so many windows what is measured was smoothed.
  int64_t smoothing_window_size = 5;
  // What limits beyond the node weigh, from 0 to 1; the rest is what the measured load weighs.
  double cpu_limit_weight = 0.5;
  double memory_limit_weight = 0.5;
};

// Numbers out of range become the defaults. Errors: a source that is none or that is not read here.
extern const ArgsKind<LowRiskOverCommitmentArgs> kLowRiskOverCommitmentArgs;

// How a load between 0 and 1 is distributed of which the mean and the standard deviation are known:
// as a beta distribution of this mean and deviation, or as the mean alone where it does not vary.
//
// Thread safety: immutable; any thread.
class LoadDistribution {
 public:
  // `mean` lies between 0 and 1. A deviation above 99% of the variance that any load of that mean
  // has counts as that.
  LoadDistribution(double mean, double deviation);

  // Whether the load varies.
  bool varies() const { return alpha_ > 0; }
  // The probability that the load is at most `share`; 1 for a load that is always 0.
  double AtMost(double share) const;

 private:
  double mean_;
  double deviation_;
  double alpha_ = 0;
  double beta_ = 0;
};

// Prefers nodes where pods may use more than they request at the least risk: that their limits
// together are more than the node has, and that what is measured goes beyond what is requested.
//
// Thread safety: immutable but for what is measured; every method may run concurrently.
class LowRiskOverCommitment final : public PreScorePlugin, public ColumnScorePlugin {
 public:
  static constexpr std::string_view kName = "LowRiskOverCommitment";

  // `args` are valid.
  LowRiskOverCommitment(const LowRiskOverCommitmentArgs& args, Handle& handle);

  Inputs DeclaredInputs() const;

  // Skip for a pod that neither requests nor limits anything.
  Status PreScore(CycleState& state, const PodInfo& pod, const Snapshot& snapshot,
                  const NodeSet& feasible) override;
  // 0 where nothing is known of the node.
  ScoreResult Score(const CycleState& state, const PodInfo& pod,
                    const NodeView& node) const override;
  void ScoreNodes(const CycleState& state, const PodInfo& pod, const Snapshot& snapshot,
                  std::span<const NodeRow> nodes, std::span<int64_t> scores) const override;

 private:
  // What a pod may take; the limits are no less than the requests.
  struct PodDemand {
    PodAmounts requests;
    PodAmounts limits;
  };
  static PodDemand DemandOf(const api::Pod& pod);
  int64_t ScoreOf(const PodDemand& pod, const NodeView& node,
                  const MeasuredNodeReader& reader) const;

  const LowRiskOverCommitmentArgs args_;
  const double smoothing_;  // what the measured deviation is multiplied by
  const MeasuredNodes& measured_;
};

}  // namespace berth::plugins
