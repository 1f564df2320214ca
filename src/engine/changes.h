// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "berth/node_set.h"
#include "src/cache/cache.h"

namespace berth::engine {

// What has changed in the cluster since the last look, made once for all that looked at the
// same time.
//
// Thread safety: the scheduling thread.
class Changes {
 public:
  explicit Changes(const cache::Cache& cache) : cache_(cache) {}

  // Looks up what came after `generation`.
  void Read(uint64_t generation) {
    if (IsRead(generation)) return;
    from_ = generation;
    to_ = cache_.generation();
    pods_.clear();
    nodes_.clear();
    measured_.clear();
    complete_ = cache_.ChangesSince(generation, changes_);
    for (const cache::Change& change : changes_) ListOf(change.kind).push_back(change.row);
  }

  // Whether that is what is here.
  bool IsRead(uint64_t generation) const {
    return generation == from_ && cache_.generation() == to_;
  }

  // False: they are more than are remembered, so anything may have changed.
  bool complete() const { return complete_; }
  // Rows on which pods came or went; rows may repeat.
  const std::vector<NodeRow>& pods() const { return pods_; }
  // Rows whose node came, went, changed, was closed or opened; rows may repeat.
  const std::vector<NodeRow>& nodes() const { return nodes_; }
  // Rows of which what is measured changed; may repeat.
  const std::vector<NodeRow>& measured() const { return measured_; }
  // Whether an answer for all nodes is brought up to date sooner than made again.
  bool AreFew(size_t num_nodes) const {
    constexpr size_t kFew = 16;
    return pods_.size() + nodes_.size() + measured_.size() <= std::max(kFew, num_nodes / 4);
  }
  // Where the next look begins.
  uint64_t generation() const { return to_; }
  const cache::Cache& cache() const { return cache_; }

 private:
  std::vector<NodeRow>& ListOf(cache::ChangeKind kind) {
    if (kind == cache::ChangeKind::kPods) return pods_;
    return kind == cache::ChangeKind::kMeasured ? measured_ : nodes_;
  }

  const cache::Cache& cache_;
  uint64_t from_ = UINT64_MAX;
  uint64_t to_ = 0;
  bool complete_ = false;
  std::vector<cache::Change> changes_;
  std::vector<NodeRow> pods_;
  std::vector<NodeRow> nodes_;
  std::vector<NodeRow> measured_;
};

}  // namespace berth::engine
