// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "berth/api/boxed.h"
#include "berth/api/meta.h"
#include "berth/api/pod.h"

// The kinds of scheduling.k8s.io: pods that are scheduled together. PodGroup and Workload are
// v1beta1, CompositePodGroup is v1alpha3. And the PodGroup of scheduling.x-k8s.io, a custom
// resource.
namespace berth::api {

// A choice that says all by being made.
struct EmptyPolicy {
  friend bool operator==(const EmptyPolicy&, const EmptyPolicy&) = default;
};

struct GangSchedulingPolicy {
  // That many pods, or none.
  int32_t min_count = 0;

  friend bool operator==(const GangSchedulingPolicy&, const GangSchedulingPolicy&) = default;
};

// One member is set.
struct PodGroupSchedulingPolicy {
  std::optional<EmptyPolicy> basic;
  std::optional<GangSchedulingPolicy> gang;

  friend bool operator==(const PodGroupSchedulingPolicy&,
                         const PodGroupSchedulingPolicy&) = default;
};

struct TopologyConstraint {
  // A node label: all pods go where its value is the same.
  std::string key;

  friend bool operator==(const TopologyConstraint&, const TopologyConstraint&) = default;
};

// Of pod groups and of composite pod groups.
struct PodGroupSchedulingConstraints {
  std::vector<TopologyConstraint> topology;

  friend bool operator==(const PodGroupSchedulingConstraints&,
                         const PodGroupSchedulingConstraints&) = default;
};

// Whether members may be evicted one by one or only all together. One member is set; of pod groups
// and of composite pod groups.
struct DisruptionMode {
  std::optional<EmptyPolicy> single;
  std::optional<EmptyPolicy> all;

  friend bool operator==(const DisruptionMode&, const DisruptionMode&) = default;
};

// The template of a Workload that a group was made from.
struct WorkloadReference {
  std::string workload_name;
  std::string template_name;

  friend bool operator==(const WorkloadReference&, const WorkloadReference&) = default;
};

struct PodGroupResourceClaim {
  std::string name;
  std::optional<std::string> resource_claim_name;
  std::optional<std::string> resource_claim_template_name;

  friend bool operator==(const PodGroupResourceClaim&, const PodGroupResourceClaim&) = default;
};

struct PodGroupSpec {
  std::optional<std::string> parent_composite_pod_group_name;
  std::optional<WorkloadReference> workload_ref;
  PodGroupSchedulingPolicy scheduling_policy;
  std::optional<PodGroupSchedulingConstraints> scheduling_constraints;
  std::vector<PodGroupResourceClaim> resource_claims;
  std::optional<DisruptionMode> disruption_mode;
  std::string priority_class_name;
  std::optional<int32_t> priority;
  std::optional<std::string> preemption_policy;

  friend bool operator==(const PodGroupSpec&, const PodGroupSpec&) = default;
};

struct PodGroupStatus {
  std::vector<Condition> conditions;
  std::vector<PodResourceClaimStatus> resource_claim_statuses;

  friend bool operator==(const PodGroupStatus&, const PodGroupStatus&) = default;
};

// What a PodGroup of scheduling.x-k8s.io asks for.
struct CoschedulingPodGroupSpec {
  // That many pods, or none.
  int32_t min_member = 0;
  ResourceList min_resources;
  std::optional<int32_t> schedule_timeout_seconds;

  friend bool operator==(const CoschedulingPodGroupSpec&,
                         const CoschedulingPodGroupSpec&) = default;
};

struct CoschedulingPodGroupStatus {
  std::string phase;

  friend bool operator==(const CoschedulingPodGroupStatus&,
                         const CoschedulingPodGroupStatus&) = default;
};

// PodGroup of scheduling.x-k8s.io/v1alpha1.
struct CoschedulingPodGroup {
  ObjectMeta metadata;
  CoschedulingPodGroupSpec spec;
  CoschedulingPodGroupStatus status;

  friend bool operator==(const CoschedulingPodGroup&, const CoschedulingPodGroup&) = default;
};

// What the pods of a namespace may take.
struct ElasticQuotaSpec {
  ResourceList min;  // theirs, whatever others want
  ResourceList max;  // no more, whatever is free; empty: no limit

  friend bool operator==(const ElasticQuotaSpec&, const ElasticQuotaSpec&) = default;
};

// ElasticQuota of scheduling.x-k8s.io/v1alpha1, whose status another program writes.
struct ElasticQuota {
  ObjectMeta metadata;
  ElasticQuotaSpec spec;

  friend bool operator==(const ElasticQuota&, const ElasticQuota&) = default;
};

struct PodGroup {
  ObjectMeta metadata;
  PodGroupSpec spec;
  PodGroupStatus status;
  // No field: set where the group is one of scheduling.x-k8s.io, in the shape of a PodGroup. Its
  // spec has the gang alone, and its status is another program's.
  Boxed<CoschedulingPodGroupSpec> coscheduling;

  friend bool operator==(const PodGroup&, const PodGroup&) = default;
};

struct CompositeGangSchedulingPolicy {
  // That many groups, or none.
  int32_t min_group_count = 0;

  friend bool operator==(const CompositeGangSchedulingPolicy&,
                         const CompositeGangSchedulingPolicy&) = default;
};

// One member is set.
struct CompositePodGroupSchedulingPolicy {
  std::optional<EmptyPolicy> basic;
  std::optional<CompositeGangSchedulingPolicy> gang;

  friend bool operator==(const CompositePodGroupSchedulingPolicy&,
                         const CompositePodGroupSchedulingPolicy&) = default;
};

struct CompositePodGroupSpec {
  std::optional<std::string> parent_composite_pod_group_name;
  std::optional<WorkloadReference> workload_ref;
  CompositePodGroupSchedulingPolicy scheduling_policy;
  std::optional<PodGroupSchedulingConstraints> scheduling_constraints;
  std::optional<DisruptionMode> disruption_mode;
  std::string priority_class_name;
  std::optional<int32_t> priority;
  std::optional<std::string> preemption_policy;

  friend bool operator==(const CompositePodGroupSpec&, const CompositePodGroupSpec&) = default;
};

struct CompositePodGroupStatus {
  std::vector<Condition> conditions;

  friend bool operator==(const CompositePodGroupStatus&, const CompositePodGroupStatus&) = default;
};

// A group of pod groups and of such groups.
struct CompositePodGroup {
  ObjectMeta metadata;
  CompositePodGroupSpec spec;
  CompositePodGroupStatus status;

  friend bool operator==(const CompositePodGroup&, const CompositePodGroup&) = default;
};

struct PodGroupTemplate {
  std::string name;
  PodGroupSchedulingPolicy scheduling_policy;
  std::optional<PodGroupSchedulingConstraints> scheduling_constraints;
  std::vector<PodGroupResourceClaim> resource_claims;
  std::optional<DisruptionMode> disruption_mode;
  std::string priority_class_name;
  std::optional<int32_t> priority;
  std::optional<std::string> preemption_policy;

  friend bool operator==(const PodGroupTemplate&, const PodGroupTemplate&) = default;
};

// Composite templates within it are not read.
struct CompositePodGroupTemplate {
  std::string name;
  CompositePodGroupSchedulingPolicy scheduling_policy;
  std::optional<PodGroupSchedulingConstraints> scheduling_constraints;
  std::optional<DisruptionMode> disruption_mode;
  std::string priority_class_name;
  std::optional<int32_t> priority;
  std::optional<std::string> preemption_policy;
  std::vector<PodGroupTemplate> pod_group_templates;

  friend bool operator==(const CompositePodGroupTemplate&,
                         const CompositePodGroupTemplate&) = default;
};

struct TypedLocalObjectReference {
  std::string api_group;
  std::string kind;
  std::string name;

  friend bool operator==(const TypedLocalObjectReference&,
                         const TypedLocalObjectReference&) = default;
};

struct WorkloadSpec {
  std::optional<TypedLocalObjectReference> controller_ref;
  std::vector<PodGroupTemplate> pod_group_templates;
  std::vector<CompositePodGroupTemplate> composite_pod_group_templates;

  friend bool operator==(const WorkloadSpec&, const WorkloadSpec&) = default;
};

// What groups of a workload are made from.
struct Workload {
  ObjectMeta metadata;
  WorkloadSpec spec;

  friend bool operator==(const Workload&, const Workload&) = default;
};

}  // namespace berth::api
