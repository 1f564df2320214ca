// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "berth/pod_info.h"

namespace berth::cache {

// The host ports in use on one node, each with the number of pods that use it. Sorted, so that
// the order does not depend on who came first.
//
// Thread safety: one owner.
class PortCounts {
 public:
  // Those of a pod; one that it has twice counts twice. Takes time in proportion to both lists.
  void Add(std::span<const HostPort> ports);
  // The ports must have been added together.
  void Remove(std::span<const HostPort> ports);

  bool empty() const { return ports_.empty(); }
  std::span<const HostPort> ports() const { return ports_; }

 private:
  std::vector<HostPort> ports_;
  std::vector<uint32_t> counts_;  // counts_[i] belongs to ports_[i]
};

}  // namespace berth::cache
