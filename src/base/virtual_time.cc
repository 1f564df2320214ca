// SPDX-License-Identifier: Apache-2.0
#include "src/base/virtual_time.h"

namespace berth::base {

void VirtualExecutor::Post(Task task) {
  due_.emplace(std::pair(clock_.Now(), ++last_id_), std::move(task));
}

Executor::TimerId VirtualExecutor::PostAfter(Duration delay, Task task) {
  const TimerId id = ++last_id_;
  const Time when = clock_.Now() + delay;
  due_.emplace(std::pair(when, id), std::move(task));
  timers_.emplace(id, when);
  return id;
}

void VirtualExecutor::Cancel(TimerId timer) {
  const auto it = timers_.find(timer);
  if (it == timers_.end()) return;
  due_.erase({it->second, timer});
  timers_.erase(it);
}

bool VirtualExecutor::RunDue() {
  bool ran = false;
  while (!due_.empty() && due_.begin()->first.first <= clock_.Now()) {
    const auto first = due_.begin();
    const Task task = std::move(first->second);
    timers_.erase(first->first.second);
    due_.erase(first);
    task();
    ran = true;
  }
  return ran;
}

void VirtualExecutor::Advance(Duration by) {
  const Time end = clock_.Now() + by;
  RunDue();
  while (!due_.empty() && due_.begin()->first.first <= end) {
    clock_.Set(due_.begin()->first.first);
    RunDue();
  }
  clock_.Set(end);
}

std::optional<Time> VirtualExecutor::NextDue() const {
  if (due_.empty()) return std::nullopt;
  return due_.begin()->first.first;
}

}  // namespace berth::base
