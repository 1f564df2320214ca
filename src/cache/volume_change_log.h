// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <type_traits>
#include <utility>
#include <vector>

#include "berth/api/persistent_volume.h"
#include "berth/api/persistent_volume_claim.h"
#include "berth/api/storage.h"
#include "berth/listers.h"
#include "berth/node_set.h"

namespace berth::cache {

// Those of the node itself come first.
enum class ChangeKind : uint8_t {
  kNodeAdded,    // the row joined nodes()
  kNodeUpdated,  // its node object changed
  kNodeRemoved,  // the row left nodes()
  kPods,         // the pods on the row changed
  kMeasured,     // what is measured of the row changed
  kClosed,       // the row joined or left closed_nodes()
};

// One change of one row. No two changes share a generation.
struct Change {
  uint64_t generation = 0;
  NodeRow row = 0;
  ChangeKind kind = ChangeKind::kPods;

  friend bool operator==(const Change&, const Change&) = default;
};

// Numbers the changes of the cluster and remembers the last `capacity` of them.
//
// Thread safety: one owner.
class ChangeLog {
 public:
  explicit ChangeLog(size_t capacity) : ring_(capacity) {}

  // The number of the newest change; 0 before the first.
  uint64_t generation() const { return generation_; }

  // Returns the number of the new change.
  uint64_t Append(NodeRow row, ChangeKind kind) {
    ++generation_;
    ring_[generation_ % ring_.size()] = Change{generation_, row, kind};
    return generation_;
  }

  // Sets `out` to the changes after `generation`, oldest first. False when some of them are no
  // longer remembered, or `generation` has not been given out yet: anything may have changed.
  bool Since(uint64_t generation, std::vector<Change>& out) const {
    out.clear();
    if (!Remembers(generation)) return false;
    out.reserve(generation_ - generation);
    for (uint64_t g = generation + 1; g <= generation_; ++g) out.push_back(ring_[g % ring_.size()]);
    return true;
  }

  // Adds the rows of these changes to `rows`, but not of those in what is measured: node and pods
  // stay as they are. False as above.
  bool RowsSince(uint64_t generation, std::vector<NodeRow>& rows) const {
    if (!Remembers(generation)) return false;
    for (uint64_t g = generation + 1; g <= generation_; ++g) {
      const Change& change = ring_[g % ring_.size()];
      if (change.kind != ChangeKind::kMeasured) rows.push_back(change.row);
    }
    return true;
  }

  // The same of the rows whose node came, changed or went.
  bool NodeRowsSince(uint64_t generation, std::vector<NodeRow>& rows) const {
    if (!Remembers(generation)) return false;
    for (uint64_t g = generation + 1; g <= generation_; ++g) {
      const Change& change = ring_[g % ring_.size()];
      if (change.kind <= ChangeKind::kNodeRemoved) rows.push_back(change.row);
    }
    return true;
  }

 private:
  bool Remembers(uint64_t generation) const {
    return generation <= generation_ && generation_ - generation <= ring_.size();
  }

  std::vector<Change> ring_;
  uint64_t generation_ = 0;
};

// Numbers the changes of the objects of volumes and remembers the last of them.
//
// Thread safety: one owner.
class VolumeChangeLog {
 public:
  static constexpr size_t kCapacity = 1u << 14;

  // The number of the newest change; 0 before the first.
  uint64_t generation() const { return generation_; }

  // From `before` to `after`, of which one may be nullptr.
  template <typename T>
  void Append(const T* before, const T* after) {
    ++generation_;
    const VolumeChange from = before == nullptr ? VolumeChange() : ChangeOf(*before);
    VolumeChange to = after == nullptr ? from : ChangeOf(*after);
    const bool moved = before != nullptr && from.name != to.name;
    if (moved) Push(from);
    Push(std::move(to));
  }

  // Calls visit(change) for those after `generation`, the newest first. False, without a call: some
  // of them are no longer remembered.
  bool Since(uint64_t generation, const std::function<void(const VolumeChange&)>& visit) const {
    if (generation < forgotten_ || generation > generation_) return false;
    for (auto change = changes_.rbegin(); change != changes_.rend(); ++change) {
      if (change->generation <= generation) break;
      visit(change->change);
    }
    return true;
  }

 private:
  struct Entry {
    uint64_t generation = 0;
    VolumeChange change;
  };

  template <typename T>
  static VolumeChange ChangeOf(const T& object) {
    if constexpr (std::is_same_v<T, api::VolumeAttachment>) {
      return {VolumeChange::Kind::kVolumeAttachment, "", object.spec.node_name};
    } else {
      return {KindOf<T>(), object.metadata.namespace_, object.metadata.name};
    }
  }
  template <typename T>
  static constexpr VolumeChange::Kind KindOf() {
    using Kind = VolumeChange::Kind;
    if (std::is_same_v<T, api::PersistentVolume>) return Kind::kPersistentVolume;
    if (std::is_same_v<T, api::PersistentVolumeClaim>) return Kind::kPersistentVolumeClaim;
    if (std::is_same_v<T, api::StorageClass>) return Kind::kStorageClass;
    if (std::is_same_v<T, api::CSINode>) return Kind::kCsiNode;
    return Kind::kOther;
  }
  void Push(VolumeChange change) {
    if (changes_.size() == kCapacity) {
      forgotten_ = changes_.front().generation;
      changes_.pop_front();
    }
    changes_.push_back({generation_, std::move(change)});
  }

  std::deque<Entry> changes_;
  uint64_t generation_ = 0;
  uint64_t forgotten_ = 0;  // the newest that is not remembered
};

}  // namespace berth::cache
