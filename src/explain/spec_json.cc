// SPDX-License-Identifier: Apache-2.0
#include "src/explain/spec_json.h"

#include <algorithm>
#include <vector>

#include "src/base/json.h"

namespace berth::explain {
namespace {

using base::JsonList;
using base::JsonObject;

void AppendRequirements(const std::vector<api::NodeSelectorRequirement>& requirements,
                        std::string_view name, JsonObject& out) {
  if (requirements.empty()) return;
  JsonList list(out.Key(name));
  for (const auto& requirement : requirements) AppendRequirement(requirement, list.Next());
}

// A requirement of a node or of a pod.
template <typename Requirement>
void AppendAnyRequirement(const Requirement& requirement, std::string& out) {
  JsonObject object(out);
  object.Add("key", requirement.key);
  object.Add("operator", requirement.operator_);
  if (!requirement.values.empty()) base::AppendJsonList(requirement.values, object.Key("values"));
}

void AddNamesIfAny(std::string_view name, const std::vector<std::string>& names, JsonObject& out) {
  if (!names.empty()) base::AppendJsonList(names, out.Key(name));
}

}  // namespace

void AppendStringMap(const api::StringMap& map, std::string& out) {
  JsonObject object(out);
  for (const auto& [key, value] : map) object.Add(key, value);
}

void AppendRequirement(const api::NodeSelectorRequirement& requirement, std::string& out) {
  AppendAnyRequirement(requirement, out);
}

void AppendSelector(const api::LabelSelector& selector, std::span<const std::string> without,
                    std::string& out) {
  JsonObject object(out);
  std::vector<const api::LabelSelectorRequirement*> requirements;
  for (const api::LabelSelectorRequirement& requirement : selector.match_expressions) {
    if (std::ranges::find(without, requirement.key) == without.end())
      requirements.push_back(&requirement);
  }
  if (!requirements.empty()) {
    JsonList list(object.Key("matchExpressions"));
    for (const auto* requirement : requirements) AppendAnyRequirement(*requirement, list.Next());
  }
  if (!selector.match_labels.empty()) {
    AppendStringMap(selector.match_labels, object.Key("matchLabels"));
  }
}

void AppendTerms(const api::NodeSelector& selector, std::string& out) {
  JsonList list(out);
  for (const api::NodeSelectorTerm& term : selector.node_selector_terms) {
    JsonObject object(list.Next());
    AppendRequirements(term.match_expressions, "matchExpressions", object);
    AppendRequirements(term.match_fields, "matchFields", object);
  }
}

void AppendTerm(const api::PodAffinityTerm& term, std::string& out) {
  std::vector<std::string> added = term.match_label_keys;
  added.insert(added.end(), term.mismatch_label_keys.begin(), term.mismatch_label_keys.end());
  JsonObject object(out);
  if (term.label_selector) AppendSelector(*term.label_selector, added, object.Key("labelSelector"));
  AddNamesIfAny("matchLabelKeys", term.match_label_keys, object);
  AddNamesIfAny("mismatchLabelKeys", term.mismatch_label_keys, object);
  if (term.namespace_selector) {
    AppendSelector(*term.namespace_selector, {}, object.Key("namespaceSelector"));
  }
  AddNamesIfAny("namespaces", term.namespaces, object);
  object.Add("topologyKey", term.topology_key);
}

void AppendConstraint(const api::TopologySpreadConstraint& constraint, std::string& out) {
  JsonObject object(out);
  if (constraint.label_selector) {
    AppendSelector(*constraint.label_selector, constraint.match_label_keys,
                   object.Key("labelSelector"));
  }
  AddNamesIfAny("matchLabelKeys", constraint.match_label_keys, object);
  object.Add("maxSkew", constraint.max_skew);
  if (constraint.min_domains) object.Add("minDomains", *constraint.min_domains);
  if (constraint.node_affinity_policy)
    object.Add("nodeAffinityPolicy", *constraint.node_affinity_policy);
  if (constraint.node_taints_policy) object.Add("nodeTaintsPolicy", *constraint.node_taints_policy);
  object.Add("topologyKey", constraint.topology_key);
  object.Add("whenUnsatisfiable", constraint.when_unsatisfiable);
}

void AppendToleration(const api::Toleration& toleration, std::string& out) {
  JsonObject object(out);
  object.AddIfNotEmpty("effect", toleration.effect);
  object.AddIfNotEmpty("key", toleration.key);
  object.AddIfNotEmpty("operator", toleration.operator_);
  if (toleration.toleration_seconds) {
    object.Add("tolerationSeconds", *toleration.toleration_seconds);
  }
  object.AddIfNotEmpty("value", toleration.value);
}

void AppendTaintValue(const api::Taint& taint, std::string& out) {
  JsonObject object(out);
  object.Add("effect", taint.effect);
  object.Add("key", taint.key);
  object.AddIfNotEmpty("value", taint.value);
}

}  // namespace berth::explain
