// SPDX-License-Identifier: Apache-2.0
#include "berth/in_tree/cycle_state.h"

namespace berth {

std::string CycleBudget::Message() const {
  // Not a verdict: the scheduler has more steps than the question.
  if (out_of_steps_ && by_time_) {
    return "what the pod's spec asks for takes longer to judge than a question may; the scheduler "
           "goes on longer";
  }
  const std::string limit = out_of_steps_ ? std::to_string(max_steps_) + " steps"
                                          : std::to_string(max_bytes_) + " bytes of memory";
  return "what the pod's spec asks for takes more than a scheduling cycle may: " + limit;
}

size_t CycleState::bytes() const {
  size_t bytes = entries_.capacity() * sizeof(entries_[0]);
  for (const auto& [key, data] : entries_) bytes += data->bytes();
  return bytes;
}

CycleState CycleState::Clone() const {
  CycleState copy;
  copy.cycle_->original = cycle_->original == nullptr ? cycle_ : cycle_->original;
  copy.entries_.reserve(entries_.size());
  for (const auto& [key, data] : entries_) copy.entries_.emplace_back(key, data->Clone());
  return copy;
}

}  // namespace berth
