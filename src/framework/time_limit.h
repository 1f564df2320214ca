// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "berth/in_tree/cycle_budget.h"
#include "berth/time.h"

namespace berth::framework {

// Holds the decisions of its thread to a limit of time, while it lives. Once the time is up no
// plugin is called any more: an Error takes the place of its answer, so that a decision ends at the
// latest with the call that is under way. A cycle that begins has the steps that half of the time
// left is enough for, so that no single call takes it all; a pod that needs more gets its error,
// and others have their turn.
//
// For questions, which have a limit. The scheduling thread has none: its decisions do not depend on
// the time.
//
// Thread safety: one thread's, on which it is made and destroyed. An inner one takes the place of
// the outer one.
class TimeLimit {
 public:
  // `left`: how much time there is; zero or less: it is up.
  explicit TimeLimit(std::function<Duration()> left);
  ~TimeLimit();
  TimeLimit(const TimeLimit&) = delete;
  TimeLimit& operator=(const TimeLimit&) = delete;

  // Whether this thread has a limit, and whether its time is up.
  static bool IsSet();
  static bool IsUp();
  // What a cycle that begins now on this thread may take: the usual, without a limit.
  static CycleBudget BudgetNow();

 private:
  const std::function<Duration()> left_;
  TimeLimit* const outer_;
};

}  // namespace berth::framework
