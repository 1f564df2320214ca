// SPDX-License-Identifier: Apache-2.0
#include "plugins/target_load_packing/args.h"

#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>

#include "berth/api/quantity.h"
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

}  // namespace

constexpr ArgsKind<TargetLoadPackingArgs> kTargetLoadPackingArgs =
    MakeArgsKind<"TargetLoadPacking", ReadTargetLoadPackingArgs, TargetLoadPackingProblems,
                 TargetLoadPackingArgsOf>(WithTargetLoadPackingDefaults);

}  // namespace berth::plugins
