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

// The node of `row` has that value now, or none.
void Move(Topology& topology, NodeRow row, const std::string* value) {
  const DomainId from = topology.domain_of[row];
  if (from != kNoDomain && value != nullptr && topology.values[from] == *value) return;
  if (from != kNoDomain && --topology.num_nodes[from] == 0) DropDomain(topology, from);
  const DomainId to = value == nullptr ? kNoDomain : FindOrAddDomain(topology, *value);
  if (to != kNoDomain) ++topology.num_nodes[to];
  topology.domain_of[row] = to;
  topology.nodes.Put(row, to != kNoDomain);
}

}  // namespace

TopologyTable::TopologyTable(size_t limit, ForEachNode for_each_node)
    : limit_(limit), for_each_node_(std::move(for_each_node)) {}

std::shared_ptr<const Topology> TopologyTable::Get(std::string_view key) {
  if (const auto known = by_key_.find(key); known != by_key_.end()) {
    by_use_.splice(by_use_.begin(), by_use_, known->second);
    return by_use_.front();
  }
  auto topology = std::make_shared<Topology>();
  topology->key = key;
  topology->domain_of.assign(rows_, kNoDomain);
  topology->nodes.Resize(rows_);
  for_each_node_([&](NodeRow row, const api::StringMap& labels) {
    Move(*topology, row, api::Find(labels, key));
  });
  by_use_.push_front(topology);
  by_key_.emplace(topology->key, by_use_.begin());
  Evict();
  return topology;
}

std::shared_ptr<const Topology> TopologyTable::Share(const Topology& topology) const {
  const auto known = by_key_.find(topology.key);
  BERTH_CHECK(known != by_key_.end() && known->second->get() == &topology,
              "topology of another snapshot");
  return *known->second;
}

void TopologyTable::Grow(size_t rows) {
  rows_ = rows;
  for (const auto& topology : by_use_) {
    topology->domain_of.resize(rows, kNoDomain);
    topology->nodes.Resize(rows);
  }
}

bool TopologyTable::Moves(const api::StringMap& before, const api::StringMap& now) const {
  return std::any_of(by_use_.begin(), by_use_.end(), [&](const auto& topology) {
    const std::string* from = api::Find(before, topology->key);
    const std::string* to = api::Find(now, topology->key);
    return from == nullptr || to == nullptr ? from != to : *from != *to;
  });
}

void TopologyTable::Update(NodeRow row, const api::StringMap& now) {
  for (const auto& topology : by_use_) Move(*topology, row, api::Find(now, topology->key));
}

void TopologyTable::Evict() {
  for (auto last = by_use_.end(); by_use_.size() > limit_ && last != by_use_.begin();) {
    --last;
    // The reference of the list is the only one left, and only this table hands out new ones.
    if (last->use_count() > 1) continue;
    by_key_.erase((*last)->key);
    last = by_use_.erase(last);
  }
}

}  // namespace berth::cache
