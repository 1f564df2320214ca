// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "berth/pod_info.h"
#include "berth/resources.h"
#include "berth/snapshot.h"

namespace berth::cache {

// What rows offer and what the pods on them take, one array a resource. A resource's array is made
// when somebody first offers or takes it.
//
// Sums wrap around at 64 bits, as kube-scheduler's do, so that taking away undoes adding exactly.
//
// Thread safety: one owner.
class Columns {
 public:
  // New rows are 0 everywhere.
  void Grow(size_t rows);

  void SetAllocatable(NodeRow row, const Resources& amounts, int64_t pods);
  void AddPod(NodeRow row, const PodInfo& pod) { Count(row, pod, 1); }
  void RemovePod(NodeRow row, const PodInfo& pod) { Count(row, pod, -1); }

  Column allocatable(ResourceId id) const { return Of(allocatable_, id); }
  Column requested(ResourceId id) const { return Of(requested_, id); }
  Column non_zero_requested(ResourceId id) const {
    return id == kCpu ? Column{non_zero_milli_cpu_} : Column{non_zero_memory_};
  }
  Column allowed_pods() const { return {allowed_pods_}; }
  Column pod_count() const { return {pod_count_}; }

 private:
  using Values = std::vector<int64_t>;
  using ByResource = std::vector<Values>;  // an empty Values reads as 0 everywhere

  static Column Of(const ByResource& columns, ResourceId id) {
    return id < columns.size() ? Column{columns[id]} : Column{};
  }
  Values& Mutable(ByResource& columns, ResourceId id);
  void Count(NodeRow row, const PodInfo& pod, int64_t sign);

  size_t rows_ = 0;
  ByResource allocatable_;
  ByResource requested_;
  Values non_zero_milli_cpu_;
  Values non_zero_memory_;
  Values allowed_pods_;
  Values pod_count_;
};

}  // namespace berth::cache
