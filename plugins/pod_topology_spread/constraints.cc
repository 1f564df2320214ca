// SPDX-License-Identifier: Apache-2.0
#include "plugins/pod_topology_spread/constraints.h"

#include <algorithm>
#include <utility>

#include "berth/default_selector.h"

namespace berth::plugins {
namespace {

constexpr std::string_view kDoNotSchedule = "DoNotSchedule";
constexpr std::string_view kScheduleAnyway = "ScheduleAnyway";

std::vector<api::TopologySpreadConstraint> SystemDefaults() {
  const auto make = [](int32_t max_skew, std::string_view key) {
    api::TopologySpreadConstraint constraint;
    constraint.max_skew = max_skew;
    constraint.topology_key = key;
    constraint.when_unsatisfiable = kScheduleAnyway;
    return constraint;
  };
  return {make(3, "kubernetes.io/hostname"), make(5, "topology.kubernetes.io/zone")};
}

bool Honors(const std::optional<std::string>& policy, bool by_default) {
  return policy ? *policy == "Honor" : by_default;
}

Error Within(std::string_view what, const Error& error) {
  return {std::string(what) + ": " + error.message};
}

}  // namespace

bool HasAllKeys(const api::StringMap& node_labels, const SpreadConstraints& constraints) {
  return std::ranges::all_of(constraints, [&](const SpreadConstraint& constraint) {
    return api::Find(node_labels, constraint.topology_key) != nullptr;
  });
}

ConstraintSource::ConstraintSource(const PodTopologySpreadArgs& args, Handle& handle)
    : system_defaulting_(args.system_defaulting),
      match_label_keys_(handle.features().match_label_keys_in_pod_topology_spread),
      defaults_(args.system_defaulting ? SystemDefaults() : args.default_constraints),
      listers_(&handle.listers()) {}

Result<SpreadConstraints> ConstraintSource::Hard(const api::Pod& pod) const {
  auto constraints = Of(pod, kDoNotSchedule);
  if (constraints) return constraints;
  return Fail(Within("obtaining pod's hard topology spread constraints", constraints.error()));
}

Result<SpreadConstraints> ConstraintSource::Soft(const api::Pod& pod) const {
  auto constraints = Of(pod, kScheduleAnyway);
  if (constraints) return constraints;
  return Fail(Within("obtaining pod's soft topology spread constraints", constraints.error()));
}

bool ConstraintSource::RequiresAllKeys(const api::Pod& pod) const {
  return !system_defaulting_ || !pod.spec.topology_spread_constraints.empty();
}

Result<SpreadConstraints> ConstraintSource::Of(const api::Pod& pod, std::string_view action) const {
  const auto& own = pod.spec.topology_spread_constraints;
  if (!own.empty()) return Parse(own, pod.metadata.labels, action);
  auto constraints = Parse(defaults_, pod.metadata.labels, action);
  if (!constraints || constraints->empty()) return constraints;
  const LabelSelectorMatcher selector = DefaultSelector(pod, *listers_);
  if (selector.everything()) return SpreadConstraints();
  for (SpreadConstraint& constraint : *constraints) constraint.selector = selector;
  return constraints;
}

Result<SpreadConstraints> ConstraintSource::Parse(
    const std::vector<api::TopologySpreadConstraint>& constraints, const api::StringMap& pod_labels,
    std::string_view action) const {
  SpreadConstraints parsed;
  for (const api::TopologySpreadConstraint& constraint : constraints) {
    if (constraint.when_unsatisfiable != action) continue;
    auto selector = LabelSelectorMatcher::Make(constraint.label_selector);
    if (!selector) return Fail(selector.error());
    SpreadConstraint& made = parsed.emplace_back();
    made.max_skew = constraint.max_skew;
    made.topology_key = constraint.topology_key;
    made.selector = std::move(*selector);
    made.min_domains = constraint.min_domains.value_or(made.min_domains);
    made.honors_node_affinity = Honors(constraint.node_affinity_policy, made.honors_node_affinity);
    made.honors_node_taints = Honors(constraint.node_taints_policy, made.honors_node_taints);
    if (!match_label_keys_) continue;
    for (const std::string& key : constraint.match_label_keys) {
      if (const std::string* value = api::Find(pod_labels, key)) made.selector.Require(key, *value);
    }
  }
  return parsed;
}

}  // namespace berth::plugins
