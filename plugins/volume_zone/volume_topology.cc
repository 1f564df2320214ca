// SPDX-License-Identifier: Apache-2.0
#include "plugins/volume_zone/volume_topology.h"

#include <algorithm>
#include <optional>

namespace berth::plugins {
namespace {

constexpr std::string_view kBetaZone = "failure-domain.beta.kubernetes.io/zone";
constexpr std::string_view kBetaRegion = "failure-domain.beta.kubernetes.io/region";
constexpr std::string_view kZone = "topology.kubernetes.io/zone";
constexpr std::string_view kRegion = "topology.kubernetes.io/region";
constexpr std::string_view kKeys[] = {kBetaZone, kBetaRegion, kZone, kRegion};

// The present name of an old key; any other key is its own.
std::string_view PresentKey(std::string_view key) {
  if (key == kBetaZone) return kZone;
  if (key == kBetaRegion) return kRegion;
  return key;
}

std::string_view Trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\n\v\f\r";
  const size_t begin = text.find_first_not_of(kBlanks);
  if (begin == text.npos) return "";
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

// "a__b" is a and b. nullopt where one of them is empty.
std::optional<std::vector<std::string>> ValuesOf(std::string_view label) {
  constexpr std::string_view kDelimiter = "__";
  std::vector<std::string> values;
  for (bool last = false; !last;) {
    const size_t end = label.find(kDelimiter);
    last = end == label.npos;
    const std::string_view value = Trimmed(label.substr(0, end));
    if (value.empty()) return std::nullopt;
    values.emplace_back(value);
    if (!last) label.remove_prefix(end + kDelimiter.size());
  }
  std::ranges::sort(values);
  const auto repeated = std::ranges::unique(values);
  values.erase(repeated.begin(), repeated.end());
  return values;
}

void AddNodesWith(const VolumeTopology& topology, std::string_view key, const Snapshot& snapshot,
                  NodeSet& out) {
  for (const std::string& value : topology.values) snapshot.NodesWithLabel(key, value, out);
}

}  // namespace

std::vector<VolumeTopology> TopologiesOf(const api::PersistentVolume& volume) {
  std::vector<VolumeTopology> topologies;
  for (const std::string_view key : kKeys) {
    const std::string* label = api::Find(volume.metadata.labels, key);
    if (label == nullptr) continue;
    if (auto values = ValuesOf(*label)) topologies.push_back({key, std::move(*values)});
  }
  return topologies;
}

bool IsWithin(std::span<const VolumeTopology> topologies, const api::Node& node) {
  const api::StringMap& labels = node.metadata.labels;
  const bool any =
      std::ranges::any_of(kKeys, [&](auto key) { return api::Find(labels, key) != nullptr; });
  if (!any) return true;
  return std::ranges::all_of(topologies, [&](const VolumeTopology& topology) {
    const std::string* value = api::Find(labels, topology.key);
    if (value == nullptr) value = api::Find(labels, PresentKey(topology.key));
    return value != nullptr && std::ranges::binary_search(topology.values, *value);
  });
}

void KeepWithin(std::span<const VolumeTopology> topologies, const Snapshot& snapshot,
                NodeSet& nodes) {
  const size_t rows = snapshot.num_rows();
  NodeSet labelled(rows);
  for (const std::string_view key : kKeys) snapshot.NodesWithLabelKey(key, labelled);
  NodeSet outside(rows);
  for (const VolumeTopology& topology : topologies) {
    NodeSet within(rows);
    const std::string_view present = PresentKey(topology.key);
    if (present != topology.key) {
      NodeSet has_old(rows);
      AddNodesWith(topology, present, snapshot, within);
      snapshot.NodesWithLabelKey(topology.key, has_old);
      within -= has_old;
    }
    AddNodesWith(topology, topology.key, snapshot, within);
    NodeSet others = labelled;
    others -= within;
    outside |= others;
  }
  nodes -= outside;
}

}  // namespace berth::plugins
