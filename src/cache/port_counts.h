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
  void Add(const HostPort& port);
  // `port` must have been added.
  void Remove(const HostPort& port);

  bool empty() const { return ports_.empty(); }
  std::span<const HostPort> ports() const { return ports_; }

 private:
  size_t LowerBound(const HostPort& port) const;

  std::vector<HostPort> ports_;
  std::vector<uint32_t> counts_;  // counts_[i] belongs to ports_[i]
};

}  // namespace berth::cache
