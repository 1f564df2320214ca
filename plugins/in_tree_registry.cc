// SPDX-License-Identifier: Apache-2.0
#include "plugins/in_tree_registry.h"

#include "plugins/default_binder/default_binder.h"
#include "plugins/default_preemption/default_preemption.h"
#include "plugins/image_locality/image_locality.h"
#include "plugins/inter_pod_affinity/inter_pod_affinity.h"
#include "plugins/node_affinity/node_affinity.h"
#include "plugins/node_declared_features/node_declared_features.h"
#include "plugins/node_name/node_name.h"
#include "plugins/node_ports/node_ports.h"
#include "plugins/node_resources_balanced_allocation/node_resources_balanced_allocation.h"
#include "plugins/node_resources_fit/node_resources_fit.h"
#include "plugins/node_unschedulable/node_unschedulable.h"
#include "plugins/pod_topology_spread/pod_topology_spread.h"
#include "plugins/priority_sort/priority_sort.h"
#include "plugins/scheduling_gates/scheduling_gates.h"
#include "plugins/taint_toleration/taint_toleration.h"

namespace berth::plugins {
namespace {

template <typename PluginType>
PluginRegistration Register() {
  return {PluginType::kName, PluginType::Make};
}

}  // namespace

std::vector<PluginRegistration> InTreeRegistry() {
  return {
      Register<SchedulingGates>(),
      Register<PrioritySort>(),
      Register<NodeName>(),
      Register<NodeUnschedulable>(),
      Register<TaintToleration>(),
      Register<NodeAffinity>(),
      Register<NodePorts>(),
      Register<NodeResourcesFit>(),
      Register<PodTopologySpread>(),
      Register<InterPodAffinity>(),
      Register<DefaultPreemption>(),
      Register<NodeResourcesBalancedAllocation>(),
      Register<ImageLocality>(),
      Register<DefaultBinder>(),
      Register<NodeDeclaredFeatures>(),
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
      {NodeResourcesFit::kName, 1},
      {PodTopologySpread::kName, 2},
      {InterPodAffinity::kName, 2},
      {DefaultPreemption::kName},
      {NodeResourcesBalancedAllocation::kName, 1},
      {ImageLocality::kName, 1},
      {DefaultBinder::kName},
      {NodeDeclaredFeatures::kName},
  };
}

}  // namespace berth::plugins
