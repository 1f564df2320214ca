// SPDX-License-Identifier: Apache-2.0
#include "src/queue/parked_pods.h"

#include <algorithm>

#include "berth/check.h"

namespace berth::queue {

ParkedPods::ParkedPods(const HintTable& hints)
    : hints_(hints), buckets_(hints.profile_count() * hints.plugin_count() + 1) {}

template <typename Visit>
void ParkedPods::ForEachBucket(const Entry& entry, Visit visit) {
  if (entry.profile == HintTable::kUnknown) {
    visit(buckets_.back());
    return;
  }
  for (const Entry::Rejector& rejector : entry.rejectors) {
    visit(buckets_[entry.profile * hints_.plugin_count() + rejector.plugin]);
  }
}

void ParkedPods::Add(Entry* entry) {
  const bool added = all_.emplace(entry->sequence, entry).second;
  BERTH_CHECK(added, "two parked pods under one number");
  ForEachBucket(*entry, [entry](auto& bucket) { bucket.emplace(entry->sequence, entry); });
  entry->holder = Holder::kParked;
  entry->counted_as_gated = entry->pod->gated();
  if (entry->counted_as_gated) ++gated_;
}

void ParkedPods::Remove(Entry* entry) {
  all_.erase(entry->sequence);
  ForEachBucket(*entry, [entry](auto& bucket) { bucket.erase(entry->sequence); });
  entry->holder = Holder::kNone;
  if (entry->counted_as_gated) --gated_;
}

std::vector<Entry*> ParkedPods::Candidates(const EventMatch& match) const {
  std::vector<Entry*> found;
  const auto take = [&](const absl::btree_map<uint64_t, Entry*>& bucket) {
    for (const auto& [sequence, entry] : bucket) {
      // No event but the gating plugin's own can let a gated pod in; wildcards are for pods that
      // a missing registration would hold for ever.
      if (entry->pod->gated() && !match.wildcard &&
          (entry->gating_plugin == HintTable::kUnknown || !match.plugins[entry->gating_plugin])) {
        continue;
      }
      found.push_back(entry);
    }
  };
  if (match.wildcard) {
    take(all_);
    return found;
  }
  std::vector<size_t> wanted = {buckets_.size() - 1};
  for (size_t profile = 0; profile < match.by_profile.size(); ++profile) {
    for (const EventMatch::Hint& hint : match.by_profile[profile]) {
      wanted.push_back(profile * hints_.plugin_count() + hint.plugin);
    }
  }
  std::sort(wanted.begin(), wanted.end());
  wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
  for (const size_t bucket : wanted) take(buckets_[bucket]);
  // A pod with several rejectors comes from several buckets.
  const auto by_sequence = [](const Entry* a, const Entry* b) { return a->sequence < b->sequence; };
  if (!std::is_sorted(found.begin(), found.end(), by_sequence)) {
    std::sort(found.begin(), found.end(), by_sequence);
  }
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

}  // namespace berth::queue
