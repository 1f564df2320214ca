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
inline constexpr auto kFieldsOf<Taint> =
    Table(Field<1, &Taint::key>("key"), Field<2, &Taint::value>("value"),
          Field<3, &Taint::effect>("effect"));

template <>
inline constexpr auto kFieldsOf<NodePodPreemptionPolicy> =
    Table(Field<1, &NodePodPreemptionPolicy::disable_resize_preemption>("disableResizePreemption"));

template <>
inline constexpr auto kFieldsOf<NodeSpec> = Table(
    Field<4, &NodeSpec::unschedulable>("unschedulable"), Field<5, &NodeSpec::taints>("taints"),
    Field<8, &NodeSpec::pod_preemption_policy>("podPreemptionPolicy"));

template <>
inline constexpr auto kFieldsOf<NodeCondition> =
    Table(Field<1, &NodeCondition::type>("type"), Field<2, &NodeCondition::status>("status"));

template <>
inline constexpr auto kFieldsOf<ContainerImage> = Table(
    Field<1, &ContainerImage::names>("names"), Field<2, &ContainerImage::size_bytes>("sizeBytes"));

template <>
inline constexpr auto kFieldsOf<NodeStatus> = Table(
    Field<1, &NodeStatus::capacity>("capacity"), Field<2, &NodeStatus::allocatable>("allocatable"),
    Field<4, &NodeStatus::conditions>("conditions"), Field<8, &NodeStatus::images>("images"),
    Field<14, &NodeStatus::declared_features>("declaredFeatures"));

template <>
inline constexpr auto kFieldsOf<Node> = ObjectTableWithStatus<Node>();

// Field tables of what a pod asks of its node and of other pods. Numbers are those of
// k8s.io/api/core/v1/generated.proto.

template <>
inline constexpr auto kFieldsOf<NodeSelectorRequirement> =
    Table(Field<1, &NodeSelectorRequirement::key>("key"),
          Field<2, &NodeSelectorRequirement::operator_>("operator"),
          Field<3, &NodeSelectorRequirement::values>("values"));

template <>
inline constexpr auto kFieldsOf<NodeSelectorTerm> =
    Table(Field<1, &NodeSelectorTerm::match_expressions>("matchExpressions"),
          Field<2, &NodeSelectorTerm::match_fields>("matchFields"));

template <>
inline constexpr auto kFieldsOf<NodeSelector> =
    Table(Field<1, &NodeSelector::node_selector_terms>("nodeSelectorTerms"));

template <>
inline constexpr auto kFieldsOf<PreferredSchedulingTerm> =
    Table(Field<1, &PreferredSchedulingTerm::weight>("weight"),
          Field<2, &PreferredSchedulingTerm::preference>("preference"));

template <>
inline constexpr auto kFieldsOf<NodeAffinity> =
    Table(Field<1, &NodeAffinity::required_during_scheduling_ignored_during_execution>(
              "requiredDuringSchedulingIgnoredDuringExecution"),
          Field<2, &NodeAffinity::preferred_during_scheduling_ignored_during_execution>(
              "preferredDuringSchedulingIgnoredDuringExecution"));

template <>
inline constexpr auto kFieldsOf<PodAffinityTerm> =
    Table(Field<1, &PodAffinityTerm::label_selector>("labelSelector"),
          Field<2, &PodAffinityTerm::namespaces>("namespaces"),
          Field<3, &PodAffinityTerm::topology_key>("topologyKey"),
          Field<4, &PodAffinityTerm::namespace_selector>("namespaceSelector"),
          Field<5, &PodAffinityTerm::match_label_keys>("matchLabelKeys"),
          Field<6, &PodAffinityTerm::mismatch_label_keys>("mismatchLabelKeys"));

template <>
inline constexpr auto kFieldsOf<WeightedPodAffinityTerm> =
    Table(Field<1, &WeightedPodAffinityTerm::weight>("weight"),
          Field<2, &WeightedPodAffinityTerm::pod_affinity_term>("podAffinityTerm"));

// PodAffinity and PodAntiAffinity have the same fields under the same numbers.
template <>
inline constexpr auto kFieldsOf<PodAffinity> =
    Table(Field<1, &PodAffinity::required_during_scheduling_ignored_during_execution>(
              "requiredDuringSchedulingIgnoredDuringExecution"),
          Field<2, &PodAffinity::preferred_during_scheduling_ignored_during_execution>(
              "preferredDuringSchedulingIgnoredDuringExecution"));

template <>
inline constexpr auto kFieldsOf<Affinity> =
    Table(Field<1, &Affinity::node_affinity>("nodeAffinity"),
          Field<2, &Affinity::pod_affinity>("podAffinity"),
          Field<3, &Affinity::pod_anti_affinity>("podAntiAffinity"));

template <>
inline constexpr auto kFieldsOf<Toleration> =
    Table(Field<1, &Toleration::key>("key"), Field<2, &Toleration::operator_>("operator"),
          Field<3, &Toleration::value>("value"), Field<4, &Toleration::effect>("effect"),
          Field<5, &Toleration::toleration_seconds>("tolerationSeconds"));

template <>
inline constexpr auto kFieldsOf<TopologySpreadConstraint> =
    Table(Field<1, &TopologySpreadConstraint::max_skew>("maxSkew"),
          Field<2, &TopologySpreadConstraint::topology_key>("topologyKey"),
          Field<3, &TopologySpreadConstraint::when_unsatisfiable>("whenUnsatisfiable"),
          Field<4, &TopologySpreadConstraint::label_selector>("labelSelector"),
          Field<5, &TopologySpreadConstraint::min_domains>("minDomains"),
          Field<6, &TopologySpreadConstraint::node_affinity_policy>("nodeAffinityPolicy"),
          Field<7, &TopologySpreadConstraint::node_taints_policy>("nodeTaintsPolicy"),
          Field<8, &TopologySpreadConstraint::match_label_keys>("matchLabelKeys"));

template <>
inline constexpr auto kFieldsOf<ContainerPort> = Table(
    Field<2, &ContainerPort::host_port>("hostPort"),
    Field<3, &ContainerPort::container_port>("containerPort"),
    Field<4, &ContainerPort::protocol>("protocol"), Field<5, &ContainerPort::host_ip>("hostIP"));

template <>
inline constexpr auto kFieldsOf<ContainerResourceClaim> =
    Table(Field<1, &ContainerResourceClaim::name>("name"),
          Field<2, &ContainerResourceClaim::request>("request"));

template <>
inline constexpr auto kFieldsOf<ResourceRequirements> =
    Table(Field<1, &ResourceRequirements::limits>("limits"),
          Field<2, &ResourceRequirements::requests>("requests"),
          Field<3, &ResourceRequirements::claims>("claims"));

template <>
inline constexpr auto kFieldsOf<ContainerRestartRule> =
    Table(Field<1, &ContainerRestartRule::action>("action"));

template <>
inline constexpr auto kFieldsOf<VolumeMount> =
    Table(Field<8, &VolumeMount::bind_mount_options>("bindMountOptions"));

template <>
inline constexpr auto kFieldsOf<Container> =
    Table(Field<1, &Container::name>("name"), Field<2, &Container::image>("image"),
          Field<6, &Container::ports>("ports"), Field<8, &Container::resources>("resources"),
          Field<9, &Container::volume_mounts>("volumeMounts"),
          Field<24, &Container::restart_policy>("restartPolicy"),
          Field<25, &Container::restart_policy_rules>("restartPolicyRules"));

template <>
inline constexpr auto kFieldsOf<EphemeralContainer> =
    Table(Nested<1>(Field<9, &EphemeralContainer::volume_mounts>("volumeMounts")));

template <>
inline constexpr auto kFieldsOf<PodSchedulingGate> =
    Table(Field<1, &PodSchedulingGate::name>("name"));

template <>
inline constexpr auto kFieldsOf<Volume> = Table(
    Field<1, &Volume::name>("name"),
    Nested<2>(Field<2, &Volume::empty_dir>("emptyDir"),
              Field<3, &Volume::gce_persistent_disk>("gcePersistentDisk"),
              Field<4, &Volume::aws_elastic_block_store>("awsElasticBlockStore"),
              Field<8, &Volume::iscsi>("iscsi"),
              Field<10, &Volume::persistent_volume_claim>("persistentVolumeClaim"),
              Field<11, &Volume::rbd>("rbd"), Field<13, &Volume::cinder>("cinder"),
              Field<18, &Volume::azure_file>("azureFile"),
              Field<20, &Volume::vsphere_volume>("vsphereVolume"),
              Field<22, &Volume::azure_disk>("azureDisk"),
              Field<24, &Volume::portworx_volume>("portworxVolume"), Field<28, &Volume::csi>("csi"),
              Field<29, &Volume::ephemeral>("ephemeral"), Field<30, &Volume::image>("image")));

template <>
inline constexpr auto kFieldsOf<PodResourceClaim> =
    Table(Field<1, &PodResourceClaim::name>("name"),
          Field<3, &PodResourceClaim::resource_claim_name>("resourceClaimName"),
          Field<4, &PodResourceClaim::resource_claim_template_name>("resourceClaimTemplateName"));

template <>
inline constexpr auto kFieldsOf<PodSchedulingGroup> =
    Table(Field<1, &PodSchedulingGroup::pod_group_name>("podGroupName"));

template <>
inline constexpr auto kFieldsOf<PodSpec> = Table(
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

template <>
inline constexpr auto kFieldsOf<PodCondition> =
    Table(Field<1, &PodCondition::type>("type"), Field<2, &PodCondition::status>("status"),
          Field<4, &PodCondition::last_transition_time>("lastTransitionTime"),
          Field<5, &PodCondition::reason>("reason"), Field<6, &PodCondition::message>("message"),
          Field<7, &PodCondition::observed_generation>("observedGeneration"));

template <>
inline constexpr auto kFieldsOf<ContainerStatus> =
    Table(Field<1, &ContainerStatus::name>("name"),
          Field<10, &ContainerStatus::allocated_resources>("allocatedResources"),
          Field<11, &ContainerStatus::resources>("resources"));

template <>
inline constexpr auto kFieldsOf<PodResourceClaimStatus> =
    Table(Field<1, &PodResourceClaimStatus::name>("name"),
          Field<2, &PodResourceClaimStatus::resource_claim_name>("resourceClaimName"));

template <>
inline constexpr auto kFieldsOf<ContainerExtendedResourceRequest> =
    Table(Field<1, &ContainerExtendedResourceRequest::container_name>("containerName"),
          Field<2, &ContainerExtendedResourceRequest::resource_name>("resourceName"),
          Field<3, &ContainerExtendedResourceRequest::request_name>("requestName"));

template <>
inline constexpr auto kFieldsOf<PodExtendedResourceClaimStatus> =
    Table(Field<1, &PodExtendedResourceClaimStatus::request_mappings>("requestMappings"),
          Field<2, &PodExtendedResourceClaimStatus::resource_claim_name>("resourceClaimName"));

template <>
inline constexpr auto kFieldsOf<NodeAllocatableMappedResources> =
    Table(Field<1, &NodeAllocatableMappedResources::name>("name"),
          Field<2, &NodeAllocatableMappedResources::quantity>("quantity"));

template <>
inline constexpr auto kFieldsOf<NodeAllocatableOverheadResources> =
    Table(Field<1, &NodeAllocatableOverheadResources::name>("name"),
          Field<2, &NodeAllocatableOverheadResources::per_pod>("perPod"),
          Field<3, &NodeAllocatableOverheadResources::per_container>("perContainer"));

template <>
inline constexpr auto kFieldsOf<NodeAllocatableResourceClaimStatus> =
    Table(Field<1, &NodeAllocatableResourceClaimStatus::resource_claim_name>("resourceClaimName"),
          Field<2, &NodeAllocatableResourceClaimStatus::containers>("containers"),
          Field<4, &NodeAllocatableResourceClaimStatus::mapping>("mapping"),
          Field<5, &NodeAllocatableResourceClaimStatus::overhead>("overhead"));

template <>
inline constexpr auto kFieldsOf<PodStatus> =
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

template <>
inline constexpr auto kFieldsOf<Pod> = ObjectTableWithStatus<Pod>();

}  // namespace berth::api
