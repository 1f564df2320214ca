// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <absl/container/flat_hash_map.h>

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "berth/time.h"
#include "src/base/executor.h"
#include "src/base/mutex.h"
#include "src/base/thread.h"

namespace berth::base {

// Called when a file descriptor can be read or written.
class FdListener {
 public:
  virtual ~FdListener() = default;
  // `events` are epoll's (EPOLLIN, EPOLLOUT, EPOLLERR, EPOLLHUP).
  virtual void OnReady(int fd, uint32_t events) = 0;
};

// One thread's loop over file descriptors (epoll), timers and posted tasks.
//
// Thread safety: Post, PostAfter, Cancel and Stop from any thread; Watch and Unwatch only from
// tasks and listeners, that is on the thread inside Run().
class EventLoop final : public Executor {
 public:
  // `clock` outlives the loop.
  explicit EventLoop(const Clock& clock);
  ~EventLoop() override;
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  void Post(Task task) override;
  TimerId PostAfter(Duration delay, Task task) override;
  void Cancel(TimerId timer) override;
  // The clock's time, which timers run by.
  Time Now() const { return clock_.Now(); }

  // Calls `listener` from now on while one of `events` holds; replaces an earlier call for `fd`.
  void Watch(int fd, uint32_t events, FdListener& listener);
  // No call of `listener` for `fd` any more, not even for an event that has been read already. Does
  // nothing when another watches `fd` by now: a number is given out again once it is closed.
  void Unwatch(int fd, const FdListener& listener);

  // Serves until Stop(). What was posted before Stop() has run when this returns; timers have not.
  void Run();
  void Stop();

 private:
  struct Watched {
    FdListener* listener;
    uint32_t generation;
  };

  void Wake();
  // Runs what was posted and what is due, but nothing that arises meanwhile.
  void RunTasks();
  // The first timer due at `now`, if it is not younger than `last`; else nullptr.
  Task TakeDueTimer(Time now, TimerId last);
  int PollTimeoutMs() const;
  bool Finished() const;

  const Clock& clock_;
  int epoll_ = -1;
  int wakeup_ = -1;
  ThreadOwner thread_;
  absl::flat_hash_map<int, Watched> watched_;
  uint32_t last_generation_ = 0;

  mutable Mutex mutex_;
  bool stopping_ BERTH_GUARDED_BY(mutex_) = false;
  bool asleep_ BERTH_GUARDED_BY(mutex_) = false;
  std::vector<Task> posted_ BERTH_GUARDED_BY(mutex_);
  std::map<std::pair<Time, TimerId>, Task> timers_ BERTH_GUARDED_BY(mutex_);
  absl::flat_hash_map<TimerId, Time> due_ BERTH_GUARDED_BY(mutex_);
  TimerId last_timer_ BERTH_GUARDED_BY(mutex_) = 0;
};

}  // namespace berth::base
