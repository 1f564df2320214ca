// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "berth/api/pod.h"
#include "src/api/field_table.h"
#include "src/api/tables_meta.h"

// Field tables of what a pod asks of its node and of other pods. Numbers are those of
// k8s.io/api/core/v1/generated.proto.
namespace berth::api {

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

}  // namespace berth::api
