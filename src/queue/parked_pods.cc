// SPDX-License-Identifier: Apache-2.0
#include "src/queue/parked_pods.h"

#include <algorithm>

#include "berth/check.h"

namespace berth::queue {

ParkedPods::ParkedPods(const HintTable& hints)
    : hints_(hints), buckets_(hints.profile_count() * hints.plugin_count() + 1) {}

void ParkedPods::Reset() {
  BERTH_CHECK(all_.empty(), "pods are parked by the old hints");
  buckets_.assign(hints_.profile_count() * hints_.plugin_count() + 1, {});
}

ParkedPods::GroupKey ParkedPods::KeyOf(const Entry& entry) const {
  const PodInfo& info = *entry.pod->info;
  GroupKey key;
  key.profile = entry.profile;
  key.gating_plugin = entry.gating_plugin;
  key.gated = entry.counted_as_gated;
  key.rejected = entry.rejected();
  bool alone =
      entry.is_group() || info.pod_class == kNoPodClass || entry.profile == HintTable::kUnknown;
  for (const Entry::Rejector& rejector : entry.rejectors) {
    key.rejectors.push_back(uint64_t{rejector.plugin} << 1 | (rejector.pending ? 1 : 0));
    alone = alone || !hints_.ByClass(rejector.plugin);
  }
  if (alone) {
    key.alone = entry.sequence;
  } else {
    key.pod_class = info.pod_class;
    key.class_epoch = info.class_epoch;
  }
  return key;
}

template <typename Visit>
void ParkedPods::ForEachBucket(const Entry& entry, Visit visit) {
  visit(all_groups_);
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
  entry->holder = Holder::kParked;
  entry->counted_as_gated = entry->pod->gated();
  if (entry->counted_as_gated) ++gated_;
  std::unique_ptr<ParkedGroup>& group = groups_[KeyOf(*entry)];
  if (group == nullptr) {
    group = std::make_unique<ParkedGroup>();
    group->number = ++last_group_;
    ForEachBucket(*entry, [&](Bucket& bucket) { bucket.emplace(group->number, group.get()); });
  }
  group->members.emplace(entry->sequence, entry);
  if (entry->gate_moved) group->moved.emplace(entry->sequence, entry);
  entry->wanted_before = last_wanted_;
}

void ParkedPods::NoteWanted(const ParkedGroup& group) {
  groups_.find(KeyOf(group.any()))->second->wanted = ++last_wanted_;
}

void ParkedPods::SetGateMoved(Entry* entry, bool moved) {
  if (std::exchange(entry->gate_moved, moved) == moved) return;
  ParkedGroup& group = *groups_.find(KeyOf(*entry))->second;
  if (moved) {
    group.moved.emplace(entry->sequence, entry);
  } else {
    group.moved.erase(entry->sequence);
  }
}

void ParkedPods::Remove(Entry* entry) {
  all_.erase(entry->sequence);
  const auto group = groups_.find(KeyOf(*entry));
  BERTH_CHECK(group != groups_.end(), "a parked pod changed while it was parked");
  entry->wanted = Wanted(*group->second, *entry);
  group->second->members.erase(entry->sequence);
  group->second->moved.erase(entry->sequence);
  if (group->second->members.empty()) {
    const uint64_t number = group->second->number;
    ForEachBucket(*entry, [number](Bucket& bucket) { bucket.erase(number); });
    groups_.erase(group);
  }
  entry->holder = Holder::kNone;
  if (entry->counted_as_gated) --gated_;
}

std::vector<const ParkedGroup*> ParkedPods::Candidates(const EventMatch& match) const {
  if (groups_.empty()) return {};
  std::vector<const ParkedGroup*> found;
  size_t buckets = 0;
  const auto take = [&](const Bucket& bucket) {
    buckets += bucket.empty() ? 0 : 1;
    for (const auto& [number, group] : bucket) {
      const Entry& entry = group->any();
      // No event but the gating plugin's own can let a gated pod in; wildcards are for pods that
      // a missing registration would hold for ever.
      if (entry.counted_as_gated && !match.wildcard &&
          (entry.gating_plugin == HintTable::kUnknown || !match.plugins[entry.gating_plugin])) {
        continue;
      }
      found.push_back(group);
    }
  };
  if (match.wildcard) {
    take(all_groups_);
  } else {
    take(buckets_.back());
    for (size_t profile = 0; profile < match.by_profile.size(); ++profile) {
      for (const EventMatch::Hint& hint : match.by_profile[profile]) {
        take(buckets_[profile * hints_.plugin_count() + hint.plugin]);
      }
    }
  }
  // A group stands in the bucket of each of its rejectors.
  if (buckets > 1) {
    std::ranges::sort(found, {}, &ParkedGroup::number);
    const auto repeated = std::ranges::unique(found);
    found.erase(repeated.begin(), repeated.end());
  }
  return found;
}

}  // namespace berth::queue
