// SPDX-License-Identifier: Apache-2.0
#include "src/base/virtual_time.h"

namespace berth::base {

void VirtualExecutor::Post(Task task) {
  const Due due(clock_.Now(), ++last_id_);
  if (posted_.empty() || posted_.back().first < due) {
    posted_.emplace_back(due, std::move(task));
  } else {
    timers_.emplace(due, std::move(task));
  }
}

Executor::TimerId VirtualExecutor::PostAfter(Duration delay, Task task) {
  const TimerId id = ++last_id_;
  const Time when = clock_.Now() + delay;
  timers_.emplace(Due(when, id), std::move(task));
  cancellable_.emplace(id, when);
  return id;
}

void VirtualExecutor::Cancel(TimerId timer) {
  const auto it = cancellable_.find(timer);
  if (it == cancellable_.end()) return;
  timers_.erase(Due(it->second, timer));
  cancellable_.erase(it);
}

Executor::Task VirtualExecutor::TakeDue() {
  Task task;
  const bool timer_first =
      !timers_.empty() && (posted_.empty() || timers_.begin()->first < posted_.front().first);
  if (timer_first) {
    const auto first = timers_.begin();
    if (first->first.first > clock_.Now()) return task;
    task = std::move(first->second);
    cancellable_.erase(first->first.second);
    timers_.erase(first);
  } else if (!posted_.empty() && posted_.front().first.first <= clock_.Now()) {
    task = std::move(posted_.front().second);
    posted_.pop_front();
  }
  return task;
}

bool VirtualExecutor::RunDue() {
  bool ran = false;
  while (const Task task = TakeDue()) {
    task();
    ran = true;
  }
  return ran;
}

void VirtualExecutor::Advance(Duration by) {
  const Time end = clock_.Now() + by;
  RunDue();
  for (auto next = NextDue(); next && *next <= end; next = NextDue()) {
    clock_.Set(*next);
    RunDue();
  }
  clock_.Set(end);
}

std::optional<Time> VirtualExecutor::NextDue() const {
  std::optional<Time> next;
  if (!posted_.empty()) next = posted_.front().first.first;
  if (!timers_.empty() && (!next || timers_.begin()->first.first < *next)) {
    next = timers_.begin()->first.first;
  }
  return next;
}

}  // namespace berth::base
