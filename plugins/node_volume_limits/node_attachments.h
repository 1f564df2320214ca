// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "berth/listers.h"
#include "berth/node_set.h"
#include "berth/snapshot.h"
#include "plugins/node_volume_limits/attached_volumes.h"

namespace berth::plugins {

// What each node has attached and how much it takes, driver by driver, so that a pod is held
// against all nodes at once. Kept from one pod to the next: Update() looks again only at the rows
// that something has happened to, by what the snapshot and the listers tell of their changes.
//
// What is said of a row depends on its node's name, the pods on it, their claims, the volumes and
// classes of these, the node's CSINode and its VolumeAttachments.
//
// Thread safety: Update() on the scheduling thread; between two, any number of readers.
class NodeAttachments {
 public:
  // Makes everything what it is now. Always to be called with the same listers.
  void Update(const Snapshot& snapshot, const Listers& listers);

  // The rows with a CSINode.
  const NodeSet& with_csi_node() const { return with_csi_node_; }
  // The rows whose CSINode lists the driver; nullptr: none does.
  const NodeSet* RowsWith(std::string_view driver) const;
  // Takes out of `nodes` the rows that have no room for `count` more volumes of the driver.
  void KeepRoomFor(std::string_view driver, int32_t count, NodeSet& nodes) const;
  // Adds to `rows` those where a pod has one of the volumes, and perhaps others.
  void AddRowsWith(std::span<const AttachedVolume> volumes, NodeSet& rows) const;
  // The rows with a pod whose volumes cannot be told: what is said of them is not the truth.
  const NodeSet& untold() const { return untold_; }

  // How many rows the last Update() looked at.
  size_t num_updated() const { return num_updated_; }
  // About how much memory this takes.
  size_t bytes() const;

 private:
  static constexpr int32_t kNoLimit = INT32_MAX;

  struct Driver {
    NodeSet listed;
    std::vector<int32_t> limits;    // by row
    std::vector<int32_t> attached;  // by row; of rows with a limit
  };
  struct Row {
    std::vector<std::pair<std::string, Driver*>> drivers;
    std::vector<uint64_t> traces;  // of what it depends on, and of its pods' volumes
  };

  void Resize(size_t rows);
  void FindStale(const Snapshot& snapshot, const Listers& listers);
  void MarkChanged(const Snapshot& snapshot, const VolumeChange& change);
  void MarkTraces(uint64_t trace, NodeSet& rows) const;
  void Forget(NodeRow row);
  void Look(NodeRow row, const Snapshot& snapshot, const Listers& listers);
  void LookAtPods(NodeRow row, const Snapshot& snapshot, const Listers& listers);
  void Trace(uint64_t trace, NodeRow row);

  bool known_ = false;
  uint64_t generation_ = 0;
  uint64_t volumes_generation_ = 0;
  size_t num_updated_ = 0;
  size_t num_traces_ = 0;  // of all rows together
  size_t num_listed_ = 0;  // drivers of all rows together
  std::vector<Row> rows_;
  NodeSet with_csi_node_;
  NodeSet untold_;
  std::map<std::string, Driver, std::less<>> drivers_;
  // The rows, ascending, of each trace, which is a hash: two things that share one cost a look too
  // many, and nothing else.
  std::unordered_map<uint64_t, std::vector<NodeRow>> rows_by_trace_;
  NodeSet stale_;
  std::vector<NodeRow> changed_rows_;
  std::vector<AttachedVolume> attached_;
};

}  // namespace berth::plugins
