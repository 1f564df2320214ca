// SPDX-License-Identifier: Apache-2.0
#include "berth/default_selector.h"

#include <algorithm>
#include <optional>
#include <string>

#include "berth/in_tree/eviction.h"

namespace berth {
namespace {

// Puts `labels` into `merged`; of two values for a key the new one stays.
void MergeLabels(const api::StringMap& labels, api::StringMap& merged) {
  for (const auto& [key, value] : labels) api::Put(key, value, merged);
}

// A selector that selects nothing takes part as if it were not there.
void RequireSelector(const std::optional<api::LabelSelector>& selector,
                     LabelSelectorMatcher& merged) {
  const auto matcher = LabelSelectorMatcher::Make(selector);
  if (matcher && !matcher->nothing()) merged.Require(*matcher);
}

}  // namespace

LabelSelectorMatcher DefaultSelector(const api::Pod& pod, const Listers& listers) {
  const std::string& namespace_ = pod.metadata.namespace_;
  api::StringMap labels;
  listers.ForEach<api::Service>(namespace_, [&](const api::Service& service) {
    if (service.spec.selector.empty()) return;
    const auto on_pod = [&](const auto& label) {
      const std::string* value = api::Find(pod.metadata.labels, label.first);
      return value != nullptr && *value == label.second;
    };
    if (std::ranges::all_of(service.spec.selector, on_pod))
      MergeLabels(service.spec.selector, labels);
  });

  const api::OwnerReference* owner = ControllerOf(pod.metadata);
  if (owner == nullptr) return LabelSelectorMatcher::OfLabels(labels);
  if (owner->kind == "ReplicationController" && owner->api_version == "v1") {
    // Its labels replace those of services, where a controller of the apps group adds its own.
    if (const auto* rc = listers.Find<api::ReplicationController>(namespace_, owner->name)) {
      MergeLabels(rc->spec.selector, labels);
    }
    return LabelSelectorMatcher::OfLabels(labels);
  }
  LabelSelectorMatcher selector = LabelSelectorMatcher::OfLabels(labels);
  if (owner->api_version != "apps/v1") return selector;
  if (owner->kind == "ReplicaSet") {
    if (const auto* set = listers.Find<api::ReplicaSet>(namespace_, owner->name)) {
      RequireSelector(set->spec.selector, selector);
    }
  } else if (owner->kind == "StatefulSet") {
    if (const auto* set = listers.Find<api::StatefulSet>(namespace_, owner->name)) {
      RequireSelector(set->spec.selector, selector);
    }
  }
  return selector;
}

}  // namespace berth
