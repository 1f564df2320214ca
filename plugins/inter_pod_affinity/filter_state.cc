// SPDX-License-Identifier: Apache-2.0
#include "plugins/inter_pod_affinity/filter_state.h"

#include <algorithm>

#include "absl/container/flat_hash_set.h"

namespace berth::plugins {

PodAffinityFilterState::PodAffinityFilterState(const PodInfo& pod, const Snapshot& snapshot,
                                               TermResolver& resolver,
                                               const std::vector<AffinityTermCounts>& placed,
                                               CycleBudget& budget)
    : terms_(std::make_shared<Terms>()) {
  ReadTerms(pod, resolver, budget);
  if (budget.spent()) return;
  for (const AffinityTermCounts& term : placed) {
    placed_terms_.push_back(term.serial);
    if (term.topology->num_domains == 0) continue;
    placed_anti_affinity_.AddCounts(snapshot.GetTopology(term.topology->key),
                                    Borrow(*term.by_domain));
  }
  CountOwn(snapshot, budget);
}

void PodAffinityFilterState::ReadTerms(const PodInfo& pod, TermResolver& resolver,
                                       CycleBudget& budget) {
  terms_->pod = pod.pod.get();
  terms_->own = pod.affinity;
  terms_->namespace_labels = &resolver.NamespaceLabels(pod.pod->metadata.namespace_);
  if (pod.affinity == nullptr) return;
  // Only the sign of a count is ever read, so a key, and a term that the spec repeats, do once.
  const size_t most =
      std::max(pod.affinity->required_affinity.size(), pod.affinity->required_anti_affinity.size());
  absl::flat_hash_set<std::string_view> keys;
  absl::flat_hash_set<const AffinityTerm*> known;
  const auto is_new = [&known, most](const AffinityTerm& term) {
    return most == 1 || known.insert(&term).second;
  };
  for (const AffinityTerm& term : pod.affinity->required_affinity) {
    if (!is_new(term)) continue;
    terms_->affinity.all_of.push_back(resolver.Resolve(term, budget));
    if (budget.spent()) return;
    if (keys.insert(term.topology_key).second) terms_->affinity_keys.push_back(term.topology_key);
  }
  terms_->matches_own_affinity =
      !terms_->affinity_keys.empty() && terms_->affinity.Matches(*pod.pod);
  for (const AffinityTerm& term : pod.affinity->required_anti_affinity) {
    if (!is_new(term)) continue;
    terms_->anti_affinity.push_back(
        {term.topology_key, {.all_of = {resolver.Resolve(term, budget)}}});
    if (budget.spent()) return;
  }
}

// What it takes is spent before anything is counted: a pod that asks for too much is tried again
// and again.
void PodAffinityFilterState::CountOwn(const Snapshot& snapshot, CycleBudget& budget) {
  std::vector<std::shared_ptr<const Topology>> topologies;
  topologies.reserve(terms_->anti_affinity.size());
  for (const KeyedTerm& term : terms_->anti_affinity) {
    topologies.push_back(snapshot.GetTopology(term.topology_key));
    const bool counts = topologies.back()->num_domains > 0;
    if (!budget.Spend(counts ? snapshot.StepsToCountPods(term.query) : 1)) return;
  }
  if (!terms_->affinity_keys.empty()) {
    if (!budget.Spend(snapshot.StepsToCountPods(terms_->affinity))) return;
    const std::shared_ptr<const PodCounts> counts = snapshot.CountPods(terms_->affinity);
    for (const std::string_view key : terms_->affinity_keys) {
      const std::shared_ptr<const Topology> topology = snapshot.GetTopology(key);
      affinity_.AddCounts(topology,
                          std::shared_ptr<const Counts>(counts, &counts->by_domain(*topology)));
    }
  }
  for (size_t i = 0; i < topologies.size(); ++i) {
    anti_affinity_.AddCounts(
        topologies[i], CountByDomain(snapshot, terms_->anti_affinity[i].query, *topologies[i]));
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
    for (const std::string_view key : terms_->affinity_keys) {
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
  return affinity_.Update(rows, touched) && anti_affinity_.Update(rows, touched) &&
         placed_anti_affinity_.Update(rows, touched) && affinity_.empty() == none_matched;
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
