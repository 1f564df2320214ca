// SPDX-License-Identifier: Apache-2.0
#include "plugins/in_tree_registry.h"

#include <algorithm>
#include <type_traits>

#include "berth/config_value.h"
#include "berth/in_tree/handle.h"
#include "plugins/default_binder/default_binder.h"
#include "plugins/default_preemption/args.h"
#include "plugins/default_preemption/default_preemption.h"
#include "plugins/dynamic_resources/args.h"
#include "plugins/dynamic_resources/dynamic_resources.h"
#include "plugins/gang_scheduling/args.h"
#include "plugins/gang_scheduling/gang_scheduling.h"
#include "plugins/image_locality/image_locality.h"
#include "plugins/inter_pod_affinity/args.h"
#include "plugins/inter_pod_affinity/inter_pod_affinity.h"
#include "plugins/legacy/disk_limits.h"
#include "plugins/legacy/node_label.h"
#include "plugins/legacy/node_prefer_avoid_pods.h"
#include "plugins/legacy/resource_scores.h"
#include "plugins/legacy/selector_spread.h"
#include "plugins/legacy/service_affinity.h"
#include "plugins/node_affinity/args.h"
#include "plugins/node_affinity/node_affinity.h"
#include "plugins/node_declared_features/node_declared_features.h"
#include "plugins/node_name/node_name.h"
#include "plugins/node_ports/node_ports.h"
#include "plugins/node_resources_balanced_allocation/args.h"
#include "plugins/node_resources_balanced_allocation/node_resources_balanced_allocation.h"
#include "plugins/node_resources_fit/args.h"
#include "plugins/node_resources_fit/node_resources_fit.h"
#include "plugins/node_unschedulable/node_unschedulable.h"
#include "plugins/node_volume_limits/node_volume_limits.h"
#include "plugins/pod_group_pods_count/pod_group_pods_count.h"
#include "plugins/pod_topology_spread/args.h"
#include "plugins/pod_topology_spread/pod_topology_spread.h"
#include "plugins/priority_sort/priority_sort.h"
#include "plugins/scheduling_gates/scheduling_gates.h"
#include "plugins/shared/extended_resource_classes.h"
#include "plugins/taint_toleration/taint_toleration.h"
#include "plugins/topology_placement_generator/topology_placement_generator.h"
#include "plugins/volume_binding/args.h"
#include "plugins/volume_binding/volume_binding.h"
#include "plugins/volume_restrictions/volume_restrictions.h"
#include "plugins/volume_zone/volume_zone.h"

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

// A plugin whose args parse() reads and checks.
template <typename PluginType, typename Parse>
PluginRegistration Register(Parse parse) {
  return {PluginType::kName, [parse](const ConfigValue& args, Handle& handle) -> Result<Plugin> {
            const auto parsed = parse(args);
            if (!parsed) return Fail(parsed.error());
            return MakePlugin<PluginType>(*parsed, handle);
          }};
}

bool MayBeOfDevices(const ResourceSpec& resource) { return IsDeviceResourceName(resource.name); }

// A score of resources, which `scored(args)` lists. Where devices can stand for none of them, it is
// kept as a score that needs no normalising.
template <typename PluginType, typename Parse, typename Scored>
PluginRegistration RegisterResourceScore(Parse parse, Scored scored) {
  const PluginRegistration plain = Register<PluginType>(parse);
  return {PluginType::kName,
          [parse, scored, make = plain.factory](const ConfigValue& args, Handle& handle) {
            Result<Plugin> plugin = make(args, handle);
            const auto parsed = parse(args);
            if (plugin && parsed && std::ranges::none_of(scored(*parsed), MayBeOfDevices)) {
              plugin->score_extensions = nullptr;
            }
            return plugin;
          }};
}

// What kube-scheduler had once and profiles may still name.
std::vector<PluginRegistration> LegacyPlugins() {
  return {
      Register<AzureDiskLimits>(),
      Register<CinderLimits>(),
      Register<EBSLimits>(),
      Register<GCEPDLimits>(),
      Register<NodeLabel>(ParseNodeLabelArgs),
      Register<NodePreferAvoidPods>(),
      Register<NodeResourcesLeastAllocated>(ParseNodeResourcesLeastAllocatedArgs),
      Register<NodeResourcesMostAllocated>(ParseNodeResourcesMostAllocatedArgs),
      Register<RequestedToCapacityRatio>(ParseRequestedToCapacityRatioArgs),
      Register<SelectorSpread>(),
      Register<ServiceAffinity>(ParseServiceAffinityArgs),
  };
}

// Of kube-scheduler's plugins those that are not there yet and without which pods do as well.
PluginRegistration NotYet(std::string_view name) { return {name, nullptr}; }

}  // namespace

std::vector<PluginRegistration> InTreeRegistry() {
  std::vector<PluginRegistration> registry = {
      Register<SchedulingGates>(),
      Register<PrioritySort>(),
      Register<NodeName>(),
      Register<NodeUnschedulable>(),
      Register<TaintToleration>(),
      Register<NodeAffinity>(ParseNodeAffinityArgs),
      Register<NodePorts>(),
      RegisterResourceScore<NodeResourcesFit>(
          ParseNodeResourcesFitArgs,
          [](const NodeResourcesFitArgs& args) { return args.scoring_strategy.resources; }),
      Register<PodTopologySpread>(ParsePodTopologySpreadArgs),
      Register<InterPodAffinity>(ParseInterPodAffinityArgs),
      Register<VolumeBinding>(ParseVolumeBindingArgs),
      Register<DefaultPreemption>(ParseDefaultPreemptionArgs),
      RegisterResourceScore<NodeResourcesBalancedAllocation>(
          ParseNodeResourcesBalancedAllocationArgs,
          [](const NodeResourcesBalancedAllocationArgs& args) { return args.resources; }),
      Register<ImageLocality>(),
      Register<DefaultBinder>(),
      Register<NodeDeclaredFeatures>(),
      Register<VolumeRestrictions>(),
      Register<NodeVolumeLimits>(),
      Register<VolumeZone>(),
      Register<DynamicResources>(ParseDynamicResourcesArgs),
      Register<GangScheduling>(ParseGangSchedulingArgs),
      NotYet("DeferredPodScheduling"),
      Register<TopologyPlacementGenerator>(),
      Register<PodGroupPodsCount>(),
  };
  for (PluginRegistration& registration : LegacyPlugins()) {
    registry.push_back(std::move(registration));
  }
  return registry;
}

std::vector<PluginArgs> InTreeArgs() {
  return {
      {DefaultPreemption::kName, DefaultPreemptionArgsWithDefaults, DefaultPreemptionArgsProblems},
      {DynamicResources::kName, DynamicResourcesArgsWithDefaults, DynamicResourcesArgsProblems},
      {InterPodAffinity::kName, InterPodAffinityArgsWithDefaults, InterPodAffinityArgsProblems},
      {NodeAffinity::kName, nullptr, NodeAffinityArgsProblems},
      {NodeResourcesBalancedAllocation::kName, NodeResourcesBalancedAllocationArgsWithDefaults,
       NodeResourcesBalancedAllocationArgsProblems},
      // kube-scheduler checks these only when it makes the plugin.
      {NodeResourcesFit::kName, NodeResourcesFitArgsWithDefaults, nullptr},
      {PodTopologySpread::kName, PodTopologySpreadArgsWithDefaults, PodTopologySpreadArgsProblems},
      {VolumeBinding::kName, VolumeBindingArgsWithDefaults, VolumeBindingArgsProblems},
      {NodeLabel::kName, nullptr, NodeLabelArgsProblems},
      {NodeResourcesLeastAllocated::kName, AllocatedArgsWithDefaults,
       NodeResourcesLeastAllocatedArgsProblems},
      {NodeResourcesMostAllocated::kName, AllocatedArgsWithDefaults,
       NodeResourcesMostAllocatedArgsProblems},
      {RequestedToCapacityRatio::kName, RequestedToCapacityRatioArgsWithDefaults,
       RequestedToCapacityRatioArgsProblems},
      {ServiceAffinity::kName, nullptr, ServiceAffinityArgsProblems},
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
      {"DeferredPodScheduling", 0, "InPlacePodVerticalScalingSchedulerPreemption"},
      {NodeResourcesFit::kName, 1},
      {VolumeRestrictions::kName},
      {NodeVolumeLimits::kName},
      {VolumeBinding::kName},
      {VolumeZone::kName},
      {PodTopologySpread::kName, 2},
      {InterPodAffinity::kName, 2},
      {DynamicResources::kName, 2},
      {DefaultPreemption::kName},
      {NodeResourcesBalancedAllocation::kName, 1},
      {ImageLocality::kName, 1},
      {DefaultBinder::kName},
      {NodeDeclaredFeatures::kName},
      {GangScheduling::kName, 0, "GenericWorkload"},
      {TopologyPlacementGenerator::kName, 0, "TopologyAwareWorkloadScheduling"},
      {PodGroupPodsCount::kName, 1, "TopologyAwareWorkloadScheduling"},
  };
}

}  // namespace berth::plugins
