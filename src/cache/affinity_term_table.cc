// SPDX-License-Identifier: Apache-2.0
#include "src/cache/affinity_term_table.h"

#include <algorithm>

namespace berth::cache {

void AffinityTermTable::Count(NodeRow row, const PodAffinityTerms& terms, int32_t delta) {
  terms.ForEach([&](const AffinityTerm& term) {
    Entry& entry = *entries_[FindOrAdd(term)];
    if (entry.uses == 0) {
      --num_unused_;
      unused_bytes_ -= entry.identity.size();
      used_bytes_ += entry.identity.size();
    }
    entry.uses += static_cast<size_t>(delta);
    if (entry.uses == 0) {
      ++num_unused_;
      unused_bytes_ += entry.identity.size();
      used_bytes_ -= entry.identity.size();
    }
    const DomainId domain = entry.topology->domain_of[row];
    if (domain != kNoDomain) entry.by_domain.Add(domain, delta);
  });
}

void AffinityTermTable::AddMatching(const api::Pod& pod, const api::StringMap& namespace_labels,
                                    AffinityTermKinds kinds,
                                    std::vector<AffinityTermCounts>& out) const {
  matching_.clear();
  index_.ForEachCandidate(pod.metadata.namespace_, pod.metadata.labels, [&](Slot slot) {
    const Entry& entry = *entries_[slot];
    if ((kinds & Only(entry.term.kind)) == 0 || entry.by_domain.empty()) return;
    if (entry.term.Matches(pod, namespace_labels)) matching_.push_back(slot);
  });
  std::sort(matching_.begin(), matching_.end());
  for (const Slot slot : matching_) {
    const Entry& entry = *entries_[slot];
    out.push_back({entry.serial, &entry.term, entry.topology.get(), &entry.by_domain});
  }
}

void AffinityTermTable::Sweep() {
  const bool many = num_unused_ > max_unused_ && num_unused_ > size();
  const bool lengthy = unused_bytes_ > max_unused_bytes_ && unused_bytes_ > used_bytes_;
  if (!many && !lengthy) return;
  for (Slot slot = 0; slot < entries_.size(); ++slot) {
    std::unique_ptr<Entry>& entry = entries_[slot];
    if (entry == nullptr || entry->uses > 0) continue;
    index_.Remove(slot, ScopeOf(entry->term));
    by_identity_.erase(entry->identity);
    entry.reset();
    free_slots_.push_back(slot);
  }
  num_unused_ = 0;
  unused_bytes_ = 0;
  topologies_.Evict();
}

AffinityTermTable::Slot AffinityTermTable::FindOrAdd(const AffinityTerm& term) {
  scratch_.clear();
  term.AppendIdentity(scratch_);
  if (const auto it = by_identity_.find(scratch_); it != by_identity_.end()) return it->second;
  auto slot = static_cast<Slot>(entries_.size());
  if (free_slots_.empty()) {
    entries_.emplace_back();
  } else {
    slot = free_slots_.back();
    free_slots_.pop_back();
  }
  entries_[slot] = std::make_unique<Entry>(
      Entry{++last_serial_, term, scratch_, topologies_.Get(term.topology_key), Counts(), 0});
  const Entry& entry = *entries_[slot];
  by_identity_.emplace(entry.identity, slot);
  index_.Add(slot, ScopeOf(entry.term));
  ++num_unused_;
  unused_bytes_ += entry.identity.size();
  return slot;
}

}  // namespace berth::cache
