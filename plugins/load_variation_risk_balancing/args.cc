// SPDX-License-Identifier: Apache-2.0
#include "plugins/load_variation_risk_balancing/args.h"

#include <string_view>
#include <utility>

#include "berth/field_errors.h"
#include "plugins/shared/args_reader.h"
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

Result<RawRiskBalancingArgs> ReadRiskBalancingArgs(const ConfigValue& value,
                                                   const std::string& path) {
  RawRiskBalancingArgs args;
  FieldReader fields(value, path);
  ReadTypeMeta(fields, "LoadVariationRiskBalancing");
  args.metrics = ReadNodeMetricsArgs(fields);
  fields.Read(kSafeVarianceMargin, args.margin);
  fields.Read(kSafeVarianceSensitivity, args.sensitivity);
  if (auto error = fields.Finish()) return Fail(std::move(*error));
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

}  // namespace

Result<LoadVariationRiskBalancingArgs> ParseLoadVariationRiskBalancingArgs(
    const ConfigValue& value) {
  auto raw = ReadRiskBalancingArgs(value, "");
  if (!raw) return Fail(raw.error());
  if (auto error = AggregateProblems(NodeMetricsProblems(raw->metrics, ""))) {
    return Fail(std::move(*error));
  }
  LoadVariationRiskBalancingArgs args;
  args.source = SourceOf(raw->metrics);
  if (raw->margin >= 0) args.margin = raw->margin;
  if (raw->sensitivity >= 0) args.sensitivity = raw->sensitivity;
  return args;
}

ConfigValue LoadVariationRiskBalancingArgsWithDefaults(const ConfigValue& args,
                                                       const ArgsFeatures&) {
  return WithNumber(WithNumber(NodeMetricsArgsWithDefaults(args), kSafeVarianceMargin, 1),
                    kSafeVarianceSensitivity, 1);
}

std::vector<std::string> LoadVariationRiskBalancingArgsProblems(const ConfigValue& args,
                                                                const std::string& path,
                                                                const ArgsFeatures&) {
  const auto read = ReadRiskBalancingArgs(args, path);
  return read ? NodeMetricsProblems(read->metrics, path)
              : std::vector<std::string>{read.error().message};
}

}  // namespace berth::plugins
