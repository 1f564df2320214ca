// SPDX-License-Identifier: Apache-2.0
#include "src/cache/pod_counts_table.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "berth/check.h"

namespace berth::cache {

class PodCountsTable::Live final : public PodCounts {
 public:
  Live(const TopologyTable& topologies, PodQuery asked, std::string its_identity, uint32_t its_slot)
      : query(std::move(asked)),
        identity(std::move(its_identity)),
        slot(its_slot),
        topologies_(topologies) {}

  const Counts& by_row() const override { return by_row_; }

  const Counts& by_domain(const Topology& topology) const override {
    // There may be any number of keys that no node has.
    static const Counts kNone;
    if (topology.num_domains == 0) return kNone;
    for (const auto& domains : by_domain_) {
      if (domains->topology.get() == &topology) return domains->counts;
    }
    auto& added = *by_domain_.emplace_back(
        std::make_unique<ByDomain>(ByDomain{topologies_.Share(topology), Counts()}));
    by_row_.ForEach([&](NodeRow row, int32_t count) { added.Add(row, count); });
    return added.counts;
  }

  void Add(NodeRow row, int32_t delta) {
    by_row_.Add(row, delta);
    for (const auto& domains : by_domain_) domains->Add(row, delta);
  }

  // Without what the query itself takes, which is about as much as its identity.
  size_t bytes() const {
    size_t bytes = sizeof(*this) + 2 * identity.size() + by_row_.bytes();
    for (const auto& domains : by_domain_) bytes += sizeof(*domains) + domains->counts.bytes();
    return bytes;
  }

  // The term under which the query is found: one without which no pod matches.
  PodScope scope() const {
    const PodTerm& term = query.all_of[indexed_term];
    return {term.namespaces, term.all_namespaces, term.selector};
  }

  const PodQuery query;
  const std::string identity;
  const uint32_t slot;
  size_t indexed_term = 0;

 private:
  struct ByDomain {
    std::shared_ptr<const Topology> topology;
    Counts counts;

    void Add(NodeRow row, int32_t delta) {
      const DomainId domain = topology->domain_of[row];
      if (domain != kNoDomain) counts.Add(domain, delta);
    }
  };

  const TopologyTable& topologies_;
  Counts by_row_;
  // Callers keep references to the counts.
  mutable std::vector<std::unique_ptr<ByDomain>> by_domain_;
};

PodCountsTable::PodCountsTable(TopologyTable& topologies, size_t max_bytes, ForEachPod for_each_pod)
    : topologies_(topologies), max_bytes_(max_bytes), for_each_pod_(std::move(for_each_pod)) {}

PodCountsTable::~PodCountsTable() = default;

std::shared_ptr<const PodCounts> PodCountsTable::Get(const PodQuery& query) {
  scratch_.clear();
  query.AppendIdentity(scratch_);
  if (const auto known = by_identity_.find(scratch_); known != by_identity_.end()) {
    by_use_.splice(by_use_.begin(), by_use_, known->second);
    return by_use_.front();
  }
  if (!std::exchange(grouping_, true)) {
    for_each_pod_([this](NodeRow row, const PodInfo& pod) { groups_.Count(row, pod.pod, 1); });
  }
  std::shared_ptr<Live> live = Make(query);
  by_use_.push_front(live);
  by_identity_.emplace(live->identity, by_use_.begin());
  Evict();
  return live;
}

std::shared_ptr<PodCountsTable::Live> PodCountsTable::Make(const PodQuery& query) {
  BERTH_CHECK(!query.all_of.empty(), "query without a term");
  auto slot = static_cast<uint32_t>(by_slot_.size());
  if (free_slots_.empty()) {
    by_slot_.emplace_back();
  } else {
    slot = free_slots_.back();
    free_slots_.pop_back();
  }
  auto live = std::make_shared<Live>(topologies_, query, scratch_, slot);
  by_slot_[slot] = live.get();
  std::optional<size_t> least;
  for (size_t i = 0; i < query.all_of.size(); ++i) {
    const PodTerm& term = query.all_of[i];
    const size_t crowd = index_.Crowd({term.namespaces, term.all_namespaces, term.selector});
    if (least && crowd >= *least) continue;
    least = crowd;
    live->indexed_term = i;
  }
  index_.Add(slot, live->scope());
  groups_.ForEach([&](LabelledPods& group) {
    if (!query.Matches(*group.sample)) return;
    group.queries.push_back(slot);
    group.by_row.ForEach([&](NodeRow row, int32_t count) { live->Add(row, count); });
  });
  return live;
}

void PodCountsTable::Count(NodeRow row, const std::shared_ptr<const api::Pod>& pod, int32_t delta) {
  if (!grouping_) return;
  const auto [group, added] = groups_.Count(row, pod, delta);
  if (added) {
    const api::ObjectMeta& metadata = pod->metadata;
    index_.ForEachCandidate(metadata.namespace_, metadata.labels, [&](uint32_t slot) {
      if (by_slot_[slot]->query.Matches(*pod)) group.queries.push_back(slot);
    });
  }
  for (const uint32_t slot : group.queries) by_slot_[slot]->Add(row, delta);
}

void PodCountsTable::Evict() {
  size_t bytes = 0;
  for (const auto& live : by_use_) bytes += live->bytes();
  for (auto last = by_use_.end(); bytes > max_bytes_ && last != by_use_.begin();) {
    --last;
    // The reference of the list is the only one left, and only this table hands out new ones.
    if (last->use_count() > 1) continue;
    bytes -= (*last)->bytes();
    last = Drop(last);
  }
}

PodCountsTable::List::iterator PodCountsTable::Drop(List::iterator at) {
  const Live& live = **at;
  index_.Remove(live.slot, live.scope());
  groups_.ForEach([&](LabelledPods& group) { std::erase(group.queries, live.slot); });
  by_slot_[live.slot] = nullptr;
  free_slots_.push_back(live.slot);
  by_identity_.erase(live.identity);
  return by_use_.erase(at);
}

}  // namespace berth::cache
