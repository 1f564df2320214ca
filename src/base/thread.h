// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <thread>

#include "berth/check.h"

namespace berth::base {

// A thread with a name the operating system shows (at most 15 bytes). Joined when destroyed.
class NamedThread {
 public:
  NamedThread() = default;
  NamedThread(std::string name, std::function<void()> body);
  NamedThread(NamedThread&&) = default;
  NamedThread& operator=(NamedThread&&) = default;
  ~NamedThread();

  void Join() {
    if (thread_.joinable()) thread_.join();
  }

 private:
  std::thread thread_;
};

// From now on the calling thread leaves the CPU to others: beside one busy thread of ordinary
// priority it gets 1.5 % of a core. For work that may wait; such a thread holds no lock for long.
void LowerThreadPriority();

// Remembers the first thread that asks and holds every later caller to it. In a release build it
// does nothing.
class ThreadOwner {
 public:
  // True on the owning thread, which is the first to ask since construction or Release().
  bool OnThread() const;
  // The next thread to ask becomes the owner.
  void Release() { owner_.store(std::thread::id()); }

 private:
  mutable std::atomic<std::thread::id> owner_;
};

}  // namespace berth::base

// Aborts in debug builds when called from another thread than the owner's.
#ifdef NDEBUG
#define BERTH_ON_THREAD(owner) static_cast<void>(owner)
#else
#define BERTH_ON_THREAD(owner) BERTH_CHECK((owner).OnThread(), "called from a foreign thread")
#endif
