// SPDX-License-Identifier: Apache-2.0
#include "src/cache/node_order.h"

#include <algorithm>
#include <utility>

namespace berth::cache {
namespace {

using ZoneKey = std::pair<std::string_view, std::string_view>;

// The older label counts where both are there.
std::string_view LabelOf(const api::Node& node, std::string_view older, std::string_view newer) {
  const std::string* value = api::Find(node.metadata.labels, older);
  if (value == nullptr) value = api::Find(node.metadata.labels, newer);
  return value == nullptr ? std::string_view() : std::string_view(*value);
}

ZoneKey KeyOf(const api::Node& node) {
  return {
      LabelOf(node, "failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region"),
      LabelOf(node, "failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone")};
}

template <typename Zones>
auto FindZone(Zones& zones, const ZoneKey& key) {
  return std::ranges::find_if(zones, [&key](const auto& zone) {
    return zone.region == key.first && zone.zone == key.second;
  });
}

}  // namespace

void NodeOrder::Add(NodeRow row, const api::Node& node) {
  const ZoneKey key = KeyOf(node);
  auto zone = FindZone(zones_, key);
  if (zone == zones_.end()) {
    zone = zones_.insert(zone, Zone{std::string(key.first), std::string(key.second), {}});
  }
  zone->rows.push_back(row);
  stale_ = true;
}

void NodeOrder::Update(NodeRow row, const api::Node& old_node, const api::Node& node) {
  if (KeyOf(old_node) == KeyOf(node)) return;
  Remove(row, old_node);
  Add(row, node);
}

void NodeOrder::Remove(NodeRow row, const api::Node& node) {
  const auto zone = FindZone(zones_, KeyOf(node));
  if (zone == zones_.end()) return;
  std::erase(zone->rows, row);
  if (zone->rows.empty()) zones_.erase(zone);
  stale_ = true;
}

std::span<const NodeRow> NodeOrder::rows() const {
  if (!std::exchange(stale_, false)) return rows_;
  rows_.clear();
  size_t longest = 0;
  for (const Zone& zone : zones_) longest = std::max(longest, zone.rows.size());
  for (size_t i = 0; i < longest; ++i) {
    for (const Zone& zone : zones_) {
      if (i < zone.rows.size()) rows_.push_back(zone.rows[i]);
    }
  }
  return rows_;
}

}  // namespace berth::cache
