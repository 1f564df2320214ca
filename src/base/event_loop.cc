// SPDX-License-Identifier: Apache-2.0
#include "src/base/event_loop.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "berth/check.h"

namespace berth::base {
namespace {

constexpr int kMaxEvents = 64;
constexpr uint64_t kWakeup = 0;  // generations begin with 1

uint64_t Tag(int fd, uint32_t generation) {
  return (uint64_t{generation} << 32) | static_cast<uint32_t>(fd);
}

}  // namespace

EventLoop::EventLoop(const Clock& clock)
    : clock_(clock),
      epoll_(epoll_create1(EPOLL_CLOEXEC)),
      wakeup_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  BERTH_CHECK(epoll_ >= 0 && wakeup_ >= 0, "no file descriptor left for the I/O loop");
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = kWakeup;
  BERTH_CHECK(epoll_ctl(epoll_, EPOLL_CTL_ADD, wakeup_, &event) == 0, "epoll_ctl failed");
}

EventLoop::~EventLoop() {
  close(wakeup_);
  close(epoll_);
}

void EventLoop::Wake() {
  const uint64_t one = 1;
  // A full counter means a wake-up is under way already.
  [[maybe_unused]] const ssize_t written = write(wakeup_, &one, sizeof one);
}

void EventLoop::Post(Task task) {
  bool wake = false;
  {
    MutexLock lock(mutex_);
    posted_.push_back(std::move(task));
    std::swap(wake, asleep_);
  }
  if (wake) Wake();
}

Executor::TimerId EventLoop::PostAfter(Duration delay, Task task) {
  const Time due = clock_.Now() + delay;
  bool wake = false;
  TimerId id = 0;
  {
    MutexLock lock(mutex_);
    id = ++last_timer_;
    const bool first = timers_.empty() || due < timers_.begin()->first.first;
    timers_.emplace(std::pair(due, id), std::move(task));
    due_.emplace(id, due);
    if (first) std::swap(wake, asleep_);
  }
  if (wake) Wake();
  return id;
}

void EventLoop::Cancel(TimerId timer) {
  Task dropped;  // destroyed outside the lock: it may own things that call back
  MutexLock lock(mutex_);
  const auto found = due_.find(timer);
  if (found == due_.end()) return;
  const auto entry = timers_.find(std::pair(found->second, timer));
  dropped = std::move(entry->second);
  timers_.erase(entry);
  due_.erase(found);
}

void EventLoop::Watch(int fd, uint32_t events, FdListener& listener) {
  BERTH_ON_THREAD(thread_);
  const bool known = watched_.contains(fd);
  const uint32_t generation = ++last_generation_;
  watched_[fd] = Watched{&listener, generation};
  epoll_event event{};
  event.events = events;
  event.data.u64 = Tag(fd, generation);
  if (epoll_ctl(epoll_, known ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, fd, &event) == 0) return;
  // The descriptor was closed and its number given out again, or the reverse.
  epoll_ctl(epoll_, known ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, fd, &event);
}

void EventLoop::Unwatch(int fd, const FdListener& listener) {
  BERTH_ON_THREAD(thread_);
  const auto found = watched_.find(fd);
  if (found == watched_.end() || found->second.listener != &listener) return;
  watched_.erase(found);
  epoll_ctl(epoll_, EPOLL_CTL_DEL, fd, nullptr);
}

int EventLoop::PollTimeoutMs() const {
  MutexLock lock(mutex_);
  if (!posted_.empty() || stopping_) return 0;
  if (timers_.empty()) return -1;
  const Duration left = timers_.begin()->first.first - clock_.Now();
  if (left <= Duration::zero()) return 0;
  const auto ms = std::chrono::ceil<std::chrono::milliseconds>(left).count();
  return static_cast<int>(std::min<int64_t>(ms, 3'600'000));
}

void EventLoop::RunTasks() {
  std::vector<Task> tasks;
  const Time now = clock_.Now();
  TimerId last = 0;
  {
    MutexLock lock(mutex_);
    std::swap(tasks, posted_);
    last = last_timer_;
  }
  for (Task& task : tasks) {
    task();
    task = nullptr;
  }
  // One by one, since a task may cancel the timer that would have been next.
  while (Task task = TakeDueTimer(now, last)) task();
}

Executor::Task EventLoop::TakeDueTimer(Time now, TimerId last) {
  MutexLock lock(mutex_);
  if (timers_.empty()) return nullptr;
  const auto first = timers_.begin();
  if (first->first.first > now || first->first.second > last) return nullptr;
  Task task = std::move(first->second);
  due_.erase(first->first.second);
  timers_.erase(first);
  return task;
}

bool EventLoop::Finished() const {
  MutexLock lock(mutex_);
  return stopping_ && posted_.empty();
}

void EventLoop::Run() {
  std::array<epoll_event, kMaxEvents> events{};
  while (!Finished()) {
    {
      MutexLock lock(mutex_);
      asleep_ = true;  // set before the last look, so that no post goes unnoticed
    }
    const int count = epoll_wait(epoll_, events.data(), kMaxEvents, PollTimeoutMs());
    {
      MutexLock lock(mutex_);
      asleep_ = false;
    }
    for (int i = 0; i < count; ++i) {
      const uint64_t tag = events[static_cast<size_t>(i)].data.u64;
      if (tag == kWakeup) {
        uint64_t ignored = 0;
        [[maybe_unused]] const ssize_t got = read(wakeup_, &ignored, sizeof ignored);
        continue;
      }
      const int fd = static_cast<int>(tag & 0xffffffffu);
      const auto found = watched_.find(fd);
      if (found == watched_.end() || Tag(fd, found->second.generation) != tag) continue;
      found->second.listener->OnReady(fd, events[static_cast<size_t>(i)].events);
    }
    RunTasks();
  }
}

void EventLoop::Stop() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
    asleep_ = false;
  }
  Wake();
}

}  // namespace berth::base
