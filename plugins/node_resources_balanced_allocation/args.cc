// SPDX-License-Identifier: Apache-2.0
#include "plugins/node_resources_balanced_allocation/args.h"

#include <algorithm>

#include "berth/field_errors.h"

namespace berth::plugins {
namespace {

std::vector<std::string> Validate(const std::vector<ResourceSpec>& resources) {
  std::vector<std::string> problems;
  for (auto at = resources.begin(); at != resources.end(); ++at) {
    const std::string path = IndexedPath("resources", static_cast<size_t>(at - resources.begin()));
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

}  // namespace

Result<NodeResourcesBalancedAllocationArgs> ParseNodeResourcesBalancedAllocationArgs(
    const ConfigValue& value) {
  NodeResourcesBalancedAllocationArgs args;
  FieldReader fields(value, "");
  ReadTypeMeta(fields, "NodeResourcesBalancedAllocation");
  args.resources = ReadResources(fields, "resources");
  if (auto error = fields.Finish()) return Fail(std::move(*error));
  if (auto error = AggregateProblems(Validate(args.resources))) return Fail(std::move(*error));
  return args;
}

}  // namespace berth::plugins
