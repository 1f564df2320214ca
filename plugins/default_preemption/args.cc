// SPDX-License-Identifier: Apache-2.0
#include "plugins/default_preemption/args.h"

#include <string>
#include <vector>

#include "berth/field_errors.h"
#include "plugins/shared/args_reader.h"

namespace berth::plugins {
namespace {

constexpr std::string_view kPercentage = "minCandidateNodesPercentage";
constexpr std::string_view kAbsolute = "minCandidateNodesAbsolute";

}  // namespace

Result<DefaultPreemptionArgs> ParseDefaultPreemptionArgs(const ConfigValue& value) {
  DefaultPreemptionArgs args;
  FieldReader fields(value, "");
  ReadTypeMeta(fields, "DefaultPreemption");
  fields.Read(kPercentage, args.min_candidate_nodes_percentage);
  fields.Read(kAbsolute, args.min_candidate_nodes_absolute);
  if (auto error = fields.Finish()) return Fail(std::move(*error));

  const int32_t percentage = args.min_candidate_nodes_percentage;
  const int32_t absolute = args.min_candidate_nodes_absolute;
  std::vector<std::string> problems;
  if (percentage < 0 || percentage > 100) {
    problems.push_back(
        InvalidField(kPercentage, std::to_string(percentage), "not in valid range [0, 100]"));
  }
  if (absolute < 0) {
    problems.push_back(
        InvalidField(kAbsolute, std::to_string(absolute), "not in valid range [0, inf)"));
  }
  if (percentage == 0 && absolute == 0) {
    problems.push_back(InvalidField(
        kPercentage, "0", "cannot be zero at the same time as minCandidateNodesAbsolute"));
    problems.push_back(InvalidField(
        kAbsolute, "0", "cannot be zero at the same time as minCandidateNodesPercentage"));
  }
  if (auto error = AggregateProblems(problems)) return Fail(std::move(*error));
  return args;
}

}  // namespace berth::plugins
