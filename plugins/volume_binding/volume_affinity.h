// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "berth/api/persistent_volume.h"
#include "berth/matching.h"
#include "berth/result.h"
#include "berth/snapshot.h"

namespace berth::plugins {

// The in-tree plugin of the volume, if a CSI driver stands for it (IsMigrated); else "".
std::string_view MigratedPluginOf(const api::PersistentVolume& volume);

// The node affinity of the volume, whose plugin is migrated, as its CSI driver has it: the zone
// stands under the driver's own key. Errors: the volume cannot be served by the driver, in
// kube-scheduler's words.
Result<std::optional<api::VolumeNodeAffinity>> MigratedAffinity(
    const api::PersistentVolume& volume);

// From which nodes a volume can be reached: its required node affinity, checked once and then
// matched often. As in kube-scheduler only the nodes' labels count: what a term says of a node's
// name is passed over, so that a term of fields alone matches every node.
//
// Thread safety: immutable.
class VolumeAffinity {
 public:
  // Every node matches.
  VolumeAffinity() = default;
  explicit VolumeAffinity(const std::optional<api::VolumeNodeAffinity>& affinity);

  bool everywhere() const { return !selector_.has_value(); }
  bool Matches(const api::Node& node) const { return everywhere() || selector_->Matches(node); }
  // Takes the nodes that do not match out of `nodes`.
  void FilterNodes(const Snapshot& snapshot, NodeSet& nodes) const;

 private:
  std::optional<NodeSelectorMatcher> selector_;
};

}  // namespace berth::plugins
