// SPDX-License-Identifier: Apache-2.0
#include "berth/cycle_state.h"

namespace berth {

CycleState CycleState::Clone() const {
  CycleState copy;
  copy.entries_.reserve(entries_.size());
  for (const auto& [key, data] : entries_) copy.entries_.emplace_back(key, data->Clone());
  return copy;
}

}  // namespace berth
