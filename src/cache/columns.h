// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "berth/pod_info.h"
#include "berth/resources.h"
#include "berth/saturating.h"
#include "berth/snapshot.h"

namespace berth::cache {

// How much of one resource each row has. Takes memory for the rows that have any while they are few
// among many, and becomes an array when they are not: a resource that one pod names must not cost
// what one that every node offers costs.
//
// Thread safety: one owner.
class AmountColumn {
 public:
  // New rows have 0. `rows` never shrinks.
  void Grow(size_t rows);
  // `row` must be below what Grow() said last.
  void Set(NodeRow row, int64_t amount);
  // To what was added before; only for rows that nothing was Set() for. What no int64 holds shows
  // as the greatest or the least one, and is known exactly all the same: taking away undoes adding.
  void Add(NodeRow row, WideAmount amount);
  int64_t Get(NodeRow row) const { return column()[row]; }
  // From now on it is an array whenever some row has any.
  void StayDense();

  Column column() const { return {values_, few_}; }
  // No row has any.
  bool zero() const { return count_ == 0; }
  bool dense() const { return !values_.empty(); }

 private:
  void BecomeDense();
  void BecomeSparse();

  std::vector<int64_t> values_;  // by row; empty: `few_` holds everything
  std::vector<RowAmount> few_;   // sorted by row, none 0
  size_t rows_ = 0;
  absl::flat_hash_map<NodeRow, WideAmount> beyond_;  // what no int64 holds
  size_t count_ = 0;                                 // rows that have any
  bool stay_dense_ = false;
};

// What rows offer and what the pods on them take, one column a resource. A scalar resource has a
// column while some row offers or takes any of it.
//
// Sums that no int64 holds show as the greatest one; taking away undoes adding exactly.
//
// Thread safety: one owner.
class Columns {
 public:
  Columns();

  // New rows are 0 everywhere.
  void Grow(size_t rows);

  void SetAllocatable(NodeRow row, const Resources& amounts, int64_t pods);
  void AddPod(NodeRow row, const PodInfo& pod) { Count(row, pod, 1); }
  void RemovePod(NodeRow row, const PodInfo& pod) { Count(row, pod, -1); }

  // From now on the resource's columns are arrays: Column::few is empty.
  void StayDense(ResourceId id);

  Column allocatable(ResourceId id) const { return allocatable_.Of(id); }
  Column requested(ResourceId id) const { return requested_.Of(id); }
  Column non_zero_requested(ResourceId id) const {
    return (id == kCpu ? non_zero_milli_cpu_ : non_zero_memory_).column();
  }
  Column allowed_pods() const { return {allowed_pods_}; }
  Column pod_count() const { return {pod_count_}; }

  // The scalar resources of which the row offers an amount, or 0.
  const std::vector<ResourceId>& offered(NodeRow row) const { return offered_[row]; }
  // How many columns there are for scalar resources.
  size_t num_scalars() const { return allocatable_.num_scalars() + requested_.num_scalars(); }

 private:
  using Values = std::vector<int64_t>;

  class ByResource {
   public:
    ByResource() {
      for (AmountColumn& column : first_) column.StayDense();
    }
    Column Of(ResourceId id) const {
      if (id < kFirstScalar) return first_[id].column();
      const auto at = scalars_.find(id);
      return at == scalars_.end() ? Column{} : at->second.column();
    }
    void Grow(size_t rows);
    void Set(ResourceId id, NodeRow row, int64_t amount);
    void Add(ResourceId id, NodeRow row, int64_t amount, int64_t sign);
    void StayDense(ResourceId id);
    size_t num_scalars() const { return scalars_.size(); }

   private:
    AmountColumn& At(ResourceId id);

    size_t rows_ = 0;
    std::array<AmountColumn, kFirstScalar> first_;
    absl::flat_hash_map<ResourceId, AmountColumn> scalars_;
    std::vector<ResourceId> stay_dense_;
  };

  void Count(NodeRow row, const PodInfo& pod, int64_t sign);

  ByResource allocatable_;
  ByResource requested_;
  std::vector<std::vector<ResourceId>> offered_;  // by row
  AmountColumn non_zero_milli_cpu_;
  AmountColumn non_zero_memory_;
  Values allowed_pods_;
  Values pod_count_;
};

}  // namespace berth::cache
