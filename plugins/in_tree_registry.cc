// SPDX-License-Identifier: Apache-2.0
#include "plugins/in_tree_registry.h"

#include <algorithm>
#include <type_traits>

#include "berth/config_value.h"
#include "berth/in_tree/handle.h"
#include "plugins/capacity_scheduling/capacity_scheduling.h"
#include "plugins/coscheduling/coscheduling.h"
#include "plugins/default_binder/default_binder.h"
#include "plugins/default_preemption/default_preemption.h"
#include "plugins/deferred_pod_scheduling/deferred_pod_scheduling.h"
#include "plugins/dynamic_resources/args.h"
#include "plugins/dynamic_resources/dynamic_resources.h"
#include "plugins/fixed_node_order/fixed_node_order.h"
#include "plugins/fragmentation_aware/args.h"
#include "plugins/fragmentation_aware/fragmentation_aware.h"
#include "plugins/gang_scheduling/gang_scheduling.h"
#include "plugins/image_locality/image_locality.h"
#include "plugins/inter_pod_affinity/inter_pod_affinity.h"
#include "plugins/legacy/args/legacy_args.h"
#include "plugins/load_variation_risk_balancing/load_variation_risk_balancing.h"
#include "plugins/low_risk_over_commitment/low_risk_over_commitment.h"
#include "plugins/node_affinity/node_affinity.h"
#include "plugins/node_declared_features/node_declared_features.h"
#include "plugins/node_name/node_name.h"
#include "plugins/node_overload/node_overload.h"
#include "plugins/node_ports/node_ports.h"
#include "plugins/node_resource_topology_match/args.h"
#include "plugins/node_resource_topology_match/node_resource_topology_match.h"
#include "plugins/node_resources_allocatable/node_resources_allocatable.h"
#include "plugins/node_resources_balanced_allocation/node_resources_balanced_allocation.h"
#include "plugins/node_resources_fit/args.h"
#include "plugins/node_resources_fit/node_resources_fit.h"
#include "plugins/node_unschedulable/node_unschedulable.h"
#include "plugins/node_volume_limits/node_volume_limits.h"
#include "plugins/pod_group_pods_count/pod_group_pods_count.h"
#include "plugins/pod_topology_spread/args.h"
#include "plugins/pod_topology_spread/pod_topology_spread.h"
#include "plugins/priority_sort/priority_sort.h"
#include "plugins/relocation/relocation.h"
#include "plugins/scheduling_gates/scheduling_gates.h"
#include "plugins/shared/extended_resource_classes.h"
#include "plugins/taint_toleration/taint_toleration.h"
#include "plugins/target_load_packing/target_load_packing.h"
#include "plugins/topology_placement_generator/topology_placement_generator.h"
#include "plugins/volume_binding/args.h"
#include "plugins/volume_binding/volume_binding.h"
#include "plugins/volume_restrictions/volume_restrictions.h"
#include "plugins/volume_zone/volume_zone.h"
#include "plugins/weighted_topology_spread/args.h"
#include "plugins/weighted_topology_spread/weighted_topology_spread.h"

namespace berth::plugins {
namespace {

// A plugin without args.
template <typename PluginType>
PluginRegistration Register() {
  return {PluginType::kName, [](const ConfigValue&, Handle& handle) -> Result<Plugin> {
            if constexpr (std::is_constructible_v<PluginType, Handle&>) {
              return MakePlugin<PluginType>(handle);
            } else {
              return MakePlugin<PluginType>();
            }
          }};
}

// A plugin with args.
template <typename PluginType, typename Args>
PluginRegistration Register(const ArgsKind<Args>& kind) {
  return {PluginType::kName,
          [parse = kind.parse](const ConfigValue& args, Handle& handle) -> Result<Plugin> {
            const auto parsed = parse(args);
            if (!parsed) return Fail(parsed.error());
            return MakePlugin<PluginType>(*parsed, handle);
          }};
}

bool MayBeOfDevices(const ResourceSpec& resource) { return IsDeviceResourceName(resource.name); }

// A score of resources, which `scored(args)` lists. Where devices can stand for none of them, it is
// kept as a score that needs no normalising.
template <typename PluginType, typename Args, typename Scored>
PluginRegistration RegisterResourceScore(const ArgsKind<Args>& kind, Scored scored) {
  const PluginRegistration plain = Register<PluginType>(kind);
  return {PluginType::kName, [parse = kind.parse, scored, make = plain.factory](
                                 const ConfigValue& args, Handle& handle) {
            Result<Plugin> plugin = make(args, handle);
            const auto parsed = parse(args);
            if (plugin && parsed && std::ranges::none_of(scored(*parsed), MayBeOfDevices)) {
              plugin->score_extensions = nullptr;
            }
            return plugin;
          }};
}

// Without a mix it looks at each pod before that is filtered.
Result<Plugin> MakeFragmentationAware(const ConfigValue& args, Handle& handle) {
  const auto parsed = kFragmentationAwareArgs.parse(args);
  if (!parsed) return Fail(parsed.error());
  if (!parsed->mix.empty()) return MakePlugin<FragmentationAware>(*parsed, handle);
  return MakePlugin<LearningFragmentationAware>(*parsed, handle);
}

// Of the library in plugins/legacy.
constexpr std::string_view kLegacyLibrary = "legacy";

// The args as they are, or with their defaults, where nothing is wrong with them.
template <const auto& kind>
Result<ConfigValue> Prepare(const ConfigValue& args) {
  if (const auto parsed = kind.parse(args); !parsed) return Fail(parsed.error());
  return kind.with_defaults == nullptr ? args : kind.with_defaults(args, ArgsFeatures());
}

// A plugin of the library with args.
template <const auto& kind>
ShippedPlugin Shipped() {
  return {kind.plugin, kLegacyLibrary, Prepare<kind>};
}

}  // namespace

std::vector<PluginRegistration> InTreeRegistry() {
  return {
      Register<SchedulingGates>(),
      Register<PrioritySort>(),
      Register<NodeName>(),
      Register<NodeUnschedulable>(),
      Register<TaintToleration>(),
      Register<NodeAffinity>(kNodeAffinityArgs),
      Register<NodePorts>(),
      RegisterResourceScore<NodeResourcesFit>(
          kNodeResourcesFitArgs,
          [](const NodeResourcesFitArgs& args) { return args.scoring_strategy.resources; }),
      Register<PodTopologySpread>(kPodTopologySpreadArgs),
      Register<InterPodAffinity>(kInterPodAffinityArgs),
      Register<VolumeBinding>(kVolumeBindingArgs),
      Register<DefaultPreemption>(kDefaultPreemptionArgs),
      RegisterResourceScore<NodeResourcesBalancedAllocation>(
          kNodeResourcesBalancedAllocationArgs,
          [](const NodeResourcesBalancedAllocationArgs& args) { return args.resources; }),
      Register<NodeResourcesAllocatable>(kNodeResourcesAllocatableArgs),
      Register<NodeResourceTopologyMatch>(kNodeResourceTopologyMatchArgs),
      Register<CapacityScheduling>(),
      Register<NodeOverload>(kNodeOverloadArgs),
      Register<TargetLoadPacking>(kTargetLoadPackingArgs),
      Register<LoadVariationRiskBalancing>(kLoadVariationRiskBalancingArgs),
      Register<LowRiskOverCommitment>(kLowRiskOverCommitmentArgs),
      Register<ImageLocality>(),
      Register<DefaultBinder>(),
      Register<NodeDeclaredFeatures>(),
      Register<VolumeRestrictions>(),
      Register<NodeVolumeLimits>(),
      Register<VolumeZone>(),
      Register<DynamicResources>(kDynamicResourcesArgs),
      Register<GangScheduling>(kGangSchedulingArgs),
      Register<Coscheduling>(kCoschedulingArgs),
      Register<DeferredPodScheduling>(),
      Register<TopologyPlacementGenerator>(),
      Register<PodGroupPodsCount>(),
      Register<WeightedTopologySpread>(kWeightedTopologySpreadArgs),
      {FragmentationAware::kName, MakeFragmentationAware},
      Register<FixedNodeOrder>(),
      Register<Relocation>(kRelocationArgs),
  };
}

std::vector<ShippedPlugin> ShippedPlugins() {
  return {
      {"AzureDiskLimits", kLegacyLibrary},
      {"CinderLimits", kLegacyLibrary},
      {"EBSLimits", kLegacyLibrary},
      {"GCEPDLimits", kLegacyLibrary},
      Shipped<kNodeLabelArgs>(),
      {"NodePreferAvoidPods", kLegacyLibrary},
      Shipped<kNodeResourcesLeastAllocatedArgs>(),
      Shipped<kNodeResourcesMostAllocatedArgs>(),
      Shipped<kRequestedToCapacityRatioArgs>(),
      {"SelectorSpread", kLegacyLibrary},
      Shipped<kServiceAffinityArgs>(),
  };
}

std::vector<PluginArgs> InTreeArgs() {
  return {
      kCoschedulingArgs,
      kDefaultPreemptionArgs,
      kDynamicResourcesArgs,
      kFragmentationAwareArgs,
      kInterPodAffinityArgs,
      kLoadVariationRiskBalancingArgs,
      kLowRiskOverCommitmentArgs,
      kNodeAffinityArgs,
      kNodeOverloadArgs,
      kNodeResourcesAllocatableArgs,
      kNodeResourceTopologyMatchArgs,
      kNodeResourcesBalancedAllocationArgs,
      // kube-scheduler checks these only when it makes the plugin.
      {NodeResourcesFit::kName, kNodeResourcesFitArgs.with_defaults, nullptr},
      kPodTopologySpreadArgs,
      kRelocationArgs,
      kTargetLoadPackingArgs,
      kVolumeBindingArgs,
      kWeightedTopologySpreadArgs,
      kNodeLabelArgs,
      kNodeResourcesLeastAllocatedArgs,
      kNodeResourcesMostAllocatedArgs,
      kRequestedToCapacityRatioArgs,
      kServiceAffinityArgs,
  };
}

std::vector<DefaultPlugin> DefaultMultiPoint() {
  return {
      {SchedulingGates::kName},
      {PrioritySort::kName},
      {NodeName::kName},
      {NodeUnschedulable::kName},
      {TaintToleration::kName, 3},
      {NodeAffinity::kName, 2},
      {NodePorts::kName},
      {DeferredPodScheduling::kName, 0, "InPlacePodVerticalScalingSchedulerPreemption"},
      {NodeResourcesFit::kName, 1},
      {VolumeRestrictions::kName},
      {NodeVolumeLimits::kName},
      {VolumeBinding::kName},
      {VolumeZone::kName},
      {PodTopologySpread::kName, 2},
      {InterPodAffinity::kName, 2},
      {DynamicResources::kName, 2, "DynamicResourceAllocation"},
      {DefaultPreemption::kName},
      {NodeResourcesBalancedAllocation::kName, 1},
      {ImageLocality::kName, 1},
      {DefaultBinder::kName},
      {NodeDeclaredFeatures::kName, 0, "NodeDeclaredFeatures"},
      {GangScheduling::kName, 0, "GenericWorkload"},
      {TopologyPlacementGenerator::kName, 0, "TopologyAwareWorkloadScheduling"},
      {PodGroupPodsCount::kName, 1, "TopologyAwareWorkloadScheduling"},
  };
}

}  // namespace berth::plugins
