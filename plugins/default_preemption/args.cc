// SPDX-License-Identifier: Apache-2.0
#include "plugins/default_preemption/args.h"

namespace berth::plugins {
namespace {

constexpr std::string_view kPercentage = "minCandidateNodesPercentage";
constexpr std::string_view kAbsolute = "minCandidateNodesAbsolute";

DefaultPreemptionArgs ReadPreemptionArgs(FieldReader& fields) {
  DefaultPreemptionArgs args;
  fields.Read(kPercentage, args.min_candidate_nodes_percentage);
  fields.Read(kAbsolute, args.min_candidate_nodes_absolute);
  return args;
}

std::vector<std::string> PreemptionProblems(const DefaultPreemptionArgs& args,
                                            const std::string& path) {
  const std::string percentage_path = FieldPath(path, kPercentage);
  const std::string absolute_path = FieldPath(path, kAbsolute);
  const int32_t percentage = args.min_candidate_nodes_percentage;
  const int32_t absolute = args.min_candidate_nodes_absolute;
  std::vector<std::string> problems;
  CheckRange(percentage, 0, 100, percentage_path, problems);
  CheckRange(absolute, 0, INT64_MAX, absolute_path, problems);
  if (percentage == 0 && absolute == 0) {
    problems.push_back(InvalidField(
        percentage_path, "0", "cannot be zero at the same time as minCandidateNodesAbsolute"));
    problems.push_back(InvalidField(
        absolute_path, "0", "cannot be zero at the same time as minCandidateNodesPercentage"));
  }
  return problems;
}

ConfigValue WithPreemptionDefaults(const ConfigValue& args, const ArgsFeatures&) {
  const DefaultPreemptionArgs defaults;
  return WithDefault(
      WithDefault(args, kPercentage, ConfigValue(int64_t{defaults.min_candidate_nodes_percentage})),
      kAbsolute, ConfigValue(int64_t{defaults.min_candidate_nodes_absolute}));
}

}  // namespace

constexpr ArgsKind<DefaultPreemptionArgs> kDefaultPreemptionArgs =
    MakeArgsKind<"DefaultPreemption", ReadPreemptionArgs, PreemptionProblems>(
        WithPreemptionDefaults);

}  // namespace berth::plugins
