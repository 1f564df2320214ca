// SPDX-License-Identifier: Apache-2.0
#include "src/cache/columns.h"

#include <algorithm>

namespace berth::cache {
namespace {

// Signed overflow is undefined; unsigned wraps.
int64_t SumWrapping(int64_t value, int64_t amount, int64_t sign) {
  return static_cast<int64_t>(static_cast<uint64_t>(value) +
                              static_cast<uint64_t>(sign) * static_cast<uint64_t>(amount));
}

}  // namespace

Columns::ByResource::ByResource() {
  for (AmountColumn& column : first_) column.StayDense();
}

void Columns::ByResource::Grow(size_t rows) {
  rows_ = rows;
  for (AmountColumn& column : first_) column.Grow(rows);
  for (auto& [id, column] : scalars_) column.Grow(rows);
}

AmountColumn& Columns::ByResource::At(ResourceId id) {
  if (id < kFirstScalar) return first_[id];
  const auto [at, added] = scalars_.try_emplace(id);
  if (added) {
    at->second.Grow(rows_);
    if (std::ranges::find(stay_dense_, id) != stay_dense_.end()) at->second.StayDense();
  }
  return at->second;
}

void Columns::ByResource::Set(ResourceId id, NodeRow row, int64_t amount) {
  AmountColumn& column = At(id);
  column.Set(row, amount);
  if (id >= kFirstScalar && column.zero()) scalars_.erase(id);
}

void Columns::ByResource::Add(ResourceId id, NodeRow row, int64_t amount, int64_t sign) {
  if (amount == 0) return;
  AmountColumn& column = At(id);
  column.Set(row, SumWrapping(column.Get(row), amount, sign));
  if (id >= kFirstScalar && column.zero()) scalars_.erase(id);
}

void Columns::ByResource::StayDense(ResourceId id) {
  stay_dense_.push_back(id);
  if (const auto at = scalars_.find(id); at != scalars_.end()) at->second.StayDense();
}

Columns::Columns() = default;

void Columns::Grow(size_t rows) {
  allocatable_.Grow(rows);
  requested_.Grow(rows);
  offered_.resize(rows);
  for (Values* values : {&non_zero_milli_cpu_, &non_zero_memory_, &allowed_pods_, &pod_count_})
    values->resize(rows);
}

void Columns::SetAllocatable(NodeRow row, const Resources& amounts, int64_t pods) {
  allocatable_.Set(kCpu, row, amounts.milli_cpu);
  allocatable_.Set(kMemory, row, amounts.memory);
  allocatable_.Set(kEphemeralStorage, row, amounts.ephemeral_storage);
  std::vector<ResourceId>& offered = offered_[row];
  for (const ResourceId id : offered) {
    const bool still = std::ranges::binary_search(amounts.scalars, id, {},
                                                  &decltype(amounts.scalars)::value_type::first);
    if (!still) allocatable_.Set(id, row, 0);
  }
  offered.clear();
  for (const auto& [id, amount] : amounts.scalars) {
    allocatable_.Set(id, row, amount);
    offered.push_back(id);
  }
  allowed_pods_[row] = pods;
}

void Columns::StayDense(ResourceId id) {
  if (id < kFirstScalar) return;
  allocatable_.StayDense(id);
  requested_.StayDense(id);
}

void Columns::Count(NodeRow row, const PodInfo& pod, int64_t sign) {
  requested_.Add(kCpu, row, pod.placed.milli_cpu, sign);
  requested_.Add(kMemory, row, pod.placed.memory, sign);
  requested_.Add(kEphemeralStorage, row, pod.placed.ephemeral_storage, sign);
  for (const auto& [id, amount] : pod.placed.scalars) requested_.Add(id, row, amount, sign);
  non_zero_milli_cpu_[row] = SumWrapping(non_zero_milli_cpu_[row], pod.non_zero_milli_cpu, sign);
  non_zero_memory_[row] = SumWrapping(non_zero_memory_[row], pod.non_zero_memory, sign);
  pod_count_[row] += sign;
}

}  // namespace berth::cache
