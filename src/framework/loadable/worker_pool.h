// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "src/base/mutex.h"
#include "src/base/thread.h"

namespace berth::framework::loadable {

// Threads for the calls of a plugin that blocks; each is started when there is work for it.
//
// Thread safety: Run() on any thread; destroyed by one owner.
class WorkerPool {
 public:
  // At most `limit` threads, at least one; the operating system shows `name`.
  WorkerPool(std::string name, size_t limit);
  // Sees all work through.
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  // In the order given, as threads are free.
  void Run(std::function<void()> work);

 private:
  void Serve();

  const std::string name_;
  const size_t limit_;
  base::Mutex mutex_;
  base::CondVar changed_;
  std::deque<std::function<void()>> queue_ BERTH_GUARDED_BY(mutex_);
  size_t idle_ BERTH_GUARDED_BY(mutex_) = 0;
  bool closing_ BERTH_GUARDED_BY(mutex_) = false;
  std::vector<base::NamedThread> threads_ BERTH_GUARDED_BY(mutex_);
};

}  // namespace berth::framework::loadable
