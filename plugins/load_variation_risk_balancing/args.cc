// SPDX-License-Identifier: Apache-2.0
#include "plugins/load_variation_risk_balancing/args.h"

#include <string_view>
#include <utility>

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

}  // namespace berth::plugins
