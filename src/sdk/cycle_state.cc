// SPDX-License-Identifier: Apache-2.0
#include "berth/in_tree/cycle_state.h"

namespace berth {

size_t CycleState::bytes() const {
  size_t bytes = entries_.capacity() * sizeof(entries_[0]);
  for (const auto& [key, data] : entries_) bytes += data->bytes();
  return bytes;
}

CycleState CycleState::Clone() const {
  CycleState copy;
  copy.entries_.reserve(entries_.size());
  for (const auto& [key, data] : entries_) copy.entries_.emplace_back(key, data->Clone());
  return copy;
}

}  // namespace berth
