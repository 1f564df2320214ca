// SPDX-License-Identifier: Apache-2.0
#include "plugins/node_resources_balanced_allocation/args.h"

#include <algorithm>

#include "berth/field_errors.h"

namespace berth::plugins {
namespace {

constexpr std::string_view kResources = "resources";

std::vector<std::string> Problems(const std::vector<ResourceSpec>& resources,
                                  const std::string& parent) {
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

Result<NodeResourcesBalancedAllocationArgs> Read(const ConfigValue& value,
                                                 const std::string& path) {
  NodeResourcesBalancedAllocationArgs args;
  FieldReader fields(value, path);
  ReadTypeMeta(fields, "NodeResourcesBalancedAllocation");
  args.resources = ReadResources(fields, kResources);
  if (auto error = fields.Finish()) return Fail(std::move(*error));
  return args;
}

}  // namespace

Result<NodeResourcesBalancedAllocationArgs> ParseNodeResourcesBalancedAllocationArgs(
    const ConfigValue& value) {
  auto args = Read(value, "");
  if (!args) return args;
  if (auto error = AggregateProblems(Problems(args->resources, ""))) return Fail(std::move(*error));
  return args;
}

ConfigValue NodeResourcesBalancedAllocationArgsWithDefaults(const ConfigValue& args,
                                                            const ArgsFeatures&) {
  return WithField(args, kResources, WithDefaultResources(args.Find(kResources)));
}

std::vector<std::string> NodeResourcesBalancedAllocationArgsProblems(const ConfigValue& args,
                                                                     const std::string& path,
                                                                     const ArgsFeatures&) {
  const auto read = Read(args, path);
  return read ? Problems(read->resources, path) : std::vector<std::string>{read.error().message};
}

}  // namespace berth::plugins
