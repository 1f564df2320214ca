// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "berth/node_set.h"

namespace berth::cache {

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

  // Adds the rows of these changes to `rows`; false as above.
  bool RowsSince(uint64_t generation, std::vector<NodeRow>& rows) const {
    if (!Remembers(generation)) return false;
    for (uint64_t g = generation + 1; g <= generation_; ++g) {
      rows.push_back(ring_[g % ring_.size()].row);
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

}  // namespace berth::cache
