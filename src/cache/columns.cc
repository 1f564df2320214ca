// SPDX-License-Identifier: Apache-2.0
#include "src/cache/columns.h"

#include <algorithm>

namespace berth::cache {
namespace {

// A row costs 16 bytes in the list and 8 in the array. Reading the array is so much cheaper that it
// may take four times the memory; the gap between the limits keeps a column that wavers from being
// rebuilt each time.
constexpr size_t kRowsADense = 8;
constexpr size_t kRowsASparse = 16;

}  // namespace

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
  column.Add(row, WideAmount{amount} * sign);
  if (id >= kFirstScalar && column.zero()) scalars_.erase(id);
}

void Columns::ByResource::StayDense(ResourceId id) {
  stay_dense_.push_back(id);
  if (const auto at = scalars_.find(id); at != scalars_.end()) at->second.StayDense();
}

Columns::Columns() {
  non_zero_milli_cpu_.StayDense();
  non_zero_memory_.StayDense();
}

void Columns::Grow(size_t rows) {
  allocatable_.Grow(rows);
  requested_.Grow(rows);
  offered_.resize(rows);
  for (AmountColumn* column : {&non_zero_milli_cpu_, &non_zero_memory_}) column->Grow(rows);
  for (Values* values : {&allowed_pods_, &pod_count_}) values->resize(rows);
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
  non_zero_milli_cpu_.Add(row, WideAmount{pod.non_zero_milli_cpu} * sign);
  non_zero_memory_.Add(row, WideAmount{pod.non_zero_memory} * sign);
  pod_count_[row] += sign;
}

void AmountColumn::Grow(size_t rows) {
  rows_ = rows;
  if (!dense()) return;
  values_.resize(rows);
  if (!stay_dense_ && count_ * kRowsASparse < rows_) BecomeSparse();
}

void AmountColumn::Set(NodeRow row, int64_t amount) {
  if (!dense() && stay_dense_ && amount != 0) BecomeDense();
  if (dense()) {
    int64_t& value = values_[row];
    if (value == 0 && amount != 0) ++count_;
    if (value != 0 && amount == 0) --count_;
    value = amount;
    if (amount == 0 && !stay_dense_ && count_ * kRowsASparse < rows_) BecomeSparse();
    return;
  }
  const auto at = std::ranges::lower_bound(few_, row, {}, &RowAmount::row);
  const bool known = at != few_.end() && at->row == row;
  if (known && amount != 0) {
    at->amount = amount;
  } else if (known) {
    few_.erase(at);
    --count_;
  } else if (amount != 0) {
    few_.insert(at, {row, amount});
    ++count_;
    if (count_ * kRowsADense > rows_) BecomeDense();
  }
}

void AmountColumn::Add(NodeRow row, WideAmount amount) {
  const auto beyond = beyond_.empty() ? beyond_.end() : beyond_.find(row);
  const WideAmount sum = amount + (beyond == beyond_.end() ? Get(row) : beyond->second);
  if (sum != Saturated(sum)) {
    beyond_[row] = sum;
  } else if (beyond != beyond_.end()) {
    beyond_.erase(beyond);
  }
  Set(row, Saturated(sum));
}

void AmountColumn::StayDense() {
  stay_dense_ = true;
  if (!dense() && count_ > 0) BecomeDense();
}

void AmountColumn::BecomeDense() {
  values_.resize(rows_);
  for (const RowAmount& known : few_) values_[known.row] = known.amount;
  few_ = {};
}

void AmountColumn::BecomeSparse() {
  few_.reserve(count_);
  for (NodeRow row = 0; row < values_.size(); ++row) {
    if (values_[row] != 0) few_.push_back({row, values_[row]});
  }
  values_ = {};
}

}  // namespace berth::cache
