// SPDX-License-Identifier: Apache-2.0
#include "src/cache/port_counts.h"

#include <algorithm>
#include <tuple>

#include "berth/check.h"

namespace berth::cache {
namespace {

auto Order(const HostPort& port) { return std::tie(port.port, port.protocol, port.ip); }

}  // namespace

void PortCounts::Add(const HostPort& port) {
  const size_t i = LowerBound(port);
  if (i < ports_.size() && ports_[i] == port) {
    ++counts_[i];
    return;
  }
  ports_.insert(ports_.begin() + static_cast<ptrdiff_t>(i), port);
  counts_.insert(counts_.begin() + static_cast<ptrdiff_t>(i), 1);
}

void PortCounts::Remove(const HostPort& port) {
  const size_t i = LowerBound(port);
  BERTH_CHECK(i < ports_.size() && ports_[i] == port, "host port is not in use");
  if (--counts_[i] > 0) return;
  ports_.erase(ports_.begin() + static_cast<ptrdiff_t>(i));
  counts_.erase(counts_.begin() + static_cast<ptrdiff_t>(i));
}

size_t PortCounts::LowerBound(const HostPort& port) const {
  const auto it =
      std::lower_bound(ports_.begin(), ports_.end(), port,
                       [](const HostPort& a, const HostPort& b) { return Order(a) < Order(b); });
  return static_cast<size_t>(it - ports_.begin());
}

}  // namespace berth::cache
