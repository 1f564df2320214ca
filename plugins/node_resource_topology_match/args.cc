// SPDX-License-Identifier: Apache-2.0
#include "plugins/node_resource_topology_match/args.h"

#include <string_view>
#include <utility>

namespace berth::plugins {
namespace {

using NumaArgs = NodeResourceTopologyMatchArgs;

constexpr std::string_view kScoringStrategy = "scoringStrategy";
constexpr std::string_view kNumaCache = "cache";
constexpr std::string_view kForeignPodsDetect = "foreignPodsDetect";
constexpr std::string_view kResyncMethod = "resyncMethod";
constexpr std::string_view kResyncScope = "resyncScope";
constexpr std::string_view kInformerMode = "informerMode";

constexpr NamedValue<NumaStrategy> kNumaStrategies[] = {
    {"BalancedAllocation", NumaStrategy::kBalancedAllocation},
    {"LeastAllocated", NumaStrategy::kLeastAllocated},
    {"LeastNUMANodes", NumaStrategy::kLeastNumaNodes},
    {"MostAllocated", NumaStrategy::kMostAllocated},
};
constexpr NamedValue<NumaArgs::ForeignPods> kForeignPodsModes[] = {
    {"All", NumaArgs::ForeignPods::kAll},
    {"None", NumaArgs::ForeignPods::kNone},
    {"OnlyExclusiveResources", NumaArgs::ForeignPods::kOnlyExclusiveResources},
};
constexpr NamedValue<NumaArgs::ResyncMethod> kResyncMethods[] = {
    {"All", NumaArgs::ResyncMethod::kAll},
    {"Autodetect", NumaArgs::ResyncMethod::kAutodetect},
    {"OnlyExclusiveResources", NumaArgs::ResyncMethod::kOnlyExclusiveResources},
};
constexpr NamedValue<NumaArgs::ResyncScope> kResyncScopes[] = {
    {"All", NumaArgs::ResyncScope::kAll},
    {"OnlyResources", NumaArgs::ResyncScope::kOnlyResources},
};
constexpr NamedValue<NumaArgs::InformerMode> kInformerModes[] = {
    {"Dedicated", NumaArgs::InformerMode::kDedicated},
    {"Shared", NumaArgs::InformerMode::kShared},
};

void ReadNumaStrategy(FieldReader& fields, NumaArgs& args) {
  const ConfigValue* value = fields.Get(kScoringStrategy);
  if (value == nullptr) return;
  FieldReader nested = fields.Nested(*value, fields.PathOf(kScoringStrategy));
  // A strategy that is stated has no type of its own.
  if (nested.Get("type") == nullptr) {
    nested.Problem(RequiredField(nested.PathOf("type"), ""));
  } else {
    ReadNamed(nested, "type", kNumaStrategies, args.strategy);
  }
  args.weights.clear();
  for (const ResourceSpec& spec : ReadResources(nested, "resources")) {
    args.weights.emplace_back(spec.name, spec.weight);
  }
  fields.Merge(nested);
}

NumaArgs ReadNumaArgs(FieldReader& fields) {
  NumaArgs args;
  ReadNumaStrategy(fields, args);
  fields.Read("cacheResyncPeriodSeconds", args.cache_resync_period_seconds);
  fields.Read("discardReservedNodes", args.discard_reserved_nodes);
  ReadNested(fields, kNumaCache, [&](FieldReader& nested) {
    ReadNamed(nested, kForeignPodsDetect, kForeignPodsModes, args.foreign_pods);
    ReadNamed(nested, kResyncMethod, kResyncMethods, args.resync_method);
    ReadNamed(nested, kResyncScope, kResyncScopes, args.resync_scope);
    ReadNamed(nested, kInformerMode, kInformerModes, args.informer_mode);
  });
  return args;
}

ConfigValue Text(std::string_view text) { return ConfigValue(std::string(text)); }

ConfigValue WithNumaDefaults(const ConfigValue& args, const ArgsFeatures&) {
  const ConfigValue* strategy = args.Find(kScoringStrategy);
  ConfigValue with_resources = strategy == nullptr
                                   ? ConfigValue(ConfigValue::Map{{"type", Text("LeastAllocated")}})
                                   : *strategy;
  with_resources = WithField(with_resources, "resources",
                             WithDefaultResources(with_resources.Find("resources")));
  ConfigValue out = WithField(args, kScoringStrategy, std::move(with_resources));
  const ConfigValue* stated = args.Find(kNumaCache);
  ConfigValue cache = stated == nullptr ? ConfigValue(ConfigValue::Map()) : *stated;
  cache = WithDefault(cache, kForeignPodsDetect, Text("All"));
  cache = WithDefault(cache, kResyncMethod, Text("Autodetect"));
  cache = WithDefault(cache, kInformerMode, Text("Dedicated"));
  return WithField(out, kNumaCache, std::move(cache));
}

}  // namespace

constexpr ArgsKind<NodeResourceTopologyMatchArgs> kNodeResourceTopologyMatchArgs =
    MakeArgsKind<"NodeResourceTopologyMatch", ReadNumaArgs>(WithNumaDefaults);

}  // namespace berth::plugins
