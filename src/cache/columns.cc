// SPDX-License-Identifier: Apache-2.0
#include "src/cache/columns.h"

namespace berth::cache {
namespace {

// Signed overflow is undefined; unsigned wraps.
void AddWrapping(int64_t& value, int64_t amount, int64_t sign) {
  value = static_cast<int64_t>(static_cast<uint64_t>(value) +
                               static_cast<uint64_t>(sign) * static_cast<uint64_t>(amount));
}

}  // namespace

void Columns::Grow(size_t rows) {
  rows_ = rows;
  for (ByResource* columns : {&allocatable_, &requested_}) {
    for (Values& values : *columns)
      if (!values.empty()) values.resize(rows);
  }
  for (Values* values : {&non_zero_milli_cpu_, &non_zero_memory_, &allowed_pods_, &pod_count_})
    values->resize(rows);
}

void Columns::SetAllocatable(NodeRow row, const Resources& amounts, int64_t pods) {
  for (Values& values : allocatable_)
    if (!values.empty()) values[row] = 0;
  Mutable(allocatable_, kCpu)[row] = amounts.milli_cpu;
  Mutable(allocatable_, kMemory)[row] = amounts.memory;
  Mutable(allocatable_, kEphemeralStorage)[row] = amounts.ephemeral_storage;
  for (const auto& [id, amount] : amounts.scalars) Mutable(allocatable_, id)[row] = amount;
  allowed_pods_[row] = pods;
}

Columns::Values& Columns::Mutable(ByResource& columns, ResourceId id) {
  if (id >= columns.size()) columns.resize(id + 1);
  Values& values = columns[id];
  if (values.empty()) values.resize(rows_);
  return values;
}

void Columns::Count(NodeRow row, const PodInfo& pod, int64_t sign) {
  const auto add = [&](ResourceId id, int64_t amount) {
    if (amount != 0) AddWrapping(Mutable(requested_, id)[row], amount, sign);
  };
  add(kCpu, pod.placed.milli_cpu);
  add(kMemory, pod.placed.memory);
  add(kEphemeralStorage, pod.placed.ephemeral_storage);
  for (const auto& [id, amount] : pod.placed.scalars) add(id, amount);
  AddWrapping(non_zero_milli_cpu_[row], pod.non_zero_milli_cpu, sign);
  AddWrapping(non_zero_memory_[row], pod.non_zero_memory, sign);
  pod_count_[row] += sign;
}

}  // namespace berth::cache
