// SPDX-License-Identifier: Apache-2.0
#include "plugins/inter_pod_affinity/filter_state.h"

#include <algorithm>
#include <string>
#include <utility>

namespace berth::plugins {

PodAffinityFilterState::PodAffinityFilterState(const PodInfo& pod, const Snapshot& snapshot,
                                               TermResolver& resolver,
                                               const std::vector<AffinityTermCounts>& placed)
    : terms_(std::make_shared<Terms>()) {
  ReadTerms(pod, resolver);
  for (const AffinityTermCounts& term : placed) {
    placed_terms_.push_back(term.serial);
    placed_anti_affinity_.AddCounts(snapshot, term.topology->key, Borrow(*term.by_domain));
  }
  // kube-scheduler counts a pod once for every term with the key. Only the sign of a count is ever
  // read, so once for the key does.
  for (const std::string& key : terms_->affinity_keys) {
    affinity_.AddCounts(snapshot, key, CountByDomain(snapshot, terms_->affinity, key));
  }
  for (const KeyedTerm& term : terms_->anti_affinity) {
    anti_affinity_.AddCounts(snapshot, term.topology_key,
                             CountByDomain(snapshot, term.query, term.topology_key));
  }
}

void PodAffinityFilterState::ReadTerms(const PodInfo& pod, TermResolver& resolver) {
  terms_->pod = pod.pod.get();
  terms_->namespace_labels = &resolver.NamespaceLabels(pod.pod->metadata.namespace_);
  if (pod.affinity == nullptr) return;
  std::vector<std::string>& keys = terms_->affinity_keys;
  for (const AffinityTerm& term : pod.affinity->required_affinity) {
    terms_->affinity.all_of.push_back(resolver.Resolve(term));
    if (std::find(keys.begin(), keys.end(), term.topology_key) == keys.end()) {
      keys.push_back(term.topology_key);
    }
  }
  terms_->matches_own_affinity = !keys.empty() && terms_->affinity.Matches(*pod.pod);
  for (const AffinityTerm& term : pod.affinity->required_anti_affinity) {
    terms_->anti_affinity.push_back({term.topology_key, {.all_of = {resolver.Resolve(term)}}});
  }
}

size_t PodAffinityFilterState::bytes() const {
  size_t bytes = sizeof(Terms) + affinity_.bytes() + anti_affinity_.bytes() +
                 placed_anti_affinity_.bytes() +
                 placed_terms_.capacity() * sizeof(placed_terms_[0]);
  // A selector of namespaces stands for all that it selects.
  const auto add = [&bytes](const PodQuery& query) {
    for (const PodTerm& term : query.all_of) {
      bytes += sizeof(term) + term.namespaces.capacity() * sizeof(std::string);
    }
  };
  add(terms_->affinity);
  for (const KeyedTerm& term : terms_->anti_affinity) add(term.query);
  return bytes;
}

bool PodAffinityFilterState::nothing_to_say() const {
  return placed_anti_affinity_.empty() && terms_->affinity_keys.empty() &&
         terms_->anti_affinity.empty();
}

void PodAffinityFilterState::UpdateWithPod(const Snapshot& snapshot, const PodInfo& other,
                                           NodeRow row, int32_t delta) {
  if (other.affinity != nullptr) {
    for (const AffinityTerm& term : other.affinity->required_anti_affinity) {
      if (term.Matches(*terms_->pod, *terms_->namespace_labels)) {
        placed_anti_affinity_.AddPod(snapshot, term.topology_key, row, delta);
      }
    }
  }
  if (!terms_->affinity_keys.empty() && terms_->affinity.Matches(*other.pod)) {
    for (const std::string& key : terms_->affinity_keys) {
      affinity_.AddPod(snapshot, key, row, delta);
    }
  }
  for (const KeyedTerm& term : terms_->anti_affinity) {
    if (term.query.Matches(*other.pod)) {
      anti_affinity_.AddPod(snapshot, term.topology_key, row, delta);
    }
  }
}

void PodAffinityFilterState::Detach() {
  affinity_.Detach();
  anti_affinity_.Detach();
  placed_anti_affinity_.Detach();
}

bool PodAffinityFilterState::Update(std::span<const NodeRow> rows,
                                    const std::vector<AffinityTermCounts>& placed,
                                    NodeSet& touched) {
  if (!std::ranges::equal(placed, placed_terms_, {}, &AffinityTermCounts::serial)) return false;
  const bool none_matched = affinity_.empty();
  affinity_.Update(rows, touched);
  anti_affinity_.Update(rows, touched);
  placed_anti_affinity_.Update(rows, touched);
  return affinity_.empty() == none_matched;
}

bool PodAffinityFilterState::SatisfiesAffinity(NodeRow row) const {
  if (affinity_.AllPositive(row)) return true;
  return terms_->matches_own_affinity && affinity_.empty() && affinity_.HasAllKeys(row);
}

void PodAffinityFilterState::FilterNodes(NodeSet& nodes) const {
  if (terms_->matches_own_affinity && affinity_.empty()) {
    affinity_.KeepIfHasAllKeys(nodes);
  } else {
    affinity_.KeepIfAllPositive(nodes);
  }
  anti_affinity_.RemoveIfAnyPositive(nodes);
  placed_anti_affinity_.RemoveIfAnyPositive(nodes);
}

}  // namespace berth::plugins
