// SPDX-License-Identifier: Apache-2.0
#include "src/fixes/cost.h"

namespace berth::fixes {
namespace {

int64_t CostOf(const explain::LowerRequest& change) {
  const auto from = change.from.nanos();
  if (from <= 0) return 10;
  return 10 + static_cast<int64_t>((from - change.to.nanos()) * 100 / from);
}
int64_t CostOf(const explain::Tolerate&) { return 20; }
int64_t CostOf(const explain::AddNode&) { return 60; }
int64_t CostOf(const explain::Uncordon&) { return 10; }

}  // namespace

int64_t Cost(const explain::Change& change) {
  return std::visit([](const auto& held) { return CostOf(held); }, change);
}

int64_t Cost(const std::vector<explain::Change>& changes) {
  int64_t cost = 0;
  for (const explain::Change& change : changes) cost += Cost(change);
  return cost;
}

}  // namespace berth::fixes
