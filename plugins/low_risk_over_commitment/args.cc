// SPDX-License-Identifier: Apache-2.0
#include "plugins/low_risk_over_commitment/args.h"

#include <optional>
#include <string_view>
#include <utility>

#include "plugins/shared/node_metrics_args.h"

namespace berth::plugins {
namespace {

constexpr std::string_view kSmoothingWindowSize = "smoothingWindowSize";
constexpr std::string_view kRiskLimitWeights = "riskLimitWeights";

struct RawOverCommitmentArgs {
  NodeMetricsArgs metrics;
  int64_t smoothing_window_size = 0;
  std::vector<std::pair<std::string, double>> weights;  // by resource
};

std::optional<double> NumberOf(const ConfigValue& value) {
  if (const int64_t* whole = value.integer()) return static_cast<double>(*whole);
  if (const double* real = value.real()) return *real;
  return std::nullopt;
}

bool IsWeight(double number) { return number >= 0 && number <= 1; }

void ReadWeights(FieldReader& fields, RawOverCommitmentArgs& args) {
  const ConfigValue* weights = fields.Get(kRiskLimitWeights);
  if (weights == nullptr) return;
  if (weights->map() == nullptr) {
    fields.Invalid(kRiskLimitWeights, weights->ToJson(), "must be a map of numbers by resource");
    return;
  }
  for (const auto& [resource, value] : *weights->map()) {
    const std::optional<double> number = NumberOf(value);
    if (number) {
      args.weights.emplace_back(resource, *number);
    } else {
      fields.Invalid(std::string(kRiskLimitWeights) + "." + resource, value.ToJson(),
                     "must be a number");
    }
  }
}

RawOverCommitmentArgs ReadOverCommitmentArgs(FieldReader& fields) {
  RawOverCommitmentArgs args;
  args.metrics = ReadNodeMetricsArgs(fields);
  fields.Read(kSmoothingWindowSize, args.smoothing_window_size);
  ReadWeights(fields, args);
  return args;
}

std::vector<std::string> OverCommitmentProblems(const RawOverCommitmentArgs& args,
                                                const std::string& path) {
  return NodeMetricsProblems(args.metrics, path);
}

LowRiskOverCommitmentArgs OverCommitmentArgsOf(const RawOverCommitmentArgs& raw) {
  LowRiskOverCommitmentArgs args;
  args.source = SourceOf(raw.metrics);
  if (raw.smoothing_window_size > 0) args.smoothing_window_size = raw.smoothing_window_size;
  for (const auto& [resource, weight] : raw.weights) {
    if (!IsWeight(weight)) continue;
    if (resource == "cpu") args.cpu_limit_weight = weight;
    if (resource == "memory") args.memory_limit_weight = weight;
  }
  return args;
}

ConfigValue WithOverCommitmentDefaults(const ConfigValue& args, const ArgsFeatures&) {
  const LowRiskOverCommitmentArgs defaults;
  ConfigValue out = NodeMetricsArgsWithDefaults(args);
  const ConfigValue* size = out.Find(kSmoothingWindowSize);
  if (size == nullptr || (size->integer() != nullptr && *size->integer() <= 0)) {
    out = WithField(out, kSmoothingWindowSize, ConfigValue(defaults.smoothing_window_size));
  }
  ConfigValue::Map weights;
  const ConfigValue* given = out.Find(kRiskLimitWeights);
  if (given != nullptr && given->map() == nullptr) return out;  // which is a problem of its own
  if (given != nullptr) weights = *given->map();
  if (weights.empty()) {
    weights = {{"cpu", ConfigValue(defaults.cpu_limit_weight)},
               {"memory", ConfigValue(defaults.memory_limit_weight)}};
  }
  for (auto& [resource, weight] : weights) {
    const std::optional<double> number = NumberOf(weight);
    if (number && !IsWeight(*number)) weight = ConfigValue(defaults.cpu_limit_weight);
  }
  return WithField(out, kRiskLimitWeights, ConfigValue(std::move(weights)));
}

}  // namespace

constexpr ArgsKind<LowRiskOverCommitmentArgs> kLowRiskOverCommitmentArgs =
    MakeArgsKind<"LowRiskOverCommitment", ReadOverCommitmentArgs, OverCommitmentProblems,
                 OverCommitmentArgsOf>(WithOverCommitmentDefaults);

}  // namespace berth::plugins
