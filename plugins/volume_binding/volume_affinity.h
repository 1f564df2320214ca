// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "berth/api/persistent_volume.h"
#include "berth/matching.h"
#include "berth/snapshot.h"

namespace berth::plugins {

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
