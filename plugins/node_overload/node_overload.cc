// SPDX-License-Identifier: Apache-2.0
#include "plugins/node_overload/node_overload.h"

#include <utility>

#include "berth/in_tree/eviction.h"
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

RawOverloadArgs ReadOverloadArgs(FieldReader& fields) {
  RawOverloadArgs args;
  args.metrics = ReadNodeMetricsArgs(fields);
  ReadThresholds(fields, args);
  return args;
}

std::vector<std::string> OverloadProblems(const RawOverloadArgs& args, const std::string& parent) {
  std::vector<std::string> problems = NodeMetricsProblems(args.metrics, parent);
  for (const auto& [resource, percent] : args.thresholds) {
    const std::string field = FieldPath(FieldPath(parent, kThresholds), resource);
    if (resource != kCpuName && resource != kMemoryName) {
      problems.push_back(InvalidField(field, std::to_string(percent), "must be of cpu or memory"));
    } else {
      CheckRange(percent, 1, 100, field, problems);
    }
  }
  return problems;
}

NodeOverloadArgs OverloadArgsOf(const RawOverloadArgs& raw) {
  NodeOverloadArgs args;
  args.source = SourceOf(raw.metrics);
  if (!raw.has_thresholds) return args;
  args.cpu_threshold.reset();
  args.memory_threshold.reset();
  for (const auto& [resource, percent] : raw.thresholds) {
    (resource == kCpuName ? args.cpu_threshold : args.memory_threshold) = percent;
  }
  return args;
}

ConfigValue WithOverloadDefaults(const ConfigValue& args, const ArgsFeatures&) {
  const NodeOverloadArgs defaults;
  return WithDefault(NodeMetricsArgsWithDefaults(args), kThresholds,
                     ConfigValue(ConfigValue::Map{
                         {std::string(kCpuName), ConfigValue(*defaults.cpu_threshold)},
                         {std::string(kMemoryName), ConfigValue(*defaults.memory_threshold)}}));
}

bool IsAbove(const MeasuredResource& measured, std::optional<int64_t> threshold) {
  return measured.known && threshold && measured.average > static_cast<double>(*threshold);
}

}  // namespace

constexpr ArgsKind<NodeOverloadArgs> kNodeOverloadArgs =
    MakeArgsKind<"NodeOverload", ReadOverloadArgs, OverloadProblems, OverloadArgsOf>(
        WithOverloadDefaults);

NodeOverload::NodeOverload(const NodeOverloadArgs& args, Handle& handle)
    : args_(args),
      measured_(handle.WatchNodeMetrics(args.source)),
      cpu_(handle.reasons().Make(Code::kUnschedulableAndUnresolvable,
                                 "node(s) were measured to use too much cpu")),
      memory_(handle.reasons().Make(Code::kUnschedulableAndUnresolvable,
                                    "node(s) were measured to use too much memory")) {}

PreFilterResult NodeOverload::PreFilter(CycleState&, const PodInfo& pod, const Snapshot&) {
  return {IsDaemon(*pod.pod) ? Status::Skip() : Status::Success()};
}

Status NodeOverload::VerdictOn(const Snapshot& snapshot, NodeRow row) const {
  const NodeMetrics* measured = measured_.FindOnRow(row, snapshot.node(row).metadata.name);
  if (measured == nullptr) return Status::Success();
  if (IsAbove(measured->cpu, args_.cpu_threshold)) return cpu_;
  if (IsAbove(measured->memory, args_.memory_threshold)) return memory_;
  return Status::Success();
}

Status NodeOverload::Filter(const CycleState&, const PodInfo&, const NodeView& node) const {
  return VerdictOn(node.snapshot(), node.row());
}

Status NodeOverload::FilterNodes(const CycleState&, const PodInfo&, const Snapshot& snapshot,
                                 NodeSet& nodes) const {
  nodes.Filter([&](NodeRow row) { return VerdictOn(snapshot, row).ok(); });
  return Status::Success();
}

}  // namespace berth::plugins
