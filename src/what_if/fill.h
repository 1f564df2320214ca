// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "src/simulator/simulation.h"

namespace berth::what_if {

// More are no question any more.
inline constexpr size_t kMostCopies = 100'000;

struct Filled {
  size_t pods = 0;
  std::map<std::string, size_t> by_node;
  std::set<std::string> keys;  // of the copies that have a node
  // What the next one is told; "": `most` was reached.
  std::string stopped_by;
};

// The pod of a manifest with what the API server fills in and scheduling reads: requests of what
// has only a limit.
std::shared_ptr<const api::Pod> WithDefaults(const api::Pod& pod);

// Adds copies of `pod` to a simulation that has started, until one fits nowhere, up to `most`. They
// are decided one by one, as they would be in a cluster, and evict no one for themselves. The
// copies that have a node stay; the others are taken away.
Filled Fill(const std::shared_ptr<const api::Pod>& pod, simulator::Simulation& simulation,
            size_t most = kMostCopies);

}  // namespace berth::what_if
