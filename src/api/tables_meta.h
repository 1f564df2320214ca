// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "berth/api/node_resource_topology.h"
#include "src/api/field_table.h"
#include "src/api/kinds.h"

// Field tables of meta/v1 and of the small kinds. Numbers are those of generated.proto in
// k8s.io/apimachinery/pkg/apis/meta/v1, k8s.io/api/coordination/v1 and k8s.io/api/policy/v1.

namespace berth::api {

template <>
inline constexpr auto kFieldsOf<ListMeta> =
    Table(Field<2, &ListMeta::resource_version>("resourceVersion"),
          Field<3, &ListMeta::continue_>("continue"));

template <>
inline constexpr auto kFieldsOf<StatusDetails> =
    Table(Field<1, &StatusDetails::name>("name"), Field<3, &StatusDetails::kind>("kind"),
          Field<5, &StatusDetails::retry_after_seconds>("retryAfterSeconds"));

template <>
inline constexpr auto kFieldsOf<ApiStatus> =
    Table(Field<2, &ApiStatus::status>("status"), Field<3, &ApiStatus::message>("message"),
          Field<4, &ApiStatus::reason>("reason"), Field<5, &ApiStatus::details>("details"),
          Field<6, &ApiStatus::code>("code"));

template <>
inline constexpr auto kFieldsOf<Condition> =
    Table(Field<1, &Condition::type>("type"), Field<2, &Condition::status>("status"),
          Field<3, &Condition::observed_generation>("observedGeneration"),
          Field<4, &Condition::last_transition_time>("lastTransitionTime"),
          Field<5, &Condition::reason>("reason"), Field<6, &Condition::message>("message"));

template <>
inline constexpr auto kFieldsOf<OwnerReference> = Table(
    Field<1, &OwnerReference::kind>("kind"), Field<3, &OwnerReference::name>("name"),
    Field<4, &OwnerReference::uid>("uid"), Field<5, &OwnerReference::api_version>("apiVersion"),
    Field<6, &OwnerReference::controller>("controller"));

template <>
inline constexpr auto kFieldsOf<ObjectMeta> = Table(
    Field<1, &ObjectMeta::name>("name"), Field<3, &ObjectMeta::namespace_>("namespace"),
    Field<5, &ObjectMeta::uid>("uid"), Field<6, &ObjectMeta::resource_version>("resourceVersion"),
    Field<7, &ObjectMeta::generation>("generation"),
    Field<8, &ObjectMeta::creation_timestamp>("creationTimestamp"),
    Field<9, &ObjectMeta::deletion_timestamp>("deletionTimestamp"),
    Field<11, &ObjectMeta::labels>("labels"), Field<12, &ObjectMeta::annotations>("annotations"),
    Field<13, &ObjectMeta::owner_references>("ownerReferences"));

template <>
inline constexpr auto kFieldsOf<LabelSelectorRequirement> =
    Table(Field<1, &LabelSelectorRequirement::key>("key"),
          Field<2, &LabelSelectorRequirement::operator_>("operator"),
          Field<3, &LabelSelectorRequirement::values>("values"));

template <>
inline constexpr auto kFieldsOf<LabelSelector> =
    Table(Field<1, &LabelSelector::match_labels>("matchLabels"),
          Field<2, &LabelSelector::match_expressions>("matchExpressions"));

template <>
inline constexpr auto kFieldsOf<Namespace> = Table(Field<1, &Namespace::metadata>("metadata"));

template <>
inline constexpr auto kFieldsOf<PodDisruptionBudgetSpec> =
    Table(Field<1, &PodDisruptionBudgetSpec::min_available>("minAvailable"),
          Field<2, &PodDisruptionBudgetSpec::selector>("selector"),
          Field<3, &PodDisruptionBudgetSpec::max_unavailable>("maxUnavailable"),
          Field<4, &PodDisruptionBudgetSpec::unhealthy_pod_eviction_policy>(
              "unhealthyPodEvictionPolicy"));

template <>
inline constexpr auto kFieldsOf<PodDisruptionBudgetStatus> =
    Table(Field<2, &PodDisruptionBudgetStatus::disrupted_pods>("disruptedPods"),
          Field<3, &PodDisruptionBudgetStatus::disruptions_allowed>("disruptionsAllowed"),
          Field<4, &PodDisruptionBudgetStatus::current_healthy>("currentHealthy"),
          Field<5, &PodDisruptionBudgetStatus::desired_healthy>("desiredHealthy"));

template <>
inline constexpr auto kFieldsOf<PodDisruptionBudget> = ObjectTableWithStatus<PodDisruptionBudget>();

template <>
inline constexpr auto kFieldsOf<LeaseSpec> =
    Table(Field<1, &LeaseSpec::holder_identity>("holderIdentity"),
          Field<2, &LeaseSpec::lease_duration_seconds>("leaseDurationSeconds"),
          Field<3, &LeaseSpec::acquire_time>("acquireTime"),
          Field<4, &LeaseSpec::renew_time>("renewTime"),
          Field<5, &LeaseSpec::lease_transitions>("leaseTransitions"),
          Field<6, &LeaseSpec::strategy>("strategy"),
          Field<7, &LeaseSpec::preferred_holder>("preferredHolder"));

template <>
inline constexpr auto kFieldsOf<Lease> = ObjectTable<Lease>();

// Field tables of NodeResourceTopology. A custom resource comes as JSON; numbers are the places.

template <>
inline constexpr auto kFieldsOf<NodeTopologyAttribute> =
    Table(Field<1, &NodeTopologyAttribute::name>("name"),
          Field<2, &NodeTopologyAttribute::value>("value"));

template <>
inline constexpr auto kFieldsOf<NodeTopologyResource> =
    Table(Field<1, &NodeTopologyResource::name>("name"),
          Field<2, &NodeTopologyResource::available>("available"));

template <>
inline constexpr auto kFieldsOf<NodeTopologyCost> =
    Table(Field<1, &NodeTopologyCost::name>("name"), Field<2, &NodeTopologyCost::value>("value"));

template <>
inline constexpr auto kFieldsOf<NodeTopologyZone> =
    Table(Field<1, &NodeTopologyZone::name>("name"), Field<2, &NodeTopologyZone::type>("type"),
          Field<3, &NodeTopologyZone::costs>("costs"),
          Field<4, &NodeTopologyZone::resources>("resources"));

template <>
inline constexpr auto kFieldsOf<NodeResourceTopology> =
    Table(Field<1, &NodeResourceTopology::metadata>("metadata"),
          Field<2, &NodeResourceTopology::topology_policies>("topologyPolicies"),
          Field<3, &NodeResourceTopology::zones>("zones"),
          Field<4, &NodeResourceTopology::attributes>("attributes"));

}  // namespace berth::api
