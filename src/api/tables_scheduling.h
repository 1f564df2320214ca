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
struct FieldsOf<ServiceSpec> {
  static constexpr auto kFields = Table(Field<2, &ServiceSpec::selector>("selector"));
};

template <>
struct FieldsOf<Service> {
  static constexpr auto kFields =
      Table(Field<1, &Service::metadata>("metadata"), Field<2, &Service::spec>("spec"));
};

template <>
struct FieldsOf<ReplicationControllerSpec> {
  static constexpr auto kFields = Table(Field<2, &ReplicationControllerSpec::selector>("selector"));
};

template <>
struct FieldsOf<ReplicationController> {
  static constexpr auto kFields = Table(Field<1, &ReplicationController::metadata>("metadata"),
                                        Field<2, &ReplicationController::spec>("spec"));
};

template <>
struct FieldsOf<ReplicaSetSpec> {
  static constexpr auto kFields = Table(Field<2, &ReplicaSetSpec::selector>("selector"));
};

template <>
struct FieldsOf<ReplicaSet> {
  static constexpr auto kFields =
      Table(Field<1, &ReplicaSet::metadata>("metadata"), Field<2, &ReplicaSet::spec>("spec"));
};

template <>
struct FieldsOf<StatefulSetSpec> {
  static constexpr auto kFields = Table(Field<2, &StatefulSetSpec::selector>("selector"));
};

template <>
struct FieldsOf<StatefulSet> {
  static constexpr auto kFields =
      Table(Field<1, &StatefulSet::metadata>("metadata"), Field<2, &StatefulSet::spec>("spec"));
};

template <>
struct FieldsOf<EmptyPolicy> {
  static constexpr auto kFields = Table();
};

template <>
struct FieldsOf<GangSchedulingPolicy> {
  static constexpr auto kFields = Table(Field<1, &GangSchedulingPolicy::min_count>("minCount"));
};

template <>
struct FieldsOf<PodGroupSchedulingPolicy> {
  static constexpr auto kFields = Table(Field<1, &PodGroupSchedulingPolicy::basic>("basic"),
                                        Field<2, &PodGroupSchedulingPolicy::gang>("gang"));
};

template <>
struct FieldsOf<TopologyConstraint> {
  static constexpr auto kFields = Table(Field<1, &TopologyConstraint::key>("key"));
};

template <>
struct FieldsOf<PodGroupSchedulingConstraints> {
  static constexpr auto kFields =
      Table(Field<1, &PodGroupSchedulingConstraints::topology>("topology"));
};

template <>
struct FieldsOf<DisruptionMode> {
  static constexpr auto kFields =
      Table(Field<1, &DisruptionMode::single>("single"), Field<2, &DisruptionMode::all>("all"));
};

template <>
struct FieldsOf<WorkloadReference> {
  static constexpr auto kFields =
      Table(Field<1, &WorkloadReference::workload_name>("workloadName"),
            Field<2, &WorkloadReference::template_name>("templateName"));
};

template <>
struct FieldsOf<PodGroupResourceClaim> {
  static constexpr auto kFields = Table(
      Field<1, &PodGroupResourceClaim::name>("name"),
      Field<2, &PodGroupResourceClaim::resource_claim_name>("resourceClaimName"),
      Field<3, &PodGroupResourceClaim::resource_claim_template_name>("resourceClaimTemplateName"));
};

template <>
struct FieldsOf<PodGroupSpec> {
  static constexpr auto kFields =
      Table(Field<1, &PodGroupSpec::parent_composite_pod_group_name>("parentCompositePodGroupName"),
            Field<2, &PodGroupSpec::workload_ref>("workloadRef"),
            Field<3, &PodGroupSpec::scheduling_policy>("schedulingPolicy"),
            Field<4, &PodGroupSpec::scheduling_constraints>("schedulingConstraints"),
            Field<5, &PodGroupSpec::resource_claims>("resourceClaims"),
            Field<6, &PodGroupSpec::disruption_mode>("disruptionMode"),
            Field<7, &PodGroupSpec::priority_class_name>("priorityClassName"),
            Field<8, &PodGroupSpec::priority>("priority"),
            Field<9, &PodGroupSpec::preemption_policy>("preemptionPolicy"));
};

template <>
struct FieldsOf<PodGroupStatus> {
  static constexpr auto kFields =
      Table(Field<1, &PodGroupStatus::conditions>("conditions"),
            Field<2, &PodGroupStatus::resource_claim_statuses>("resourceClaimStatuses"));
};

template <>
struct FieldsOf<PodGroup> {
  static constexpr auto kFields =
      Table(Field<1, &PodGroup::metadata>("metadata"), Field<2, &PodGroup::spec>("spec"),
            Field<3, &PodGroup::status>("status"));
};

template <>
struct FieldsOf<CompositeGangSchedulingPolicy> {
  static constexpr auto kFields =
      Table(Field<1, &CompositeGangSchedulingPolicy::min_group_count>("minGroupCount"));
};

template <>
struct FieldsOf<CompositePodGroupSchedulingPolicy> {
  static constexpr auto kFields =
      Table(Field<1, &CompositePodGroupSchedulingPolicy::basic>("basic"),
            Field<2, &CompositePodGroupSchedulingPolicy::gang>("gang"));
};

template <>
struct FieldsOf<CompositePodGroupSpec> {
  static constexpr auto kFields =
      Table(Field<1, &CompositePodGroupSpec::parent_composite_pod_group_name>(
                "parentCompositePodGroupName"),
            Field<2, &CompositePodGroupSpec::workload_ref>("workloadRef"),
            Field<3, &CompositePodGroupSpec::scheduling_policy>("schedulingPolicy"),
            Field<4, &CompositePodGroupSpec::scheduling_constraints>("schedulingConstraints"),
            Field<5, &CompositePodGroupSpec::disruption_mode>("disruptionMode"),
            Field<6, &CompositePodGroupSpec::priority_class_name>("priorityClassName"),
            Field<7, &CompositePodGroupSpec::priority>("priority"),
            Field<8, &CompositePodGroupSpec::preemption_policy>("preemptionPolicy"));
};

template <>
struct FieldsOf<CompositePodGroupStatus> {
  static constexpr auto kFields =
      Table(Field<1, &CompositePodGroupStatus::conditions>("conditions"));
};

template <>
struct FieldsOf<CompositePodGroup> {
  static constexpr auto kFields = Table(Field<1, &CompositePodGroup::metadata>("metadata"),
                                        Field<2, &CompositePodGroup::spec>("spec"),
                                        Field<3, &CompositePodGroup::status>("status"));
};

template <>
struct FieldsOf<PodGroupTemplate> {
  static constexpr auto kFields =
      Table(Field<1, &PodGroupTemplate::name>("name"),
            Field<2, &PodGroupTemplate::scheduling_policy>("schedulingPolicy"),
            Field<3, &PodGroupTemplate::scheduling_constraints>("schedulingConstraints"),
            Field<4, &PodGroupTemplate::resource_claims>("resourceClaims"),
            Field<5, &PodGroupTemplate::disruption_mode>("disruptionMode"),
            Field<6, &PodGroupTemplate::priority_class_name>("priorityClassName"),
            Field<7, &PodGroupTemplate::priority>("priority"),
            Field<8, &PodGroupTemplate::preemption_policy>("preemptionPolicy"));
};

template <>
struct FieldsOf<CompositePodGroupTemplate> {
  static constexpr auto kFields =
      Table(Field<1, &CompositePodGroupTemplate::name>("name"),
            Field<2, &CompositePodGroupTemplate::scheduling_policy>("schedulingPolicy"),
            Field<3, &CompositePodGroupTemplate::scheduling_constraints>("schedulingConstraints"),
            Field<4, &CompositePodGroupTemplate::disruption_mode>("disruptionMode"),
            Field<5, &CompositePodGroupTemplate::priority_class_name>("priorityClassName"),
            Field<6, &CompositePodGroupTemplate::priority>("priority"),
            Field<7, &CompositePodGroupTemplate::preemption_policy>("preemptionPolicy"),
            Field<8, &CompositePodGroupTemplate::pod_group_templates>("podGroupTemplates"));
};

template <>
struct FieldsOf<TypedLocalObjectReference> {
  static constexpr auto kFields = Table(Field<1, &TypedLocalObjectReference::api_group>("apiGroup"),
                                        Field<2, &TypedLocalObjectReference::kind>("kind"),
                                        Field<3, &TypedLocalObjectReference::name>("name"));
};

template <>
struct FieldsOf<WorkloadSpec> {
  static constexpr auto kFields =
      Table(Field<1, &WorkloadSpec::controller_ref>("controllerRef"),
            Field<2, &WorkloadSpec::pod_group_templates>("podGroupTemplates"),
            Field<3, &WorkloadSpec::composite_pod_group_templates>("compositePodGroupTemplates"));
};

template <>
struct FieldsOf<Workload> {
  static constexpr auto kFields =
      Table(Field<1, &Workload::metadata>("metadata"), Field<2, &Workload::spec>("spec"));
};

template <>
struct FieldsOf<CoschedulingPodGroupSpec> {
  static constexpr auto kFields = Table(
      Field<1, &CoschedulingPodGroupSpec::min_member>("minMember"),
      Field<2, &CoschedulingPodGroupSpec::min_resources>("minResources"),
      Field<3, &CoschedulingPodGroupSpec::schedule_timeout_seconds>("scheduleTimeoutSeconds"));
};

template <>
struct FieldsOf<CoschedulingPodGroupStatus> {
  static constexpr auto kFields = Table(Field<1, &CoschedulingPodGroupStatus::phase>("phase"));
};

template <>
struct FieldsOf<CoschedulingPodGroup> {
  static constexpr auto kFields = Table(Field<1, &CoschedulingPodGroup::metadata>("metadata"),
                                        Field<2, &CoschedulingPodGroup::spec>("spec"),
                                        Field<3, &CoschedulingPodGroup::status>("status"));
};

template <>
struct FieldsOf<ElasticQuotaSpec> {
  static constexpr auto kFields =
      Table(Field<1, &ElasticQuotaSpec::min>("min"), Field<2, &ElasticQuotaSpec::max>("max"));
};

template <>
struct FieldsOf<ElasticQuota> {
  static constexpr auto kFields =
      Table(Field<1, &ElasticQuota::metadata>("metadata"), Field<2, &ElasticQuota::spec>("spec"));
};

}  // namespace berth::api
