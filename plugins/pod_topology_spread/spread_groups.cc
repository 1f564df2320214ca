// SPDX-License-Identifier: Apache-2.0
#include "plugins/pod_topology_spread/spread_groups.h"

namespace berth::plugins {

void SpreadGroups::Reset(size_t rows, size_t domains, size_t pods) {
  pods_ = pods;
  number_.assign(domains * pods, kNone);
  of_row_.assign(rows, kNone);
  groups_.clear();
  scores_.clear();
  unused_.clear();
}

bool SpreadGroups::Put(NodeRow row, size_t domain, size_t pods) {
  if (of_row_[row] != kNone) {
    Group& old = groups_[of_row_[row]];
    if (old.domain == domain && old.pods == pods) return false;
    if (--old.nodes == 0) {
      number_[old.domain * pods_ + old.pods] = kNone;
      unused_.push_back(of_row_[row]);
    }
  }
  const uint16_t number = NumberOf(domain, pods);
  ++groups_[number].nodes;
  of_row_[row] = number;
  return true;
}

uint16_t SpreadGroups::NumberOf(size_t domain, size_t pods) {
  uint16_t& number = number_[domain * pods_ + pods];
  if (number != kNone) return number;
  if (unused_.empty()) {
    number = static_cast<uint16_t>(groups_.size());
    groups_.emplace_back();
    scores_.push_back(0);
  } else {
    number = unused_.back();
    unused_.pop_back();
  }
  groups_[number] = {static_cast<uint32_t>(domain), static_cast<uint32_t>(pods), 0};
  return number;
}

size_t SpreadGroups::bytes() const {
  return (number_.capacity() + of_row_.capacity() + unused_.capacity()) * sizeof(number_[0]) +
         groups_.capacity() * sizeof(groups_[0]) + scores_.capacity() * sizeof(scores_[0]);
}

}  // namespace berth::plugins
