// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "berth/pod_info.h"
#include "berth/resources.h"
#include "berth/snapshot.h"
#include "src/cache/amount_column.h"

namespace berth::cache {

// What rows offer and what the pods on them take, one column a resource. A scalar resource has a
// column while some row offers or takes any of it.
//
// Sums wrap around at 64 bits, as kube-scheduler's do, so that taking away undoes adding exactly.
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
    return id == kCpu ? Column{non_zero_milli_cpu_} : Column{non_zero_memory_};
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
    ByResource();
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
  Values non_zero_milli_cpu_;
  Values non_zero_memory_;
  Values allowed_pods_;
  Values pod_count_;
};

}  // namespace berth::cache
