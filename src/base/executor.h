// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <thread>
#include <utility>

#include "berth/time.h"
#include "src/base/mutex.h"

namespace berth::base {

// Runs tasks one after another on one thread, in the order they fall due.
//
// Thread safety: any thread; a task runs on the executor's own.
class Executor {
 public:
  using Task = std::function<void()>;
  using TimerId = uint64_t;

  virtual ~Executor() = default;
  // Runs `task` as soon as what was posted before has run; never inside Post().
  virtual void Post(Task task) = 0;
  // Runs `task` after `delay`, unless cancelled before.
  virtual TimerId PostAfter(Duration delay, Task task) = 0;
  // Does nothing when the timer has run or been cancelled.
  virtual void Cancel(TimerId timer) = 0;
};

// The way to an object that lives on an executor's thread, for callers on other threads that may
// outlive it.
//
// Thread safety: any thread, but for Close() and closed().
class ExecutorLink : public std::enable_shared_from_this<ExecutorLink> {
 public:
  // `executor` must stay until Close().
  explicit ExecutorLink(Executor& executor) : executor_(&executor) {}

  // Runs `task` on the executor's thread: within the call where that is this thread, as a first
  // task has shown, else later. Drops it once closed.
  template <typename Task>
  void Run(Task task) {
    // No other thread can have stored this one's ID.
    if (thread_.load(std::memory_order_relaxed) != std::this_thread::get_id()) {
      Post(std::move(task));
    } else if (!closed()) {
      task();
    }
  }
  // The same, but never within the call.
  template <typename Task>
  void Post(Task task) {
    MutexLock lock(mutex_);
    if (executor_ == nullptr) return;
    executor_->Post([self = shared_from_this(), task = std::move(task)]() mutable {
      self->thread_.store(std::this_thread::get_id(), std::memory_order_relaxed);
      if (!self->closed()) task();
    });
  }

  // The object goes: no task runs from now on. On the executor's thread, or once that has stopped.
  void Close() {
    MutexLock lock(mutex_);
    executor_ = nullptr;
    closed_.store(true, std::memory_order_relaxed);
  }
  // On the executor's thread, or once that has stopped.
  bool closed() const { return closed_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::thread::id> thread_;  // the executor's, once known
  std::atomic<bool> closed_ = false;     // written by the executor's thread
  Mutex mutex_;
  Executor* executor_ BERTH_GUARDED_BY(mutex_);  // nullptr once closed
};

}  // namespace berth::base
