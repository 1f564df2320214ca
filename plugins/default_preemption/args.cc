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

Result<DefaultPreemptionArgs> Read(const ConfigValue& value, const std::string& path) {
  DefaultPreemptionArgs args;
  FieldReader fields(value, path);
  ReadTypeMeta(fields, "DefaultPreemption");
  fields.Read(kPercentage, args.min_candidate_nodes_percentage);
  fields.Read(kAbsolute, args.min_candidate_nodes_absolute);
  if (auto error = fields.Finish()) return Fail(std::move(*error));
  return args;
}

std::vector<std::string> Problems(const DefaultPreemptionArgs& args, const std::string& path) {
  const std::string percentage_path = FieldPath(path, kPercentage);
  const std::string absolute_path = FieldPath(path, kAbsolute);
  const int32_t percentage = args.min_candidate_nodes_percentage;
  const int32_t absolute = args.min_candidate_nodes_absolute;
  std::vector<std::string> problems;
  if (percentage < 0 || percentage > 100) {
    problems.push_back(
        InvalidField(percentage_path, std::to_string(percentage), "not in valid range [0, 100]"));
  }
  if (absolute < 0) {
    problems.push_back(
        InvalidField(absolute_path, std::to_string(absolute), "not in valid range [0, inf)"));
  }
  if (percentage == 0 && absolute == 0) {
    problems.push_back(InvalidField(
        percentage_path, "0", "cannot be zero at the same time as minCandidateNodesAbsolute"));
    problems.push_back(InvalidField(
        absolute_path, "0", "cannot be zero at the same time as minCandidateNodesPercentage"));
  }
  return problems;
}

}  // namespace

Result<DefaultPreemptionArgs> ParseDefaultPreemptionArgs(const ConfigValue& value) {
  auto args = Read(value, "");
  if (!args) return args;
  if (auto error = AggregateProblems(Problems(*args, ""))) return Fail(std::move(*error));
  return args;
}

ConfigValue DefaultPreemptionArgsWithDefaults(const ConfigValue& args, const ArgsFeatures&) {
  const DefaultPreemptionArgs defaults;
  return WithDefault(
      WithDefault(args, kPercentage, ConfigValue(int64_t{defaults.min_candidate_nodes_percentage})),
      kAbsolute, ConfigValue(int64_t{defaults.min_candidate_nodes_absolute}));
}

std::vector<std::string> DefaultPreemptionArgsProblems(const ConfigValue& args,
                                                       const std::string& path,
                                                       const ArgsFeatures&) {
  const auto read = Read(args, path);
  return read ? Problems(*read, path) : std::vector<std::string>{read.error().message};
}

}  // namespace berth::plugins
