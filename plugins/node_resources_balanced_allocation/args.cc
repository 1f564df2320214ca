// SPDX-License-Identifier: Apache-2.0
#include "plugins/node_resources_balanced_allocation/args.h"

#include <algorithm>

namespace berth::plugins {
namespace {

constexpr std::string_view kResources = "resources";

std::vector<std::string> BalancedProblems(const NodeResourcesBalancedAllocationArgs& args,
                                          const std::string& parent) {
  const std::vector<ResourceSpec>& resources = args.resources;
  std::vector<std::string> problems;
  for (auto at = resources.begin(); at != resources.end(); ++at) {
    const std::string path =
        IndexedPath(FieldPath(parent, kResources), static_cast<size_t>(at - resources.begin()));
    if (std::any_of(resources.begin(), at,
                    [&](const ResourceSpec& other) { return other.name == at->name; })) {
      problems.push_back(DuplicateField(path + ".name", Quoted(at->name)));
    }
    if (at->weight != 1) {
      problems.push_back(InvalidField(path + ".weight", std::to_string(at->weight), "must be 1"));
    }
  }
  return problems;
}

NodeResourcesBalancedAllocationArgs ReadBalancedArgs(FieldReader& fields) {
  NodeResourcesBalancedAllocationArgs args;
  args.resources = ReadResources(fields, kResources);
  return args;
}

ConfigValue WithBalancedDefaults(const ConfigValue& args, const ArgsFeatures&) {
  return WithField(args, kResources, WithDefaultResources(args.Find(kResources)));
}

}  // namespace

constexpr ArgsKind<NodeResourcesBalancedAllocationArgs> kNodeResourcesBalancedAllocationArgs =
    MakeArgsKind<"NodeResourcesBalancedAllocation", ReadBalancedArgs, BalancedProblems>(
        WithBalancedDefaults);

}  // namespace berth::plugins
