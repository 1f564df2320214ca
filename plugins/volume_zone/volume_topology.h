// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "berth/api/node.h"
#include "berth/api/persistent_volume.h"
#include "berth/node_set.h"
#include "berth/snapshot.h"

namespace berth::plugins {

// Where a volume is, by one of its labels.
struct VolumeTopology {
  std::string_view key;             // one of the zone and region labels
  std::vector<std::string> values;  // sorted, unique; of several any will do

  friend bool operator==(const VolumeTopology&, const VolumeTopology&) = default;
};

// What the volume's labels say; one that cannot be read says nothing.
std::vector<VolumeTopology> TopologiesOf(const api::PersistentVolume& volume);

// Whether the node is where all of them are, or has no zone or region label at all. A node's
// present label stands for an old one that it lacks.
bool IsWithin(std::span<const VolumeTopology> topologies, const api::Node& node);

// Takes the others out of `nodes`.
void KeepWithin(std::span<const VolumeTopology> topologies, const Snapshot& snapshot,
                NodeSet& nodes);

}  // namespace berth::plugins
