// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "berth/api/boxed.h"
#include "berth/api/meta.h"
#include "berth/api/quantity.h"
#include "berth/api/volume_sources.h"

namespace berth::api {

struct NodeSelectorRequirement {
  std::string key;
  // In, NotIn, Exists, DoesNotExist, Gt, Lt.
  std::string operator_;
  std::vector<std::string> values;

  friend bool operator==(const NodeSelectorRequirement&, const NodeSelectorRequirement&) = default;
};

struct NodeSelectorTerm {
  std::vector<NodeSelectorRequirement> match_expressions;
  std::vector<NodeSelectorRequirement> match_fields;

  friend bool operator==(const NodeSelectorTerm&, const NodeSelectorTerm&) = default;
};

struct NodeSelector {
  std::vector<NodeSelectorTerm> node_selector_terms;

  friend bool operator==(const NodeSelector&, const NodeSelector&) = default;
};

struct PreferredSchedulingTerm {
  int32_t weight = 0;
  NodeSelectorTerm preference;

  friend bool operator==(const PreferredSchedulingTerm&, const PreferredSchedulingTerm&) = default;
};

struct NodeAffinity {
  std::optional<NodeSelector> required_during_scheduling_ignored_during_execution;
  std::vector<PreferredSchedulingTerm> preferred_during_scheduling_ignored_during_execution;

  friend bool operator==(const NodeAffinity&, const NodeAffinity&) = default;
};

struct PodAffinityTerm {
  std::optional<LabelSelector> label_selector;
  std::vector<std::string> namespaces;
  std::string topology_key;
  std::optional<LabelSelector> namespace_selector;
  std::vector<std::string> match_label_keys;
  std::vector<std::string> mismatch_label_keys;

  friend bool operator==(const PodAffinityTerm&, const PodAffinityTerm&) = default;
};

struct WeightedPodAffinityTerm {
  int32_t weight = 0;
  PodAffinityTerm pod_affinity_term;

  friend bool operator==(const WeightedPodAffinityTerm&, const WeightedPodAffinityTerm&) = default;
};

// Used for both pod affinity and pod anti-affinity.
struct PodAffinity {
  std::vector<PodAffinityTerm> required_during_scheduling_ignored_during_execution;
  std::vector<WeightedPodAffinityTerm> preferred_during_scheduling_ignored_during_execution;

  friend bool operator==(const PodAffinity&, const PodAffinity&) = default;
};

struct Affinity {
  std::optional<NodeAffinity> node_affinity;
  std::optional<PodAffinity> pod_affinity;
  std::optional<PodAffinity> pod_anti_affinity;

  friend bool operator==(const Affinity&, const Affinity&) = default;
};

struct Toleration {
  std::string key;
  // "" and Equal compare values; Exists ignores them; Lt and Gt compare integers.
  std::string operator_;
  std::string value;
  // "" tolerates every effect.
  std::string effect;
  std::optional<int64_t> toleration_seconds;

  friend bool operator==(const Toleration&, const Toleration&) = default;
};

struct TopologySpreadConstraint {
  int32_t max_skew = 0;
  std::string topology_key;
  std::string when_unsatisfiable;
  std::optional<LabelSelector> label_selector;
  std::optional<int32_t> min_domains;
  std::optional<std::string> node_affinity_policy;
  std::optional<std::string> node_taints_policy;
  std::vector<std::string> match_label_keys;

  friend bool operator==(const TopologySpreadConstraint&,
                         const TopologySpreadConstraint&) = default;
};

struct ContainerPort {
  int32_t host_port = 0;
  int32_t container_port = 0;
  std::string protocol;
  std::string host_ip;

  friend bool operator==(const ContainerPort&, const ContainerPort&) = default;
};

// A claim of the pod that a container uses; resource.k8s.io has the claim itself.
struct ContainerResourceClaim {
  // Of a PodResourceClaim.
  std::string name;
  // "": all requests of the claim.
  std::string request;

  friend bool operator==(const ContainerResourceClaim&, const ContainerResourceClaim&) = default;
};

struct ResourceRequirements {
  ResourceList limits;
  ResourceList requests;
  std::vector<ContainerResourceClaim> claims;

  friend bool operator==(const ResourceRequirements&, const ResourceRequirements&) = default;
};

struct ContainerRestartRule {
  std::string action;

  friend bool operator==(const ContainerRestartRule&, const ContainerRestartRule&) = default;
};

struct VolumeMount {
  std::vector<std::string> bind_mount_options;

  friend bool operator==(const VolumeMount&, const VolumeMount&) = default;
};

struct Container {
  std::string name;
  std::string image;
  std::vector<ContainerPort> ports;
  ResourceRequirements resources;
  // "Always" makes an init container a sidecar.
  std::optional<std::string> restart_policy;
  std::vector<ContainerRestartRule> restart_policy_rules;
  std::vector<VolumeMount> volume_mounts;

  bool restartable() const { return restart_policy == "Always"; }
  friend bool operator==(const Container&, const Container&) = default;
};

struct EphemeralContainer {
  std::vector<VolumeMount> volume_mounts;

  friend bool operator==(const EphemeralContainer&, const EphemeralContainer&) = default;
};

struct PodSchedulingGate {
  std::string name;

  friend bool operator==(const PodSchedulingGate&, const PodSchedulingGate&) = default;
};

// A volume; sources that scheduling does not read leave all members empty.
struct Volume {
  std::string name;
  Boxed<EmptyDirVolumeSource> empty_dir;
  Boxed<GCEPersistentDiskVolumeSource> gce_persistent_disk;
  Boxed<AWSElasticBlockStoreVolumeSource> aws_elastic_block_store;
  Boxed<ISCSIVolumeSource> iscsi;
  Boxed<PersistentVolumeClaimVolumeSource> persistent_volume_claim;
  Boxed<RBDVolumeSource> rbd;
  Boxed<CinderVolumeSource> cinder;
  Boxed<AzureFileVolumeSource> azure_file;
  Boxed<VsphereVirtualDiskVolumeSource> vsphere_volume;
  Boxed<AzureDiskVolumeSource> azure_disk;
  Boxed<PortworxVolumeSource> portworx_volume;
  Boxed<CSIVolumeSource> csi;
  Boxed<EphemeralVolumeSource> ephemeral;
  Boxed<ImageVolumeSource> image;

  friend bool operator==(const Volume&, const Volume&) = default;
};

struct PodResourceClaim {
  std::string name;
  std::optional<std::string> resource_claim_name;
  std::optional<std::string> resource_claim_template_name;

  friend bool operator==(const PodResourceClaim&, const PodResourceClaim&) = default;
};

struct PodSchedulingGroup {
  std::optional<std::string> pod_group_name;

  friend bool operator==(const PodSchedulingGroup&, const PodSchedulingGroup&) = default;
};

struct PodSpec {
  std::string node_name;
  std::string scheduler_name;
  std::optional<int32_t> priority;
  std::string priority_class_name;
  std::optional<std::string> preemption_policy;
  StringMap node_selector;
  Boxed<Affinity> affinity;
  std::vector<Toleration> tolerations;
  std::vector<TopologySpreadConstraint> topology_spread_constraints;
  std::vector<Container> init_containers;
  std::vector<Container> containers;
  std::vector<EphemeralContainer> ephemeral_containers;
  ResourceList overhead;
  Boxed<ResourceRequirements> resources;
  std::vector<PodSchedulingGate> scheduling_gates;
  std::vector<Volume> volumes;
  std::vector<PodResourceClaim> resource_claims;
  Boxed<PodSchedulingGroup> scheduling_group;
  bool host_network = false;
  // false: in a user namespace of its own.
  std::optional<bool> host_users;

  friend bool operator==(const PodSpec&, const PodSpec&) = default;
};

struct PodCondition {
  std::string type;
  std::string status;
  std::string reason;
  std::string message;
  int64_t observed_generation = 0;
  std::optional<Time> last_transition_time;

  friend bool operator==(const PodCondition&, const PodCondition&) = default;
};

struct ContainerStatus {
  std::string name;
  ResourceList allocated_resources;
  Boxed<ResourceRequirements> resources;

  friend bool operator==(const ContainerStatus&, const ContainerStatus&) = default;
};

struct PodResourceClaimStatus {
  // Of a PodResourceClaim.
  std::string name;
  // nullopt: no claim is needed.
  std::optional<std::string> resource_claim_name;

  friend bool operator==(const PodResourceClaimStatus&, const PodResourceClaimStatus&) = default;
};

struct ContainerExtendedResourceRequest {
  std::string container_name;
  std::string resource_name;
  // In the claim that stands for the pod's extended resources.
  std::string request_name;

  friend bool operator==(const ContainerExtendedResourceRequest&,
                         const ContainerExtendedResourceRequest&) = default;
};

struct PodExtendedResourceClaimStatus {
  std::vector<ContainerExtendedResourceRequest> request_mappings;
  std::string resource_claim_name;

  friend bool operator==(const PodExtendedResourceClaimStatus&,
                         const PodExtendedResourceClaimStatus&) = default;
};

struct NodeAllocatableMappedResources {
  std::string name;
  std::optional<Quantity> quantity;

  friend bool operator==(const NodeAllocatableMappedResources&,
                         const NodeAllocatableMappedResources&) = default;
};

struct NodeAllocatableOverheadResources {
  std::string name;
  std::optional<Quantity> per_pod;
  std::optional<Quantity> per_container;

  friend bool operator==(const NodeAllocatableOverheadResources&,
                         const NodeAllocatableOverheadResources&) = default;
};

// What a claim's devices take of the node's allocatable resources.
struct NodeAllocatableResourceClaimStatus {
  std::string resource_claim_name;
  std::vector<std::string> containers;
  std::vector<NodeAllocatableMappedResources> mapping;
  std::vector<NodeAllocatableOverheadResources> overhead;

  friend bool operator==(const NodeAllocatableResourceClaimStatus&,
                         const NodeAllocatableResourceClaimStatus&) = default;
};

struct PodStatus {
  std::string phase;
  std::string nominated_node_name;
  std::optional<Time> start_time;
  std::vector<PodCondition> conditions;
  std::vector<ContainerStatus> init_container_statuses;
  std::vector<ContainerStatus> container_statuses;
  std::vector<PodResourceClaimStatus> resource_claim_statuses;
  Boxed<PodExtendedResourceClaimStatus> extended_resource_claim_status;
  std::vector<NodeAllocatableResourceClaimStatus> node_allocatable_resource_claim_statuses;
  ResourceList allocated_resources;
  Boxed<ResourceRequirements> resources;

  friend bool operator==(const PodStatus&, const PodStatus&) = default;
};

struct Pod {
  ObjectMeta metadata;
  PodSpec spec;
  PodStatus status;
  SourceText source;

  int32_t priority() const { return spec.priority.value_or(0); }
  friend bool operator==(const Pod&, const Pod&) = default;
};

}  // namespace berth::api
