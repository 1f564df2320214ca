// SPDX-License-Identifier: Apache-2.0
#include "src/cache/tested_label_keys.h"

#include <algorithm>
#include <type_traits>
#include <variant>

namespace berth::cache {
namespace {

// Calls visit(key) until it returns false; whether it never did.
template <typename Visit>
bool EveryKey(const api::StringMap& labels, const Visit& visit) {
  return std::ranges::all_of(labels, [&](const auto& label) { return visit(label.first); });
}

template <typename Visit>
bool EveryKey(const api::LabelSelector& selector, const Visit& visit) {
  return EveryKey(selector.match_labels, visit) &&
         std::ranges::all_of(selector.match_expressions,
                             [&](const auto& expression) { return visit(expression.key); });
}

template <typename Visit>
bool EveryKey(const api::PodAffinityTerm& term, const Visit& visit) {
  return (!term.label_selector || EveryKey(*term.label_selector, visit)) &&
         std::ranges::all_of(term.match_label_keys, visit) &&
         std::ranges::all_of(term.mismatch_label_keys, visit);
}

template <typename Visit>
bool EveryKey(const api::PodAffinity& affinity, const Visit& visit) {
  const auto every = [&](const api::PodAffinityTerm& term) { return EveryKey(term, visit); };
  return std::ranges::all_of(affinity.required_during_scheduling_ignored_during_execution, every) &&
         std::ranges::all_of(
             affinity.preferred_during_scheduling_ignored_during_execution,
             [&](const auto& weighted) { return every(weighted.pod_affinity_term); });
}

template <typename Visit>
bool EveryTermKey(const api::PodSpec& spec, const Visit& visit) {
  if (!spec.affinity) return true;
  const auto& [node, with, against] = *spec.affinity;
  return (!with || EveryKey(*with, visit)) && (!against || EveryKey(*against, visit));
}

}  // namespace

bool TestedLabelKeys::Add(std::string_view key) {
  if (Contains(key)) return false;
  keys_.emplace(key);
  if (keys_.size() > kMax) {
    all_ = true;
    keys_.clear();
  }
  return true;
}

bool TestedLabelKeys::AddTermsOf(const api::PodSpec& spec) {
  bool added = false;
  EveryTermKey(spec, [&](const std::string& key) {
    added = Add(key) || added;
    return true;
  });
  return added;
}

bool TestedLabelKeys::AddSelectorOf(const api::ObjectPtr& object) {
  bool added = false;
  const auto add = [&](const std::string& key) {
    added = Add(key) || added;
    return true;
  };
  std::visit(
      [&](const auto& held) {
        using Held = std::decay_t<decltype(held)>;
        if constexpr (std::is_same_v<Held, std::shared_ptr<const api::Service>> ||
                      std::is_same_v<Held, std::shared_ptr<const api::ReplicationController>>) {
          EveryKey(held->spec.selector, add);
        } else if constexpr (std::is_same_v<Held, std::shared_ptr<const api::ReplicaSet>> ||
                             std::is_same_v<Held, std::shared_ptr<const api::StatefulSet>>) {
          if (held->spec.selector) EveryKey(*held->spec.selector, add);
        }
      },
      object);
  return added;
}

bool TestedLabelKeys::AddKeys(std::span<const std::string> keys) {
  bool added = false;
  for (const std::string& key : keys) added = Add(key) || added;
  return added;
}

bool OwnTermsTest(const api::PodSpec& spec, std::string_view key) {
  const auto other = [key](const std::string& tested) { return tested != key; };
  return !EveryTermKey(spec, other) ||
         !std::ranges::all_of(spec.topology_spread_constraints, [&](const auto& constraint) {
           return (!constraint.label_selector || EveryKey(*constraint.label_selector, other)) &&
                  std::ranges::all_of(constraint.match_label_keys, other);
         });
}

}  // namespace berth::cache
