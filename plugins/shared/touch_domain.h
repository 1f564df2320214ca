// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "berth/node_set.h"
#include "berth/topology.h"

namespace berth::plugins {

// Adds the rows of `domain` to `touched`, which is over all rows; `row` is one of them.
inline void TouchDomain(const Topology& topology, DomainId domain, NodeRow row, NodeSet& touched) {
  if (topology.num_nodes[domain] == 1) {
    touched.Set(row);
    return;
  }
  const DomainId* domain_of = topology.domain_of.data();
  const size_t rows = topology.domain_of.size();
  for (size_t word = 0; word * 64 < rows; ++word) {
    const size_t begin = word * 64;
    const size_t count = rows - begin < 64 ? rows - begin : 64;
    uint64_t bits = 0;
    for (size_t i = 0; i < count; ++i) {
      bits |= static_cast<uint64_t>(domain_of[begin + i] == domain) << i;
    }
    touched.words()[word] |= bits;
  }
}

}  // namespace berth::plugins
