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
  if (args.search_steps >= 0) return {};
  return {InvalidField(FieldPath(path, kGangSearchSteps), std::to_string(args.search_steps),
                       "not in valid range [0, inf)")};
}

}  // namespace

constexpr ArgsKind<GangSchedulingArgs> kGangSchedulingArgs =
    MakeArgsKind<"GangScheduling", ReadGangArgs, GangProblems>();

}  // namespace berth::plugins
