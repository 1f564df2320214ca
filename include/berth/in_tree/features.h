// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace berth::inline in_tree {

// Feature gates that change what plugins do, as resolved at start, and what the environment says
// about them. Defaults are Kubernetes 1.37's.
struct Features {
  bool pod_level_resources = true;
  bool in_place_pod_level_resources_vertical_scaling = true;
  bool in_place_pod_vertical_scaling_scheduler_preemption = false;
  bool nominated_node_name_for_expectation = true;
  bool scheduler_pop_from_backoff_q = true;
  bool taint_toleration_comparison_operators = false;
  bool match_label_keys_in_pod_topology_spread = true;
  bool storage_capacity_scoring = true;
  bool volume_limit_scaling = true;

  bool dra_consumable_capacity = true;
  bool dra_derived_attributes = false;
  // With DRAResourceClaimDeviceStatus.
  bool dra_device_binding_conditions = true;
  bool dra_device_compatibility_groups = false;
  bool dra_device_taint_rules = true;
  bool dra_device_taints = true;
  bool dra_fractional_capacity_range = false;
  bool dra_list_type_attributes = false;
  bool dra_node_allocatable_resources = false;
  bool dra_optional_node_operations = false;
  bool dra_partitionable_devices = true;
  bool dra_scheduler_filter_timeout = true;
  bool dra_workload_resource_claims = false;

  bool generic_workload = false;
  bool composite_pod_group = false;
  bool pod_group_preemption_policy = false;
  bool topology_aware_workload_scheduling = false;

  // No gate: a profile enables the plugin Coscheduling.
  bool coscheduling = false;
  // The same of NodeResourceTopologyMatch, and of CapacityScheduling.
  bool node_resource_topologies = false;
  bool elastic_quotas = false;
  // Of berth::PluginKinds() those that plugins of libraries which a profile enables ask for, as
  // bits.
  uint64_t plugin_kinds = 0;

  // KUBE_MAX_PD_VOLS: how many disks of one cloud provider a node takes; 0: not set.
  int32_t max_pd_volumes = 0;

  // Whether pods are queued and tried by groups, of whichever kind.
  bool pod_groups() const { return generic_workload || coscheduling; }
};

}  // namespace berth::inline in_tree
