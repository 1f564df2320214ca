// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "berth/api/scheduling.h"
#include "berth/api/workloads.h"
#include "src/api/field_table.h"
#include "src/api/tables_meta.h"
#include "src/api/tables_pod.h"

// Field tables of the kinds of scheduling.k8s.io. Numbers are those of generated.proto in
// k8s.io/api/scheduling/v1beta1 and v1alpha3. Custom resources have none: theirs are the places in
// the table.

namespace berth::api {

// Field tables of the objects that select pods. Numbers are those of generated.proto in
// k8s.io/api/core/v1 and k8s.io/api/apps/v1.

template <>
inline constexpr auto kFieldsOf<ServiceSpec> = Table(Field<2, &ServiceSpec::selector>("selector"));

template <>
inline constexpr auto kFieldsOf<Service> = ObjectTable<Service>();

template <>
inline constexpr auto kFieldsOf<ReplicationControllerSpec> =
    Table(Field<2, &ReplicationControllerSpec::selector>("selector"));

template <>
inline constexpr auto kFieldsOf<ReplicationController> = ObjectTable<ReplicationController>();

template <>
inline constexpr auto kFieldsOf<ReplicaSetSpec> =
    Table(Field<2, &ReplicaSetSpec::selector>("selector"));

template <>
inline constexpr auto kFieldsOf<ReplicaSet> = ObjectTable<ReplicaSet>();

template <>
inline constexpr auto kFieldsOf<StatefulSetSpec> =
    Table(Field<2, &StatefulSetSpec::selector>("selector"));

template <>
inline constexpr auto kFieldsOf<StatefulSet> = ObjectTable<StatefulSet>();

template <>
inline constexpr auto kFieldsOf<EmptyPolicy> = Table();

template <>
inline constexpr auto kFieldsOf<GangSchedulingPolicy> =
    Table(Field<1, &GangSchedulingPolicy::min_count>("minCount"));

template <>
inline constexpr auto kFieldsOf<PodGroupSchedulingPolicy> =
    Table(Field<1, &PodGroupSchedulingPolicy::basic>("basic"),
          Field<2, &PodGroupSchedulingPolicy::gang>("gang"));

template <>
inline constexpr auto kFieldsOf<TopologyConstraint> =
    Table(Field<1, &TopologyConstraint::key>("key"));

template <>
inline constexpr auto kFieldsOf<PodGroupSchedulingConstraints> =
    Table(Field<1, &PodGroupSchedulingConstraints::topology>("topology"));

template <>
inline constexpr auto kFieldsOf<DisruptionMode> =
    Table(Field<1, &DisruptionMode::single>("single"), Field<2, &DisruptionMode::all>("all"));

template <>
inline constexpr auto kFieldsOf<WorkloadReference> =
    Table(Field<1, &WorkloadReference::workload_name>("workloadName"),
          Field<2, &WorkloadReference::template_name>("templateName"));

template <>
inline constexpr auto kFieldsOf<PodGroupResourceClaim> = Table(
    Field<1, &PodGroupResourceClaim::name>("name"),
    Field<2, &PodGroupResourceClaim::resource_claim_name>("resourceClaimName"),
    Field<3, &PodGroupResourceClaim::resource_claim_template_name>("resourceClaimTemplateName"));

template <>
inline constexpr auto kFieldsOf<PodGroupSpec> =
    Table(Field<1, &PodGroupSpec::parent_composite_pod_group_name>("parentCompositePodGroupName"),
          Field<2, &PodGroupSpec::workload_ref>("workloadRef"),
          Field<3, &PodGroupSpec::scheduling_policy>("schedulingPolicy"),
          Field<4, &PodGroupSpec::scheduling_constraints>("schedulingConstraints"),
          Field<5, &PodGroupSpec::resource_claims>("resourceClaims"),
          Field<6, &PodGroupSpec::disruption_mode>("disruptionMode"),
          Field<7, &PodGroupSpec::priority_class_name>("priorityClassName"),
          Field<8, &PodGroupSpec::priority>("priority"),
          Field<9, &PodGroupSpec::preemption_policy>("preemptionPolicy"));

template <>
inline constexpr auto kFieldsOf<PodGroupStatus> =
    Table(Field<1, &PodGroupStatus::conditions>("conditions"),
          Field<2, &PodGroupStatus::resource_claim_statuses>("resourceClaimStatuses"));

template <>
inline constexpr auto kFieldsOf<PodGroup> = ObjectTableWithStatus<PodGroup>();

template <>
inline constexpr auto kFieldsOf<CompositeGangSchedulingPolicy> =
    Table(Field<1, &CompositeGangSchedulingPolicy::min_group_count>("minGroupCount"));

template <>
inline constexpr auto kFieldsOf<CompositePodGroupSchedulingPolicy> =
    Table(Field<1, &CompositePodGroupSchedulingPolicy::basic>("basic"),
          Field<2, &CompositePodGroupSchedulingPolicy::gang>("gang"));

template <>
inline constexpr auto kFieldsOf<CompositePodGroupSpec> =
    Table(Field<1, &CompositePodGroupSpec::parent_composite_pod_group_name>(
              "parentCompositePodGroupName"),
          Field<2, &CompositePodGroupSpec::workload_ref>("workloadRef"),
          Field<3, &CompositePodGroupSpec::scheduling_policy>("schedulingPolicy"),
          Field<4, &CompositePodGroupSpec::scheduling_constraints>("schedulingConstraints"),
          Field<5, &CompositePodGroupSpec::disruption_mode>("disruptionMode"),
          Field<6, &CompositePodGroupSpec::priority_class_name>("priorityClassName"),
          Field<7, &CompositePodGroupSpec::priority>("priority"),
          Field<8, &CompositePodGroupSpec::preemption_policy>("preemptionPolicy"));

template <>
inline constexpr auto kFieldsOf<CompositePodGroupStatus> =
    Table(Field<1, &CompositePodGroupStatus::conditions>("conditions"));

template <>
inline constexpr auto kFieldsOf<CompositePodGroup> = ObjectTableWithStatus<CompositePodGroup>();

template <>
inline constexpr auto kFieldsOf<PodGroupTemplate> =
    Table(Field<1, &PodGroupTemplate::name>("name"),
          Field<2, &PodGroupTemplate::scheduling_policy>("schedulingPolicy"),
          Field<3, &PodGroupTemplate::scheduling_constraints>("schedulingConstraints"),
          Field<4, &PodGroupTemplate::resource_claims>("resourceClaims"),
          Field<5, &PodGroupTemplate::disruption_mode>("disruptionMode"),
          Field<6, &PodGroupTemplate::priority_class_name>("priorityClassName"),
          Field<7, &PodGroupTemplate::priority>("priority"),
          Field<8, &PodGroupTemplate::preemption_policy>("preemptionPolicy"));

template <>
inline constexpr auto kFieldsOf<CompositePodGroupTemplate> =
    Table(Field<1, &CompositePodGroupTemplate::name>("name"),
          Field<2, &CompositePodGroupTemplate::scheduling_policy>("schedulingPolicy"),
          Field<3, &CompositePodGroupTemplate::scheduling_constraints>("schedulingConstraints"),
          Field<4, &CompositePodGroupTemplate::disruption_mode>("disruptionMode"),
          Field<5, &CompositePodGroupTemplate::priority_class_name>("priorityClassName"),
          Field<6, &CompositePodGroupTemplate::priority>("priority"),
          Field<7, &CompositePodGroupTemplate::preemption_policy>("preemptionPolicy"),
          Field<8, &CompositePodGroupTemplate::pod_group_templates>("podGroupTemplates"));

template <>
inline constexpr auto kFieldsOf<TypedLocalObjectReference> =
    Table(Field<1, &TypedLocalObjectReference::api_group>("apiGroup"),
          Field<2, &TypedLocalObjectReference::kind>("kind"),
          Field<3, &TypedLocalObjectReference::name>("name"));

template <>
inline constexpr auto kFieldsOf<WorkloadSpec> =
    Table(Field<1, &WorkloadSpec::controller_ref>("controllerRef"),
          Field<2, &WorkloadSpec::pod_group_templates>("podGroupTemplates"),
          Field<3, &WorkloadSpec::composite_pod_group_templates>("compositePodGroupTemplates"));

template <>
inline constexpr auto kFieldsOf<Workload> = ObjectTable<Workload>();

template <>
inline constexpr auto kFieldsOf<CoschedulingPodGroupSpec> =
    Table(Field<1, &CoschedulingPodGroupSpec::min_member>("minMember"),
          Field<2, &CoschedulingPodGroupSpec::min_resources>("minResources"),
          Field<3, &CoschedulingPodGroupSpec::schedule_timeout_seconds>("scheduleTimeoutSeconds"));

template <>
inline constexpr auto kFieldsOf<CoschedulingPodGroupStatus> =
    Table(Field<1, &CoschedulingPodGroupStatus::phase>("phase"));

template <>
inline constexpr auto kFieldsOf<CoschedulingPodGroup> =
    ObjectTableWithStatus<CoschedulingPodGroup>();

template <>
inline constexpr auto kFieldsOf<ElasticQuotaSpec> =
    Table(Field<1, &ElasticQuotaSpec::min>("min"), Field<2, &ElasticQuotaSpec::max>("max"));

template <>
inline constexpr auto kFieldsOf<ElasticQuota> = ObjectTable<ElasticQuota>();

}  // namespace berth::api
