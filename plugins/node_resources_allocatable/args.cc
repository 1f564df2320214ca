// SPDX-License-Identifier: Apache-2.0
#include "plugins/node_resources_allocatable/args.h"

#include <algorithm>
#include <utility>

namespace berth::plugins {
namespace {

constexpr std::string_view kAllocatableResources = "resources";
constexpr std::string_view kMode = "mode";
constexpr std::string_view kModes[] = {"Least", "Most"};

// The args as the file has them; empty where it says nothing.
struct RawAllocatableArgs {
  std::vector<ResourceSpec> resources;
  std::string mode;
};

RawAllocatableArgs ReadAllocatableArgs(FieldReader& fields) {
  RawAllocatableArgs args;
  ReadEach(fields, kAllocatableResources, [&](FieldReader& entry) {
    ResourceSpec& spec = args.resources.emplace_back();
    entry.Read("name", spec.name);
    entry.Read("weight", spec.weight);
  });
  fields.Read(kMode, args.mode);
  return args;
}

std::vector<std::string> AllocatableProblems(const RawAllocatableArgs& args,
                                             const std::string& parent) {
  std::vector<std::string> problems;
  for (size_t i = 0; i < args.resources.size(); ++i) {
    if (args.resources[i].weight > 0) continue;
    problems.push_back(
        InvalidField(IndexedPath(FieldPath(parent, kAllocatableResources), i) + ".weight",
                     std::to_string(args.resources[i].weight), "must be greater than 0"));
  }
  if (!args.mode.empty() && std::ranges::find(kModes, args.mode) == std::end(kModes)) {
    problems.push_back(UnsupportedField(FieldPath(parent, kMode), Quoted(args.mode), kModes));
  }
  return problems;
}

NodeResourcesAllocatableArgs AllocatableArgsOf(RawAllocatableArgs raw) {
  NodeResourcesAllocatableArgs args;
  if (!raw.resources.empty()) args.resources.clear();
  for (ResourceSpec& spec : raw.resources) {
    const auto known = std::ranges::find(args.resources, spec.name, &ResourceSpec::name);
    if (known == args.resources.end()) {
      args.resources.push_back(std::move(spec));
    } else {
      known->weight = spec.weight;
    }
  }
  if (raw.mode == kModes[1]) args.mode = AllocatableMode::kMost;
  return args;
}

ConfigValue WithAllocatableDefaults(const ConfigValue& args, const ArgsFeatures&) {
  ConfigValue out = args;
  const ConfigValue* resources = args.Find(kAllocatableResources);
  const bool none =
      resources == nullptr || (resources->list() != nullptr && resources->list()->empty());
  if (none) {
    ConfigValue::List defaults;
    for (const ResourceSpec& spec : NodeResourcesAllocatableArgs().resources) {
      defaults.emplace_back(
          ConfigValue::Map{{"name", ConfigValue(spec.name)}, {"weight", ConfigValue(spec.weight)}});
    }
    out = WithField(out, kAllocatableResources, ConfigValue(std::move(defaults)));
  }
  const ConfigValue* mode = args.Find(kMode);
  if (mode == nullptr || (mode->string() != nullptr && mode->string()->empty())) {
    out = WithField(out, kMode, ConfigValue(std::string(kModes[0])));
  }
  return out;
}

}  // namespace

constexpr ArgsKind<NodeResourcesAllocatableArgs> kNodeResourcesAllocatableArgs =
    MakeArgsKind<"NodeResourcesAllocatable", ReadAllocatableArgs, AllocatableProblems,
                 AllocatableArgsOf>(WithAllocatableDefaults);

}  // namespace berth::plugins
