// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <type_traits>
#include <utility>

#include "berth/api/persistent_volume.h"
#include "berth/api/persistent_volume_claim.h"
#include "berth/api/storage.h"
#include "berth/listers.h"

namespace berth::cache {

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
