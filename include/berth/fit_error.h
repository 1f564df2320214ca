// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "berth/status.h"

namespace berth {

// How many nodes have which reason, for "0/3 nodes are available: 1 node(s) had untolerated
// taint(s), 2 Insufficient cpu." as kube-scheduler's FitError prints it.
//
// Thread safety: one owner.
class ReasonHistogram {
 public:
  // `count` more nodes have these reasons, which must live until ToString().
  void Add(const ReasonSet& reasons, size_t count = 1);

  // " <count> <reason>, <count> <reason>.", sorted as whole strings; "" without a reason.
  std::string ToString() const;

 private:
  // Nodes share few sets of reasons, so sets are counted first.
  std::vector<std::pair<const ReasonSet*, size_t>> sets_;
};

// "0/<nodes> nodes are available:".
std::string FitErrorHead(size_t nodes);

}  // namespace berth
