// SPDX-License-Identifier: Apache-2.0
#include "src/framework/time_limit.h"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace berth::framework {
namespace {

// The most that a step takes.
constexpr Duration kStep = std::chrono::nanoseconds(100);
thread_local TimeLimit* current_limit = nullptr;

}  // namespace

TimeLimit::TimeLimit(std::function<Duration()> left)
    : left_(std::move(left)), outer_(std::exchange(current_limit, this)) {}

TimeLimit::~TimeLimit() { current_limit = outer_; }

bool TimeLimit::IsSet() { return current_limit != nullptr; }

bool TimeLimit::IsUp() {
  return current_limit != nullptr && current_limit->left_() <= Duration::zero();
}

CycleBudget TimeLimit::BudgetNow() {
  if (current_limit == nullptr) return {};
  const auto steps = std::max<int64_t>(current_limit->left_() / (2 * kStep), 0);
  return CycleBudget::ForQuestion(static_cast<uint64_t>(steps));
}

}  // namespace berth::framework
