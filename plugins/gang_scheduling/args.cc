// SPDX-License-Identifier: Apache-2.0
#include "plugins/gang_scheduling/args.h"

#include <string>
#include <vector>

namespace berth::plugins {
namespace {

constexpr std::string_view kGangSearchSteps = "searchSteps";

GangSchedulingArgs ReadGangArgs(FieldReader& fields) {
  GangSchedulingArgs args;
  fields.Read(kGangSearchSteps, args.search_steps);
  return args;
}

std::vector<std::string> GangProblems(const GangSchedulingArgs& args, const std::string& path) {
  std::vector<std::string> problems;
  CheckRange(args.search_steps, 0, INT64_MAX, FieldPath(path, kGangSearchSteps), problems);
  return problems;
}

}  // namespace

constexpr ArgsKind<GangSchedulingArgs> kGangSchedulingArgs =
    MakeArgsKind<"GangScheduling", ReadGangArgs, GangProblems>();

}  // namespace berth::plugins
