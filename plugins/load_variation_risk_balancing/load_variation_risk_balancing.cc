// SPDX-License-Identifier: Apache-2.0
#include "plugins/load_variation_risk_balancing/load_variation_risk_balancing.h"

#include <algorithm>
#include <cmath>

#include "plugins/shared/node_metrics_args.h"

namespace berth::plugins {
namespace {

constexpr std::string_view kSafeVarianceMargin = "safeVarianceMargin";
constexpr std::string_view kSafeVarianceSensitivity = "safeVarianceSensitivity";

struct RawRiskBalancingArgs {
  NodeMetricsArgs metrics;
  double margin = -1;
  double sensitivity = -1;
};

RawRiskBalancingArgs ReadRiskBalancingArgs(FieldReader& fields) {
  RawRiskBalancingArgs args;
  args.metrics = ReadNodeMetricsArgs(fields);
  fields.Read(kSafeVarianceMargin, args.margin);
  fields.Read(kSafeVarianceSensitivity, args.sensitivity);
  return args;
}

bool IsBelowZero(const ConfigValue& number) {
  if (const int64_t* whole = number.integer()) return *whole < 0;
  return number.real() != nullptr && *number.real() < 0;
}

ConfigValue WithNumber(const ConfigValue& args, std::string_view field, int64_t number) {
  const ConfigValue* given = args.Find(field);
  if (given != nullptr && !IsBelowZero(*given)) return args;
  return WithField(args, field, ConfigValue(number));
}

std::vector<std::string> RiskBalancingProblems(const RawRiskBalancingArgs& args,
                                               const std::string& path) {
  return NodeMetricsProblems(args.metrics, path);
}

LoadVariationRiskBalancingArgs RiskBalancingArgsOf(const RawRiskBalancingArgs& raw) {
  LoadVariationRiskBalancingArgs args;
  args.source = SourceOf(raw.metrics);
  if (raw.margin >= 0) args.margin = raw.margin;
  if (raw.sensitivity >= 0) args.sensitivity = raw.sensitivity;
  return args;
}

ConfigValue WithRiskBalancingDefaults(const ConfigValue& args, const ArgsFeatures&) {
  return WithNumber(WithNumber(NodeMetricsArgsWithDefaults(args), kSafeVarianceMargin, 1),
                    kSafeVarianceSensitivity, 1);
}

}  // namespace

constexpr ArgsKind<LoadVariationRiskBalancingArgs> kLoadVariationRiskBalancingArgs =
    MakeArgsKind<"LoadVariationRiskBalancing", ReadRiskBalancingArgs, RiskBalancingProblems,
                 RiskBalancingArgsOf>(WithRiskBalancingDefaults);

LoadVariationRiskBalancing::LoadVariationRiskBalancing(const LoadVariationRiskBalancingArgs& args,
                                                       Handle& handle)
    : args_(args), measured_(handle.WatchNodeMetrics(args.source)) {}

double LoadVariationRiskBalancing::ScoreOf(MeasuredLoad load, double request) const {
  if (load.capacity <= 0) return 0;
  load.average = std::max(std::min(load.average, load.capacity), 0.0);
  load.deviation = std::max(std::min(load.deviation, load.capacity), 0.0);
  const LoadShare share = LoadShareOf(load, std::max(request, 0.0));
  const double spread = std::pow(share.deviation, 1 / args_.sensitivity) * args_.margin;
  const double risk = (share.mean + std::max(std::min(spread, 1.0), 0.0)) / 2;
  return (1 - risk) * static_cast<double>(kMaxNodeScore);
}

int64_t LoadVariationRiskBalancing::ScoreOf(const PodAmounts& requests,
                                            const MeasuredNode& node) const {
  if (node.measured == nullptr) return kMinNodeScore;
  const NodeMetrics& measured = *node.measured;
  double cpu = 0;
  double memory = 0;
  if (measured.cpu.known) {
    cpu = ScoreOf(MeasuredCpu(measured.cpu, node.allocatable.milli_cpu),
                  static_cast<double>(requests.milli_cpu));
  }
  if (measured.memory.known) {
    memory = ScoreOf(MeasuredMemory(measured.memory, node.allocatable.memory),
                     InMebibytes(requests.memory));
  }
  const bool both = measured.cpu.known && measured.memory.known;
  return RoundedScore(both ? std::min(cpu, memory) : std::max(cpu, memory));
}

ScoreResult LoadVariationRiskBalancing::Score(const CycleState&, const PodInfo& pod,
                                              const NodeView& node) const {
  return {ScoreOf(TrimaranRequests(*pod.pod),
                  MeasuredNodeReader(measured_, node.snapshot()).Read(node.row()))};
}

void LoadVariationRiskBalancing::ScoreNodes(const CycleState&, const PodInfo& pod,
                                            const Snapshot& snapshot,
                                            std::span<const NodeRow> nodes,
                                            std::span<int64_t> scores) const {
  const PodAmounts requests = TrimaranRequests(*pod.pod);
  const MeasuredNodeReader reader(measured_, snapshot);
  for (size_t i = 0; i < nodes.size(); ++i) scores[i] = ScoreOf(requests, reader.Read(nodes[i]));
}

}  // namespace berth::plugins
