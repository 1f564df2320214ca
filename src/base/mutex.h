// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

// Annotated locks; clang's -Wthread-safety (`./dev lint`) checks the guards.
#if defined(__clang__)
#define BERTH_THREAD_ATTRIBUTE(x) __attribute__((x))
#else
#define BERTH_THREAD_ATTRIBUTE(x)
#endif
#define BERTH_GUARDED_BY(mutex) BERTH_THREAD_ATTRIBUTE(guarded_by(mutex))
#define BERTH_REQUIRES(...) BERTH_THREAD_ATTRIBUTE(requires_capability(__VA_ARGS__))

namespace berth::base {

class BERTH_THREAD_ATTRIBUTE(capability("mutex")) Mutex {
 public:
  void Lock() BERTH_THREAD_ATTRIBUTE(acquire_capability()) { mutex_.lock(); }
  void Unlock() BERTH_THREAD_ATTRIBUTE(release_capability()) { mutex_.unlock(); }

 private:
  friend class CondVar;
  std::mutex mutex_;
};

class BERTH_THREAD_ATTRIBUTE(scoped_lockable) MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) BERTH_THREAD_ATTRIBUTE(acquire_capability(mutex))
      : mutex_(mutex) {
    mutex_.Lock();
  }
  ~MutexLock() BERTH_THREAD_ATTRIBUTE(release_capability()) { mutex_.Unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mutex_;
};

class CondVar {
 public:
  void NotifyOne() { condition_.notify_one(); }
  void NotifyAll() { condition_.notify_all(); }

  void Wait(Mutex& mutex) BERTH_REQUIRES(mutex) {
    std::unique_lock<std::mutex> lock(mutex.mutex_, std::adopt_lock);
    condition_.wait(lock);
    lock.release();
  }
  // May return early.
  void WaitFor(Mutex& mutex, std::chrono::nanoseconds timeout) BERTH_REQUIRES(mutex) {
    std::unique_lock<std::mutex> lock(mutex.mutex_, std::adopt_lock);
    condition_.wait_for(lock, timeout);
    lock.release();
  }

 private:
  std::condition_variable condition_;
};

}  // namespace berth::base
