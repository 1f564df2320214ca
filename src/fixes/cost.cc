// SPDX-License-Identifier: Apache-2.0
#include "src/fixes/cost.h"

#include <algorithm>

namespace berth::fixes {
namespace {

int64_t CostOf(const explain::Uncordon&) { return 10; }
// 10, and one for each percent that goes.
int64_t CostOf(const explain::LowerRequest& change) {
  const auto from = change.from.nanos();
  if (from <= 0) return 10;
  return 10 + static_cast<int64_t>((from - change.to.nanos()) * 100 / from);
}
// 15, and one for each step of maxSkew, as far as SpreadAnyway.
int64_t CostOf(const explain::RelaxSpread& change) {
  return 15 + std::min<int64_t>(int64_t{change.to} - change.from, 20);
}
int64_t CostOf(const explain::Tolerate&) { return 20; }
int64_t CostOf(const explain::WidenNodeAffinity&) { return 25; }
int64_t CostOf(const explain::SetLabel&) { return 30; }
int64_t CostOf(const explain::RemoveTaint&) { return 35; }
int64_t CostOf(const explain::SpreadAnyway&) { return 35; }
int64_t CostOf(const explain::DropNodeSelector&) { return 40; }
int64_t CostOf(const explain::DropNodeAffinity&) { return 40; }
int64_t CostOf(const explain::DropPodAffinity&) { return 40; }
int64_t CostOf(const explain::UseStorageClass&) { return 45; }
int64_t CostOf(const explain::AllowAnyTopology&) { return 45; }
int64_t CostOf(const explain::DropHostPort&) { return 50; }
int64_t CostOf(const explain::AddNode&) { return 60; }
// 50, 5 for each pod, and 100 for each eviction that a budget does not allow.
int64_t CostOf(const explain::EvictPods& change) {
  int64_t cost = 50 + 5 * static_cast<int64_t>(change.pods.size());
  for (const explain::EvictPods::Budget& budget : change.budgets) {
    cost += 100 * std::max<int64_t>(budget.evicted - budget.allowed, 0);
  }
  return cost;
}

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
