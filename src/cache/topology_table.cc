// SPDX-License-Identifier: Apache-2.0
#include "src/cache/topology_table.h"

#include <algorithm>
#include <utility>

#include "berth/check.h"

namespace berth::cache {
namespace {

// Where `value` stands, or would, in the order of values.
auto PlaceOf(Topology& topology, std::string_view value) {
  return std::lower_bound(
      topology.by_value.begin(), topology.by_value.end(), value,
      [&](DomainId id, std::string_view text) { return topology.values[id] < text; });
}

DomainId FindOrAddDomain(Topology& topology, const std::string& value) {
  const auto place = PlaceOf(topology, value);
  if (place != topology.by_value.end() && topology.values[*place] == value) return *place;
  auto id = static_cast<DomainId>(topology.values.size());
  if (topology.num_domains < id) {
    const auto unused = std::find(topology.num_nodes.begin(), topology.num_nodes.end(), 0u);
    id = static_cast<DomainId>(unused - topology.num_nodes.begin());
    topology.values[id] = value;
  } else {
    topology.values.push_back(value);
    topology.num_nodes.push_back(0);
  }
  topology.by_value.insert(place, id);
  ++topology.num_domains;
  return id;
}

void DropDomain(Topology& topology, DomainId id) {
  topology.by_value.erase(PlaceOf(topology, topology.values[id]));
  topology.values[id].clear();
  --topology.num_domains;
}

}  // namespace

TopologyTable::TopologyTable(size_t limit, ForEachNode for_each_node)
    : limit_(limit), for_each_node_(std::move(for_each_node)) {}

std::shared_ptr<const Topology> TopologyTable::Get(std::string_view key) {
  if (const auto known = by_key_.find(key); known != by_key_.end()) {
    by_use_.splice(by_use_.begin(), by_use_, known->second);
    return by_use_.front();
  }
  auto topology = std::make_shared<Live>();
  topology->key = key;
  topology->domain_of = nowhere_;
  for_each_node_(key, [&](NodeRow row, const api::StringMap& labels) {
    Move(*topology, row, api::Find(labels, key));
  });
  by_use_.push_front(topology);
  by_key_.emplace(topology->key, by_use_.begin());
  // A look at each of those that stay is paid for by the new ones.
  if (by_use_.size() > limit_ && ++num_added_ > num_left_ / 4) Evict();
  return topology;
}

std::shared_ptr<const Topology> TopologyTable::Share(const Topology& topology) const {
  const auto known = by_key_.find(topology.key);
  BERTH_CHECK(known != by_key_.end() && known->second->get() == &topology,
              "topology of another snapshot");
  return *known->second;
}

void TopologyTable::Grow(size_t rows) {
  nowhere_.resize(rows, kNoDomain);
  for (const auto& topology : by_use_) {
    if (topology->num_domains > 0) {
      topology->own_domain_of.resize(rows, kNoDomain);
      topology->domain_of = topology->own_domain_of;
      topology->nodes.Resize(rows);
    } else {
      topology->domain_of = nowhere_;
    }
  }
}

bool TopologyTable::Moves(const api::StringMap& before, const api::StringMap& now) const {
  const auto moves = [this](const api::StringMap& labels, const api::StringMap& others) {
    return std::ranges::any_of(labels, [&](const auto& label) {
      if (!by_key_.contains(label.first)) return false;
      const std::string* other = api::Find(others, label.first);
      return other == nullptr || *other != label.second;
    });
  };
  return moves(before, now) || moves(now, before);
}

void TopologyTable::Update(NodeRow row, const api::StringMap& before, const api::StringMap& now) {
  for (const auto& [key, value] : before) {
    const auto known = by_key_.find(key);
    if (known != by_key_.end()) Move(**known->second, row, api::Find(now, key));
  }
  for (const auto& [key, value] : now) {
    const auto known = by_key_.find(key);
    if (known != by_key_.end()) Move(**known->second, row, &value);
  }
}

// The node of `row` has that value now, or none.
void TopologyTable::Move(Live& topology, NodeRow row, const std::string* value) {
  const DomainId from = topology.domain_of[row];
  if (from != kNoDomain && value != nullptr && topology.values[from] == *value) return;
  if (from == kNoDomain && value == nullptr) return;
  if (from != kNoDomain && --topology.num_nodes[from] == 0) DropDomain(topology, from);
  const DomainId to = value == nullptr ? kNoDomain : FindOrAddDomain(topology, *value);
  if (topology.num_domains == 0) {
    topology.domain_of = nowhere_;
    topology.own_domain_of = {};
    topology.nodes = {};
    return;
  }
  topology.nodes.Resize(nowhere_.size());
  topology.nodes.Put(row, to != kNoDomain);
  if (to != kNoDomain) ++topology.num_nodes[to];
  if (topology.own_domain_of.empty()) {
    topology.own_domain_of.assign(nowhere_.size(), kNoDomain);
    topology.domain_of = topology.own_domain_of;
  }
  topology.own_domain_of[row] = to;
}

size_t TopologyTable::bytes() const {
  size_t bytes = nowhere_.capacity() * sizeof(DomainId);
  for (const auto& topology : by_use_) bytes += sizeof(*topology) + topology->bytes();
  return bytes;
}

void TopologyTable::Evict() {
  for (auto last = by_use_.end(); by_use_.size() > limit_ && last != by_use_.begin();) {
    --last;
    ++num_looks_;
    // The reference of the list is the only one left, and only this table hands out new ones.
    if (last->use_count() > 1) continue;
    by_key_.erase((*last)->key);
    last = by_use_.erase(last);
  }
  num_left_ = by_use_.size();
  num_added_ = 0;
}

}  // namespace berth::cache
