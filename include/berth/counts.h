// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace berth {

// Counts by a small dense id (a node row, a domain); ids that were never counted read as 0. Takes
// memory for what is not 0 while that is little, and becomes an array when it is much.
//
// Thread safety: one owner; any number of readers while it does not write.
class Counts {
 public:
  int32_t Get(uint32_t id) const;
  void Add(uint32_t id, int32_t delta);

  // Of all ids.
  int64_t total() const { return total_; }
  // How many ids have a count other than 0.
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

  // Calls visit(id, count) for every count other than 0, ids ascending.
  template <typename Visit>
  void ForEach(Visit visit) const {
    if (dense_.empty()) {
      for (const auto& [id, count] : sparse_) visit(id, count);
      return;
    }
    for (uint32_t id = 0; id < dense_.size(); ++id) {
      if (dense_[id] != 0) visit(id, dense_[id]);
    }
  }

  // The same counts, whatever they are kept in.
  friend bool operator==(const Counts& a, const Counts& b);

  // What it takes on the heap.
  size_t bytes() const {
    return sparse_.capacity() * sizeof(sparse_[0]) + dense_.capacity() * sizeof(dense_[0]);
  }

 private:
  void AddSparse(uint32_t id, int32_t delta);
  void AddDense(uint32_t id, int32_t delta);
  void BecomeDense();
  void BecomeSparse();

  std::vector<std::pair<uint32_t, int32_t>> sparse_;  // sorted by id, none 0
  std::vector<int32_t> dense_;                        // not empty: holds everything
  size_t size_ = 0;
  int64_t total_ = 0;
};

}  // namespace berth
