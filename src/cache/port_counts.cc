// SPDX-License-Identifier: Apache-2.0
#include "src/cache/port_counts.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "berth/check.h"

namespace berth::cache {
namespace {

auto Order(const HostPort& port) { return std::tie(port.port, port.protocol, port.ip); }

std::vector<HostPort> Sorted(std::span<const HostPort> ports) {
  std::vector<HostPort> sorted(ports.begin(), ports.end());
  std::ranges::sort(sorted, {}, Order);
  return sorted;
}

}  // namespace

void PortCounts::Add(std::span<const HostPort> ports) {
  if (ports.empty()) return;
  std::vector<HostPort> merged;
  std::vector<uint32_t> counts;
  merged.reserve(ports_.size() + ports.size());
  counts.reserve(ports_.size() + ports.size());
  const auto append = [&](HostPort&& port, uint32_t count) {
    if (!merged.empty() && merged.back() == port) {
      counts.back() += count;
    } else {
      merged.push_back(std::move(port));
      counts.push_back(count);
    }
  };
  size_t known = 0;
  for (HostPort& port : Sorted(ports)) {
    for (; known < ports_.size() && Order(ports_[known]) <= Order(port); ++known) {
      append(std::move(ports_[known]), counts_[known]);
    }
    append(std::move(port), 1);
  }
  for (; known < ports_.size(); ++known) append(std::move(ports_[known]), counts_[known]);
  ports_ = std::move(merged);
  counts_ = std::move(counts);
}

void PortCounts::Remove(std::span<const HostPort> ports) {
  if (ports.empty()) return;
  size_t at = 0;
  for (const HostPort& port : Sorted(ports)) {
    while (at < ports_.size() && Order(ports_[at]) < Order(port)) ++at;
    BERTH_CHECK(at < ports_.size() && ports_[at] == port && counts_[at] > 0,
                "host port is not in use");
    --counts_[at];
  }
  size_t kept = 0;
  for (size_t i = 0; i < ports_.size(); ++i) {
    if (counts_[i] == 0) continue;
    if (kept != i) {
      ports_[kept] = std::move(ports_[i]);
      counts_[kept] = counts_[i];
    }
    ++kept;
  }
  ports_.resize(kept);
  counts_.resize(kept);
}

}  // namespace berth::cache
