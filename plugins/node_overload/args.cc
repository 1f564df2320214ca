// SPDX-License-Identifier: Apache-2.0
#include "plugins/node_overload/args.h"

#include <string_view>
#include <utility>

#include "berth/field_errors.h"
#include "plugins/shared/args_reader.h"
#include "plugins/shared/node_metrics_args.h"

namespace berth::plugins {
namespace {

constexpr std::string_view kThresholds = "thresholds";
constexpr std::string_view kCpuName = "cpu";
constexpr std::string_view kMemoryName = "memory";

struct RawOverloadArgs {
  NodeMetricsArgs metrics;
  bool has_thresholds = false;
  std::vector<std::pair<std::string, int64_t>> thresholds;  // by resource
};

void ReadThresholds(FieldReader& fields, RawOverloadArgs& args) {
  const ConfigValue* thresholds = fields.Get(kThresholds);
  if (thresholds == nullptr) return;
  if (thresholds->map() == nullptr) {
    fields.Invalid(kThresholds, thresholds->ToJson(), "must be a map of percentages by resource");
    return;
  }
  args.has_thresholds = true;
  for (const auto& [resource, value] : *thresholds->map()) {
    if (const int64_t* percent = value.integer()) {
      args.thresholds.emplace_back(resource, *percent);
    } else {
      fields.Invalid(std::string(kThresholds) + "." + resource, value.ToJson(),
                     "must be an integer");
    }
  }
}

Result<RawOverloadArgs> ReadOverloadArgs(const ConfigValue& value, const std::string& path) {
  RawOverloadArgs args;
  FieldReader fields(value, path);
  ReadTypeMeta(fields, "NodeOverload");
  args.metrics = ReadNodeMetricsArgs(fields);
  ReadThresholds(fields, args);
  if (auto error = fields.Finish()) return Fail(std::move(*error));
  return args;
}

std::vector<std::string> OverloadProblems(const RawOverloadArgs& args, const std::string& parent) {
  std::vector<std::string> problems = NodeMetricsProblems(args.metrics, parent);
  for (const auto& [resource, percent] : args.thresholds) {
    const std::string field = FieldPath(FieldPath(parent, kThresholds), resource);
    if (resource != kCpuName && resource != kMemoryName) {
      problems.push_back(InvalidField(field, std::to_string(percent), "must be of cpu or memory"));
    } else if (percent < 1 || percent > 100) {
      problems.push_back(
          InvalidField(field, std::to_string(percent), "not in valid range [1, 100]"));
    }
  }
  return problems;
}

}  // namespace

Result<NodeOverloadArgs> ParseNodeOverloadArgs(const ConfigValue& value) {
  auto raw = ReadOverloadArgs(value, "");
  if (!raw) return Fail(raw.error());
  if (auto error = AggregateProblems(OverloadProblems(*raw, ""))) return Fail(std::move(*error));
  NodeOverloadArgs args;
  args.source = SourceOf(raw->metrics);
  if (!raw->has_thresholds) return args;
  args.cpu_threshold.reset();
  args.memory_threshold.reset();
  for (const auto& [resource, percent] : raw->thresholds) {
    (resource == kCpuName ? args.cpu_threshold : args.memory_threshold) = percent;
  }
  return args;
}

ConfigValue NodeOverloadArgsWithDefaults(const ConfigValue& args, const ArgsFeatures&) {
  const NodeOverloadArgs defaults;
  return WithDefault(NodeMetricsArgsWithDefaults(args), kThresholds,
                     ConfigValue(ConfigValue::Map{
                         {std::string(kCpuName), ConfigValue(*defaults.cpu_threshold)},
                         {std::string(kMemoryName), ConfigValue(*defaults.memory_threshold)}}));
}

std::vector<std::string> NodeOverloadArgsProblems(const ConfigValue& args, const std::string& path,
                                                  const ArgsFeatures&) {
  const auto read = ReadOverloadArgs(args, path);
  return read ? OverloadProblems(*read, path) : std::vector<std::string>{read.error().message};
}

}  // namespace berth::plugins
