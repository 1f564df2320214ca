// SPDX-License-Identifier: Apache-2.0
#include "plugins/coscheduling/args.h"

#include <string_view>
#include <utility>

namespace berth::plugins {
namespace {

constexpr std::string_view kPermitWaitingTime = "permitWaitingTimeSeconds";
constexpr std::string_view kPodGroupBackoff = "podGroupBackoffSeconds";
constexpr std::string_view kPodGroupRejectPercentage = "podGroupRejectPercentage";
constexpr std::string_view kCoschedulingSearchSteps = "searchSteps";
// A century: later than that no clock of ours goes.
constexpr int64_t kMaxSeconds = int64_t{100} * 365 * 24 * 60 * 60;

CoschedulingArgs ReadCoschedulingArgs(FieldReader& fields) {
  CoschedulingArgs args;
  fields.Read(kPermitWaitingTime, args.permit_waiting_time_seconds);
  fields.Read(kPodGroupBackoff, args.pod_group_backoff_seconds);
  fields.Read(kPodGroupRejectPercentage, args.pod_group_reject_percentage);
  fields.Read(kCoschedulingSearchSteps, args.search_steps);
  return args;
}

std::vector<std::string> CoschedulingProblems(const CoschedulingArgs& args,
                                              const std::string& parent) {
  std::vector<std::string> problems;
  const auto check = [&](std::string_view field, int64_t value, int64_t highest) {
    CheckRange(value, 0, highest, FieldPath(parent, field), problems);
  };
  check(kPermitWaitingTime, args.permit_waiting_time_seconds, kMaxSeconds);
  check(kPodGroupBackoff, args.pod_group_backoff_seconds, kMaxSeconds);
  check(kPodGroupRejectPercentage, args.pod_group_reject_percentage, 100);
  check(kCoschedulingSearchSteps, args.search_steps, INT64_MAX);
  return problems;
}

ConfigValue WithCoschedulingDefaults(const ConfigValue& args, const ArgsFeatures&) {
  const CoschedulingArgs defaults;
  ConfigValue out =
      WithDefault(args, kPermitWaitingTime, ConfigValue(defaults.permit_waiting_time_seconds));
  out = WithDefault(out, kPodGroupBackoff, ConfigValue(defaults.pod_group_backoff_seconds));
  return WithDefault(out, kPodGroupRejectPercentage,
                     ConfigValue(int64_t{defaults.pod_group_reject_percentage}));
}

}  // namespace

constexpr ArgsKind<CoschedulingArgs> kCoschedulingArgs =
    MakeArgsKind<"Coscheduling", ReadCoschedulingArgs, CoschedulingProblems>(
        WithCoschedulingDefaults);

}  // namespace berth::plugins
