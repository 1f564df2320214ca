// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace berth::engine {

// Which of many parts have to be looked at again, each once.
//
// Thread safety: one owner.
class StaleParts {
 public:
  // Over `parts` parts, none of them stale.
  void Reset(size_t parts) {
    is_stale_.assign(parts, 0);
    parts_.clear();
  }
  // New parts are not stale.
  void Grow(size_t parts) { is_stale_.resize(parts); }
  void Mark(size_t part) {
    if (std::exchange(is_stale_[part], 1) == 0) parts_.push_back(static_cast<uint32_t>(part));
  }
  // In the order in which they were marked.
  std::span<const uint32_t> parts() const { return parts_; }
  // None is stale any more.
  void Clear() {
    for (const uint32_t part : parts_) is_stale_[part] = 0;
    parts_.clear();
  }

 private:
  std::vector<uint8_t> is_stale_;
  std::vector<uint32_t> parts_;
};

}  // namespace berth::engine
