// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "berth/api/node.h"
#include "berth/api/pod.h"
#include "src/api/field_table.h"
#include "src/api/tables_meta.h"
#include "src/api/tables_volume.h"

// Field tables of Pod. Numbers are those of k8s.io/api/core/v1/generated.proto.

namespace berth::api {

// Field tables of Node. Numbers are those of k8s.io/api/core/v1/generated.proto.

template <>
struct FieldsOf<Taint> {
  static constexpr auto kFields =
      Table(Field<1, &Taint::key>("key"), Field<2, &Taint::value>("value"),
            Field<3, &Taint::effect>("effect"));
};

template <>
struct FieldsOf<NodePodPreemptionPolicy> {
  static constexpr auto kFields = Table(
      Field<1, &NodePodPreemptionPolicy::disable_resize_preemption>("disableResizePreemption"));
};

template <>
struct FieldsOf<NodeSpec> {
  static constexpr auto kFields = Table(
      Field<4, &NodeSpec::unschedulable>("unschedulable"), Field<5, &NodeSpec::taints>("taints"),
      Field<8, &NodeSpec::pod_preemption_policy>("podPreemptionPolicy"));
};

template <>
struct FieldsOf<NodeCondition> {
  static constexpr auto kFields =
      Table(Field<1, &NodeCondition::type>("type"), Field<2, &NodeCondition::status>("status"));
};

template <>
struct FieldsOf<ContainerImage> {
  static constexpr auto kFields = Table(Field<1, &ContainerImage::names>("names"),
                                        Field<2, &ContainerImage::size_bytes>("sizeBytes"));
};

template <>
struct FieldsOf<NodeStatus> {
  static constexpr auto kFields = Table(
      Field<1, &NodeStatus::capacity>("capacity"),
      Field<2, &NodeStatus::allocatable>("allocatable"),
      Field<4, &NodeStatus::conditions>("conditions"), Field<8, &NodeStatus::images>("images"),
      Field<14, &NodeStatus::declared_features>("declaredFeatures"));
};

template <>
struct FieldsOf<Node> {
  static constexpr auto kFields =
      Table(Field<1, &Node::metadata>("metadata"), Field<2, &Node::spec>("spec"),
            Field<3, &Node::status>("status"));
};

// Field tables of what a pod asks of its node and of other pods. Numbers are those of
// k8s.io/api/core/v1/generated.proto.

template <>
struct FieldsOf<NodeSelectorRequirement> {
  static constexpr auto kFields = Table(Field<1, &NodeSelectorRequirement::key>("key"),
                                        Field<2, &NodeSelectorRequirement::operator_>("operator"),
                                        Field<3, &NodeSelectorRequirement::values>("values"));
};

template <>
struct FieldsOf<NodeSelectorTerm> {
  static constexpr auto kFields =
      Table(Field<1, &NodeSelectorTerm::match_expressions>("matchExpressions"),
            Field<2, &NodeSelectorTerm::match_fields>("matchFields"));
};

template <>
struct FieldsOf<NodeSelector> {
  static constexpr auto kFields =
      Table(Field<1, &NodeSelector::node_selector_terms>("nodeSelectorTerms"));
};

template <>
struct FieldsOf<PreferredSchedulingTerm> {
  static constexpr auto kFields =
      Table(Field<1, &PreferredSchedulingTerm::weight>("weight"),
            Field<2, &PreferredSchedulingTerm::preference>("preference"));
};

template <>
struct FieldsOf<NodeAffinity> {
  static constexpr auto kFields =
      Table(Field<1, &NodeAffinity::required_during_scheduling_ignored_during_execution>(
                "requiredDuringSchedulingIgnoredDuringExecution"),
            Field<2, &NodeAffinity::preferred_during_scheduling_ignored_during_execution>(
                "preferredDuringSchedulingIgnoredDuringExecution"));
};

template <>
struct FieldsOf<PodAffinityTerm> {
  static constexpr auto kFields =
      Table(Field<1, &PodAffinityTerm::label_selector>("labelSelector"),
            Field<2, &PodAffinityTerm::namespaces>("namespaces"),
            Field<3, &PodAffinityTerm::topology_key>("topologyKey"),
            Field<4, &PodAffinityTerm::namespace_selector>("namespaceSelector"),
            Field<5, &PodAffinityTerm::match_label_keys>("matchLabelKeys"),
            Field<6, &PodAffinityTerm::mismatch_label_keys>("mismatchLabelKeys"));
};

template <>
struct FieldsOf<WeightedPodAffinityTerm> {
  static constexpr auto kFields =
      Table(Field<1, &WeightedPodAffinityTerm::weight>("weight"),
            Field<2, &WeightedPodAffinityTerm::pod_affinity_term>("podAffinityTerm"));
};

// PodAffinity and PodAntiAffinity have the same fields under the same numbers.
template <>
struct FieldsOf<PodAffinity> {
  static constexpr auto kFields =
      Table(Field<1, &PodAffinity::required_during_scheduling_ignored_during_execution>(
                "requiredDuringSchedulingIgnoredDuringExecution"),
            Field<2, &PodAffinity::preferred_during_scheduling_ignored_during_execution>(
                "preferredDuringSchedulingIgnoredDuringExecution"));
};

template <>
struct FieldsOf<Affinity> {
  static constexpr auto kFields = Table(Field<1, &Affinity::node_affinity>("nodeAffinity"),
                                        Field<2, &Affinity::pod_affinity>("podAffinity"),
                                        Field<3, &Affinity::pod_anti_affinity>("podAntiAffinity"));
};

template <>
struct FieldsOf<Toleration> {
  static constexpr auto kFields =
      Table(Field<1, &Toleration::key>("key"), Field<2, &Toleration::operator_>("operator"),
            Field<3, &Toleration::value>("value"), Field<4, &Toleration::effect>("effect"),
            Field<5, &Toleration::toleration_seconds>("tolerationSeconds"));
};

template <>
struct FieldsOf<TopologySpreadConstraint> {
  static constexpr auto kFields =
      Table(Field<1, &TopologySpreadConstraint::max_skew>("maxSkew"),
            Field<2, &TopologySpreadConstraint::topology_key>("topologyKey"),
            Field<3, &TopologySpreadConstraint::when_unsatisfiable>("whenUnsatisfiable"),
            Field<4, &TopologySpreadConstraint::label_selector>("labelSelector"),
            Field<5, &TopologySpreadConstraint::min_domains>("minDomains"),
            Field<6, &TopologySpreadConstraint::node_affinity_policy>("nodeAffinityPolicy"),
            Field<7, &TopologySpreadConstraint::node_taints_policy>("nodeTaintsPolicy"),
            Field<8, &TopologySpreadConstraint::match_label_keys>("matchLabelKeys"));
};

template <>
struct FieldsOf<ContainerPort> {
  static constexpr auto kFields = Table(Field<2, &ContainerPort::host_port>("hostPort"),
                                        Field<3, &ContainerPort::container_port>("containerPort"),
                                        Field<4, &ContainerPort::protocol>("protocol"),
                                        Field<5, &ContainerPort::host_ip>("hostIP"));
};

template <>
struct FieldsOf<ContainerResourceClaim> {
  static constexpr auto kFields = Table(Field<1, &ContainerResourceClaim::name>("name"),
                                        Field<2, &ContainerResourceClaim::request>("request"));
};

template <>
struct FieldsOf<ResourceRequirements> {
  static constexpr auto kFields = Table(Field<1, &ResourceRequirements::limits>("limits"),
                                        Field<2, &ResourceRequirements::requests>("requests"),
                                        Field<3, &ResourceRequirements::claims>("claims"));
};

template <>
struct FieldsOf<ContainerRestartRule> {
  static constexpr auto kFields = Table(Field<1, &ContainerRestartRule::action>("action"));
};

template <>
struct FieldsOf<VolumeMount> {
  static constexpr auto kFields =
      Table(Field<8, &VolumeMount::bind_mount_options>("bindMountOptions"));
};

template <>
struct FieldsOf<Container> {
  static constexpr auto kFields =
      Table(Field<1, &Container::name>("name"), Field<2, &Container::image>("image"),
            Field<6, &Container::ports>("ports"), Field<8, &Container::resources>("resources"),
            Field<9, &Container::volume_mounts>("volumeMounts"),
            Field<24, &Container::restart_policy>("restartPolicy"),
            Field<25, &Container::restart_policy_rules>("restartPolicyRules"));
};

template <>
struct FieldsOf<EphemeralContainer> {
  static constexpr auto kFields =
      Table(Nested<1>(Field<9, &EphemeralContainer::volume_mounts>("volumeMounts")));
};

template <>
struct FieldsOf<PodSchedulingGate> {
  static constexpr auto kFields = Table(Field<1, &PodSchedulingGate::name>("name"));
};

template <>
struct FieldsOf<Volume> {
  static constexpr auto kFields =
      Table(Field<1, &Volume::name>("name"),
            Nested<2>(Field<2, &Volume::empty_dir>("emptyDir"),
                      Field<3, &Volume::gce_persistent_disk>("gcePersistentDisk"),
                      Field<4, &Volume::aws_elastic_block_store>("awsElasticBlockStore"),
                      Field<8, &Volume::iscsi>("iscsi"),
                      Field<10, &Volume::persistent_volume_claim>("persistentVolumeClaim"),
                      Field<11, &Volume::rbd>("rbd"), Field<13, &Volume::cinder>("cinder"),
                      Field<18, &Volume::azure_file>("azureFile"),
                      Field<20, &Volume::vsphere_volume>("vsphereVolume"),
                      Field<22, &Volume::azure_disk>("azureDisk"),
                      Field<24, &Volume::portworx_volume>("portworxVolume"),
                      Field<28, &Volume::csi>("csi"), Field<29, &Volume::ephemeral>("ephemeral"),
                      Field<30, &Volume::image>("image")));
};

template <>
struct FieldsOf<PodResourceClaim> {
  static constexpr auto kFields =
      Table(Field<1, &PodResourceClaim::name>("name"),
            Field<3, &PodResourceClaim::resource_claim_name>("resourceClaimName"),
            Field<4, &PodResourceClaim::resource_claim_template_name>("resourceClaimTemplateName"));
};

template <>
struct FieldsOf<PodSchedulingGroup> {
  static constexpr auto kFields =
      Table(Field<1, &PodSchedulingGroup::pod_group_name>("podGroupName"));
};

template <>
struct FieldsOf<PodSpec> {
  static constexpr auto kFields = Table(
      Field<1, &PodSpec::volumes>("volumes"), Field<2, &PodSpec::containers>("containers"),
      Field<7, &PodSpec::node_selector>("nodeSelector"), Field<10, &PodSpec::node_name>("nodeName"),
      Field<11, &PodSpec::host_network>("hostNetwork"), Field<18, &PodSpec::affinity>("affinity"),
      Field<19, &PodSpec::scheduler_name>("schedulerName"),
      Field<20, &PodSpec::init_containers>("initContainers"),
      Field<22, &PodSpec::tolerations>("tolerations"),
      Field<24, &PodSpec::priority_class_name>("priorityClassName"),
      Field<25, &PodSpec::priority>("priority"),
      Field<31, &PodSpec::preemption_policy>("preemptionPolicy"),
      Field<32, &PodSpec::overhead>("overhead"),
      Field<33, &PodSpec::topology_spread_constraints>("topologySpreadConstraints"),
      Field<34, &PodSpec::ephemeral_containers>("ephemeralContainers"),
      Field<37, &PodSpec::host_users>("hostUsers"),
      Field<38, &PodSpec::scheduling_gates>("schedulingGates"),
      Field<39, &PodSpec::resource_claims>("resourceClaims"),
      Field<40, &PodSpec::resources>("resources"),
      Field<43, &PodSpec::scheduling_group>("schedulingGroup"));
};

template <>
struct FieldsOf<PodCondition> {
  static constexpr auto kFields =
      Table(Field<1, &PodCondition::type>("type"), Field<2, &PodCondition::status>("status"),
            Field<4, &PodCondition::last_transition_time>("lastTransitionTime"),
            Field<5, &PodCondition::reason>("reason"), Field<6, &PodCondition::message>("message"),
            Field<7, &PodCondition::observed_generation>("observedGeneration"));
};

template <>
struct FieldsOf<ContainerStatus> {
  static constexpr auto kFields =
      Table(Field<1, &ContainerStatus::name>("name"),
            Field<10, &ContainerStatus::allocated_resources>("allocatedResources"),
            Field<11, &ContainerStatus::resources>("resources"));
};

template <>
struct FieldsOf<PodResourceClaimStatus> {
  static constexpr auto kFields =
      Table(Field<1, &PodResourceClaimStatus::name>("name"),
            Field<2, &PodResourceClaimStatus::resource_claim_name>("resourceClaimName"));
};

template <>
struct FieldsOf<ContainerExtendedResourceRequest> {
  static constexpr auto kFields =
      Table(Field<1, &ContainerExtendedResourceRequest::container_name>("containerName"),
            Field<2, &ContainerExtendedResourceRequest::resource_name>("resourceName"),
            Field<3, &ContainerExtendedResourceRequest::request_name>("requestName"));
};

template <>
struct FieldsOf<PodExtendedResourceClaimStatus> {
  static constexpr auto kFields =
      Table(Field<1, &PodExtendedResourceClaimStatus::request_mappings>("requestMappings"),
            Field<2, &PodExtendedResourceClaimStatus::resource_claim_name>("resourceClaimName"));
};

template <>
struct FieldsOf<NodeAllocatableMappedResources> {
  static constexpr auto kFields =
      Table(Field<1, &NodeAllocatableMappedResources::name>("name"),
            Field<2, &NodeAllocatableMappedResources::quantity>("quantity"));
};

template <>
struct FieldsOf<NodeAllocatableOverheadResources> {
  static constexpr auto kFields =
      Table(Field<1, &NodeAllocatableOverheadResources::name>("name"),
            Field<2, &NodeAllocatableOverheadResources::per_pod>("perPod"),
            Field<3, &NodeAllocatableOverheadResources::per_container>("perContainer"));
};

template <>
struct FieldsOf<NodeAllocatableResourceClaimStatus> {
  static constexpr auto kFields =
      Table(Field<1, &NodeAllocatableResourceClaimStatus::resource_claim_name>("resourceClaimName"),
            Field<2, &NodeAllocatableResourceClaimStatus::containers>("containers"),
            Field<4, &NodeAllocatableResourceClaimStatus::mapping>("mapping"),
            Field<5, &NodeAllocatableResourceClaimStatus::overhead>("overhead"));
};

template <>
struct FieldsOf<PodStatus> {
  static constexpr auto kFields =
      Table(Field<1, &PodStatus::phase>("phase"), Field<2, &PodStatus::conditions>("conditions"),
            Field<7, &PodStatus::start_time>("startTime"),
            Field<8, &PodStatus::container_statuses>("containerStatuses"),
            Field<10, &PodStatus::init_container_statuses>("initContainerStatuses"),
            Field<11, &PodStatus::nominated_node_name>("nominatedNodeName"),
            Field<15, &PodStatus::resource_claim_statuses>("resourceClaimStatuses"),
            Field<18, &PodStatus::extended_resource_claim_status>("extendedResourceClaimStatus"),
            Field<19, &PodStatus::allocated_resources>("allocatedResources"),
            Field<20, &PodStatus::resources>("resources"),
            Field<21, &PodStatus::node_allocatable_resource_claim_statuses>(
                "nodeAllocatableResourceClaimStatuses"));
};

template <>
struct FieldsOf<Pod> {
  static constexpr auto kFields =
      Table(Field<1, &Pod::metadata>("metadata"), Field<2, &Pod::spec>("spec"),
            Field<3, &Pod::status>("status"));
};

}  // namespace berth::api
