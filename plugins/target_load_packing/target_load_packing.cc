// SPDX-License-Identifier: Apache-2.0
#include "plugins/target_load_packing/target_load_packing.h"

#include <charconv>
#include <cmath>
#include <optional>

#include "berth/api/quantity.h"
#include "berth/saturating.h"
#include "plugins/shared/measured_load.h"
#include "plugins/shared/node_metrics_args.h"

namespace berth::plugins {
namespace {

constexpr std::string_view kDefaultRequests = "defaultRequests";
constexpr std::string_view kRequestsMultiplier = "defaultRequestsMultiplier";
constexpr std::string_view kTargetUtilization = "targetUtilization";
constexpr std::string_view kDefaultMultiplier = "1.5";

// The args as the file has them.
struct RawTargetLoadPackingArgs {
  NodeMetricsArgs metrics;
  std::optional<api::ResourceList> default_requests;
  std::string multiplier{kDefaultMultiplier};
  int64_t target_utilization = 0;
};

void ReadDefaultRequests(FieldReader& fields, RawTargetLoadPackingArgs& args) {
  const ConfigValue* requests = fields.Get(kDefaultRequests);
  if (requests == nullptr) return;
  if (requests->map() == nullptr) {
    fields.Invalid(kDefaultRequests, requests->ToJson(), "must be a map of resources");
    return;
  }
  args.default_requests.emplace();
  for (const auto& [name, value] : *requests->map()) {
    const auto amount =
        api::Quantity::Parse(value.string() != nullptr ? *value.string() : value.ToJson());
    if (amount) {
      args.default_requests->emplace_back(name, *amount);
    } else {
      fields.Invalid(std::string(kDefaultRequests) + "." + name, value.ToJson(),
                     "must be a quantity");
    }
  }
}

RawTargetLoadPackingArgs ReadTargetLoadPackingArgs(FieldReader& fields) {
  RawTargetLoadPackingArgs args;
  args.metrics = ReadNodeMetricsArgs(fields);
  ReadDefaultRequests(fields, args);
  fields.Read(kRequestsMultiplier, args.multiplier);
  fields.Read(kTargetUtilization, args.target_utilization);
  return args;
}

std::optional<double> MultiplierOf(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if (!std::isfinite(value) || value < 0) return std::nullopt;
  return value;
}

std::vector<std::string> TargetLoadPackingProblems(const RawTargetLoadPackingArgs& args,
                                                   const std::string& parent) {
  std::vector<std::string> problems = NodeMetricsProblems(args.metrics, parent);
  if (!MultiplierOf(args.multiplier)) {
    problems.push_back(InvalidField(FieldPath(parent, kRequestsMultiplier), Quoted(args.multiplier),
                                    "must be a number from 0 on"));
  }
  if (args.target_utilization > 100) {
    problems.push_back(InvalidField(FieldPath(parent, kTargetUtilization),
                                    std::to_string(args.target_utilization),
                                    "must not be greater than 100"));
  }
  return problems;
}

TargetLoadPackingArgs TargetLoadPackingArgsOf(const RawTargetLoadPackingArgs& raw) {
  TargetLoadPackingArgs args;
  args.source = SourceOf(raw.metrics);
  if (raw.default_requests) {
    const api::Quantity* cpu = api::Find(*raw.default_requests, "cpu");
    args.default_milli_cpu = cpu == nullptr ? 0 : cpu->MilliValue();
  }
  args.requests_multiplier = *MultiplierOf(raw.multiplier);
  if (raw.target_utilization > 0) args.target_utilization = raw.target_utilization;
  return args;
}

ConfigValue WithTargetLoadPackingDefaults(const ConfigValue& args, const ArgsFeatures&) {
  const TargetLoadPackingArgs defaults;
  ConfigValue out = NodeMetricsArgsWithDefaults(args);
  out = WithDefault(
      out, kDefaultRequests,
      ConfigValue(ConfigValue::Map{
          {"cpu", ConfigValue(
                      api::Quantity::FromMilli(defaults.default_milli_cpu).ToCanonicalString())}}));
  out = WithDefault(out, kRequestsMultiplier, ConfigValue(std::string(kDefaultMultiplier)));
  const ConfigValue* target = out.Find(kTargetUtilization);
  if (target == nullptr || (target->integer() != nullptr && *target->integer() <= 0)) {
    out = WithField(out, kTargetUtilization, ConfigValue(defaults.target_utilization));
  }
  return out;
}

// Halves away from zero.
int64_t RoundedUse(double milli_cpu) {
  constexpr double kBeyond = 0x1.0p63;
  return milli_cpu >= kBeyond ? kMostAmount : static_cast<int64_t>(std::round(milli_cpu));
}

// Rises from the target at no use to 100 at the target, where it falls to the target, and from
// there to 0 at full use.
double PackingScore(double use, double target) {
  if (use > 100) return 0;
  if (use > target) return target * (100 - use) / (100 - target);
  return (100 - target) * use / target + target;
}

}  // namespace

constexpr ArgsKind<TargetLoadPackingArgs> kTargetLoadPackingArgs =
    MakeArgsKind<"TargetLoadPacking", ReadTargetLoadPackingArgs, TargetLoadPackingProblems,
                 TargetLoadPackingArgsOf>(WithTargetLoadPackingDefaults);

TargetLoadPacking::TargetLoadPacking(const TargetLoadPackingArgs& args, Handle& handle)
    : args_(args), measured_(handle.WatchNodeMetrics(args.source)) {}

Inputs TargetLoadPacking::DeclaredInputs() const {
  return Inputs::Of(pod_part::kRequests | pod_part::kLimits,
                    {{Reach::kNode}, {Reach::kUsage}, {Reach::kMeasured}});
}

int64_t TargetLoadPacking::ExpectedUse(const api::Pod& pod) const {
  int64_t sum = 0;
  for (const api::Container& container : pod.spec.containers) {
    int64_t use = args_.default_milli_cpu;
    if (const api::Quantity* limit = api::Find(container.resources.limits, "cpu")) {
      use = limit->MilliValue();
    } else if (const api::Quantity* request = api::Find(container.resources.requests, "cpu")) {
      use = RoundedUse(static_cast<double>(request->MilliValue()) * args_.requests_multiplier);
    }
    sum = SumSaturated(sum, use);
  }
  if (const api::Quantity* overhead = api::Find(pod.spec.overhead, "cpu")) {
    sum = SumSaturated(sum, overhead->MilliValue());
  }
  return sum;
}

int64_t TargetLoadPacking::ScoreOf(int64_t expected_use, const Snapshot& snapshot,
                                   NodeRow row) const {
  const api::Node& node = snapshot.node(row);
  const NodeMetrics* measured = measured_.FindOnRow(row, node.metadata.name);
  if (measured == nullptr || !measured->cpu.last) return kMinNodeScore;
  const api::Quantity* cpu = api::Find(node.status.capacity, "cpu");
  const double capacity = cpu == nullptr ? 0 : static_cast<double>(cpu->MilliValue());
  int64_t unmeasured = 0;
  for (const auto& placed : measured_.UnmeasuredPods(node.metadata.name)) {
    unmeasured = SumSaturated(unmeasured, ExpectedUse(*placed));
  }
  double use = 0;
  if (capacity != 0) {
    use = 100 *
          (*measured->cpu.last / 100 * capacity + static_cast<double>(expected_use) +
           static_cast<double>(unmeasured)) /
          capacity;
  }
  return RoundedScore(PackingScore(use, static_cast<double>(args_.target_utilization)));
}

ScoreResult TargetLoadPacking::Score(const CycleState&, const PodInfo& pod,
                                     const NodeView& node) const {
  return {ScoreOf(ExpectedUse(*pod.pod), node.snapshot(), node.row())};
}

void TargetLoadPacking::ScoreNodes(const CycleState&, const PodInfo& pod, const Snapshot& snapshot,
                                   std::span<const NodeRow> nodes,
                                   std::span<int64_t> scores) const {
  const int64_t expected_use = ExpectedUse(*pod.pod);
  for (size_t i = 0; i < nodes.size(); ++i) {
    scores[i] = ScoreOf(expected_use, snapshot, nodes[i]);
  }
}

}  // namespace berth::plugins
