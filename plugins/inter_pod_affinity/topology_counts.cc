// SPDX-License-Identifier: Apache-2.0
#include "plugins/inter_pod_affinity/topology_counts.h"

#include <algorithm>
#include <utility>

#include "berth/in_tree/cycle_state.h"
#include "plugins/inter_pod_affinity/terms.h"
#include "plugins/shared/touch_domain.h"

namespace berth::plugins {

int64_t TopologyCounts::Entry::Get(DomainId domain) const {
  const int64_t counted = counts == nullptr ? 0 : counts->Get(domain);
  return imagined.empty() ? counted : counted + imagined.Get(domain);
}

bool TopologyCounts::Entry::Positive(NodeRow row) const {
  const DomainId domain = topology->domain_of[row];
  return domain != kNoDomain && Get(domain) > 0;
}

std::vector<uint8_t> TopologyCounts::Entry::PositiveDomains() const {
  std::vector<uint8_t> bytes(topology->values.size(), 0);
  if (counts != nullptr) {
    counts->ForEach([&](DomainId domain, int32_t count) { bytes[domain] = count > 0; });
  }
  imagined.ForEach([&](DomainId domain, int32_t) { bytes[domain] = Get(domain) > 0; });
  return bytes;
}

TopologyCounts::Entry& TopologyCounts::At(const std::shared_ptr<const Topology>& topology) {
  const auto key_at = [this](size_t i) -> std::string_view { return entries_[i].topology->key; };
  const size_t known = by_key_.Find(topology->key, entries_.size(), key_at);
  if (known != PositionByKey::kNone) return entries_[known];
  Entry& entry = entries_.emplace_back();
  entry.topology = topology;
  by_key_.Added(entries_.size(), key_at);
  return entry;
}

void TopologyCounts::AddCounts(const std::shared_ptr<const Topology>& topology,
                               std::shared_ptr<const Counts> counts) {
  if (topology->num_domains == 0) {
    nowhere_ = true;
    return;
  }
  const bool stays = !IsOwned(counts) || ++num_owned_ <= kMaxOwned;
  sums_alone_ = sums_alone_ || !stays;
  Entry& entry = At(topology);
  if (entry.counts == nullptr && stays) {
    num_counts_ += static_cast<int64_t>(counts->size());
    entry.counts = std::move(counts);
    return;
  }
  if (entry.counts != nullptr) num_counts_ -= static_cast<int64_t>(entry.counts->size());
  if (entry.sum == nullptr) {
    entry.sum = std::make_shared<Counts>(entry.counts == nullptr ? Counts() : *entry.counts);
    if (entry.counts != nullptr) entry.addends.push_back(std::move(entry.counts));
    entry.counts = entry.sum;
  }
  counts->ForEach([&](DomainId domain, int32_t count) { entry.sum->Add(domain, count); });
  if (stays) entry.addends.push_back(std::move(counts));
  num_counts_ += static_cast<int64_t>(entry.sum->size());
}

bool TopologyCounts::Update(std::span<const NodeRow> rows, NodeSet& touched) {
  if (sums_alone_) return false;
  num_counts_ = 0;
  for (Entry& entry : entries_) {
    if (entry.counts == nullptr) continue;
    const Topology& topology = *entry.topology;
    for (const NodeRow row : rows) {
      const DomainId domain = topology.domain_of[row];
      if (domain == kNoDomain) continue;
      if (entry.sum != nullptr) {
        int32_t now = 0;
        for (const auto& addend : entry.addends) now += addend->Get(domain);
        entry.sum->Add(domain, now - entry.sum->Get(domain));
      }
      if (entry.positive.empty()) continue;
      const uint8_t positive = entry.counts->Get(domain) > 0 ? 1 : 0;
      if (std::exchange(entry.positive[domain], positive) != positive) {
        TouchDomain(topology, domain, row, touched);
      }
    }
    if (entry.positive.empty()) {
      // What it was before is not written down.
      entry.positive = entry.PositiveDomains();
      touched |= topology.nodes;
    }
    num_counts_ += static_cast<int64_t>(entry.counts->size());
  }
  return true;
}

void TopologyCounts::Detach() {
  for (Entry& entry : entries_) {
    if (entry.counts != nullptr) entry.counts = std::make_shared<const Counts>(*entry.counts);
    entry.sum.reset();
    entry.addends.clear();
  }
}

void TopologyCounts::AddPod(const Snapshot& snapshot, std::string_view key, NodeRow row,
                            int32_t delta) {
  const std::shared_ptr<const Topology> topology = snapshot.GetTopology(key);
  const DomainId domain = topology->domain_of[row];
  if (domain == kNoDomain) return;
  Entry& entry = At(topology);
  const bool was_there = entry.Get(domain) != 0;
  entry.imagined.Add(domain, delta);
  num_counts_ += static_cast<int64_t>(entry.Get(domain) != 0) - static_cast<int64_t>(was_there);
}

size_t TopologyCounts::bytes() const {
  size_t bytes = entries_.capacity() * sizeof(Entry) + by_key_.bytes();
  for (const Entry& entry : entries_) {
    bytes += ShareOf(entry.topology, entry.topology->bytes()) + entry.positive.capacity() +
             entry.imagined.bytes();
    if (entry.sum != nullptr) bytes += entry.sum->bytes();
    if (IsOwned(entry.counts)) bytes += ShareOf(entry.counts, entry.counts->bytes());
    for (const auto& addend : entry.addends) {
      if (IsOwned(addend)) bytes += ShareOf(addend, addend->bytes());
    }
  }
  return bytes;
}

bool TopologyCounts::HasAllKeys(NodeRow row) const {
  return !nowhere_ && std::all_of(entries_.begin(), entries_.end(), [row](const Entry& entry) {
    return entry.topology->domain_of[row] != kNoDomain;
  });
}

bool TopologyCounts::AllPositive(NodeRow row) const {
  return !nowhere_ && std::all_of(entries_.begin(), entries_.end(),
                                  [row](const Entry& entry) { return entry.Positive(row); });
}

bool TopologyCounts::AnyPositive(NodeRow row) const {
  return std::any_of(entries_.begin(), entries_.end(),
                     [row](const Entry& entry) { return entry.Positive(row); });
}

void TopologyCounts::KeepIfHasAllKeys(NodeSet& nodes) const {
  if (nowhere_) nodes.Assign(nodes.size(), false);
  for (const Entry& entry : entries_) nodes &= entry.topology->nodes;
}

void TopologyCounts::KeepIfAllPositive(NodeSet& nodes) const {
  if (nowhere_) nodes.Assign(nodes.size(), false);
  for (const Entry& entry : entries_) {
    const std::vector<uint8_t> positive = entry.PositiveDomains();
    nodes.Filter([&, domain_of = entry.topology->domain_of.data()](NodeRow row) {
      return domain_of[row] != kNoDomain && positive[domain_of[row]] != 0;
    });
  }
}

void TopologyCounts::RemoveIfAnyPositive(NodeSet& nodes) const {
  for (const Entry& entry : entries_) {
    if ((entry.counts == nullptr || entry.counts->empty()) && entry.imagined.empty()) continue;
    const std::vector<uint8_t> positive = entry.PositiveDomains();
    nodes.Filter([&, domain_of = entry.topology->domain_of.data()](NodeRow row) {
      return domain_of[row] == kNoDomain || positive[domain_of[row]] == 0;
    });
  }
}

}  // namespace berth::plugins
