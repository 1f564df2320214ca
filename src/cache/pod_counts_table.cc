// SPDX-License-Identifier: Apache-2.0
#include "src/cache/pod_counts_table.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "berth/check.h"

namespace berth::cache {
namespace {

// Of all groups' lists together: 4 MiB.
constexpr size_t kMaxListed = size_t{1} << 20;

PodScope ScopeOf(const PodTerm& term) {
  return {term.namespaces, term.all_namespaces, term.selector};
}

}  // namespace

class PodCountsTable::Live final : public PodCounts {
 public:
  // `total` is the table's sum of bytes, of which this is a part until Leave().
  Live(const TopologyTable& topologies, size_t& total, PodQuery asked, std::string its_identity,
       uint32_t its_slot)
      : query(std::move(asked)),
        identity(std::move(its_identity)),
        slot(its_slot),
        topologies_(topologies),
        total_(&total) {
    CountBytes();
  }

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
    CountBytes();
    return added.counts;
  }

  void Add(NodeRow row, int32_t delta) {
    by_row_.Add(row, delta);
    for (const auto& domains : by_domain_) domains->Add(row, delta);
    CountBytes();
  }
  void Add(const Counts& rows) {
    rows.ForEach([&](NodeRow row, int32_t count) { by_row_.Add(row, count); });
  }
  // Brings the table's sum up to date.
  void CountBytes() const {
    if (total_ == nullptr) return;
    // What the query itself takes is about as much as its identity.
    size_t now = sizeof(*this) + 2 * identity.size() + by_row_.bytes();
    for (const auto& domains : by_domain_) now += sizeof(*domains) + domains->counts.bytes();
    *total_ += now - std::exchange(bytes_, now);
  }
  // The table drops this one.
  void Leave() {
    *total_ -= bytes_;
    total_ = nullptr;
  }
  size_t bytes() const { return bytes_; }

  // The term under which the query is found: one without which no pod matches.
  PodScope scope() const { return ScopeOf(query.all_of[indexed_term]); }

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
  size_t* total_;
  mutable size_t bytes_ = 0;
  Counts by_row_;
  // Callers keep references to the counts.
  mutable std::vector<std::unique_ptr<ByDomain>> by_domain_;
};

PodCountsTable::PodCountsTable(TopologyTable& topologies, size_t max_bytes, ForEachPod for_each_pod)
    : topologies_(topologies), max_bytes_(max_bytes), for_each_pod_(std::move(for_each_pod)) {}

PodCountsTable::~PodCountsTable() {
  for (const auto& live : by_use_) live->Leave();
}

std::shared_ptr<const PodCounts> PodCountsTable::Get(const PodQuery& query) {
  scratch_.clear();
  query.AppendIdentity(scratch_);
  if (const auto known = by_identity_.find(scratch_); known != by_identity_.end()) {
    by_use_.splice(by_use_.begin(), by_use_, known->second);
    return by_use_.front();
  }
  BeginGrouping();
  std::shared_ptr<Live> live = Make(query);
  by_use_.push_front(live);
  by_identity_.emplace(live->identity, by_use_.begin());
  // A look at each of those that stay is paid for by the new ones.
  if (bytes_ > max_bytes_ && ++num_added_ > num_left_ / 4) Evict();
  return live;
}

uint64_t PodCountsTable::StepsToCount(const PodQuery& query) {
  scratch_.clear();
  query.AppendIdentity(scratch_);
  if (by_identity_.contains(scratch_)) return 1;
  BeginGrouping();
  size_t least = groups_.size();
  for (const PodTerm& term : query.all_of) least = std::min(least, groups_.Crowd(ScopeOf(term)));
  return uint64_t{1} + least * query.all_of.size();
}

void PodCountsTable::BeginGrouping() {
  if (std::exchange(grouping_, true)) return;
  for_each_pod_([this](NodeRow row, const PodInfo& pod) { groups_.Count(row, pod.pod, 1); });
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
  auto live = std::make_shared<Live>(topologies_, bytes_, query, scratch_, slot);
  by_slot_[slot] = live.get();
  // Of the terms, all of which must match: the one under which fewest other queries are found, and
  // the one that fewest groups match.
  std::optional<size_t> least_queries;
  std::optional<size_t> least_groups;
  size_t looked_up = 0;
  for (size_t i = 0; i < query.all_of.size(); ++i) {
    const PodScope scope = ScopeOf(query.all_of[i]);
    if (const size_t crowd = index_.Crowd(scope); !least_queries || crowd < *least_queries) {
      least_queries = crowd;
      live->indexed_term = i;
    }
    if (const size_t crowd = groups_.Crowd(scope); !least_groups || crowd < *least_groups) {
      least_groups = crowd;
      looked_up = i;
    }
  }
  index_.Add(slot, live->scope());
  groups_.ForEachCandidate(ScopeOf(query.all_of[looked_up]), [&](LabelledPods& group) {
    ++num_looks_;
    if (!query.Matches(*group.sample)) return;
    if (group.listed == listing_) {
      group.queries.push_back(slot);
      ++num_listed_;
    }
    live->Add(group.by_row);
  });
  live->CountBytes();
  if (num_listed_ > kMaxListed) ForgetLists();
  return live;
}

void PodCountsTable::Count(NodeRow row, const std::shared_ptr<const api::Pod>& pod, int32_t delta) {
  if (!grouping_) return;
  LabelledPods& group = groups_.Count(row, pod, delta).group;
  ListQueries(group);
  for (const uint32_t slot : group.queries) by_slot_[slot]->Add(row, delta);
  if (num_listed_ > kMaxListed) ForgetLists();
}

void PodCountsTable::ListQueries(LabelledPods& group) {
  if (std::exchange(group.listed, listing_) == listing_) return;
  group.queries.clear();
  const api::ObjectMeta& metadata = group.sample->metadata;
  index_.ForEachCandidate(metadata.namespace_, metadata.labels, [&](uint32_t slot) {
    if (by_slot_[slot]->query.Matches(*group.sample)) group.queries.push_back(slot);
  });
  num_listed_ += group.queries.size();
}

void PodCountsTable::ForgetLists() {
  ++listing_;
  num_listed_ = 0;
  groups_.ForEach([](LabelledPods& group) { group.queries = {}; });
}

void PodCountsTable::Evict() {
  bool dropped = false;
  for (auto last = by_use_.end(); bytes_ > max_bytes_ && last != by_use_.begin();) {
    --last;
    ++num_looks_;
    // The reference of the list is the only one left, and only this table hands out new ones.
    if (last->use_count() > 1) continue;
    last = Drop(last);
    dropped = true;
  }
  // What the lists take goes on counting until they are forgotten.
  if (dropped) ++listing_;
  num_left_ = by_use_.size();
  num_added_ = 0;
}

PodCountsTable::List::iterator PodCountsTable::Drop(List::iterator at) {
  Live& live = **at;
  live.Leave();
  index_.Remove(live.slot, live.scope());
  by_slot_[live.slot] = nullptr;
  free_slots_.push_back(live.slot);
  by_identity_.erase(live.identity);
  return by_use_.erase(at);
}

}  // namespace berth::cache
