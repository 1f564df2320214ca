// SPDX-License-Identifier: Apache-2.0
#include "src/framework/loadable/worker_pool.h"

#include <algorithm>
#include <utility>

namespace berth::framework::loadable {

WorkerPool::WorkerPool(std::string name, size_t limit)
    : name_(std::move(name)), limit_(std::max<size_t>(limit, 1)) {}

WorkerPool::~WorkerPool() {
  std::vector<base::NamedThread> threads;
  {
    base::MutexLock lock(mutex_);
    closing_ = true;
    threads.swap(threads_);
  }
  changed_.NotifyAll();
  for (base::NamedThread& thread : threads) thread.Join();
}

void WorkerPool::Run(std::function<void()> work) {
  base::MutexLock lock(mutex_);
  queue_.push_back(std::move(work));
  if (queue_.size() > idle_ && threads_.size() < limit_) {
    threads_.emplace_back(name_, [this] { Serve(); });
  }
  changed_.NotifyOne();
}

void WorkerPool::Serve() {
  while (true) {
    std::function<void()> work;
    {
      base::MutexLock lock(mutex_);
      ++idle_;
      while (queue_.empty() && !closing_) changed_.Wait(mutex_);
      --idle_;
      if (queue_.empty()) return;
      work = std::move(queue_.front());
      queue_.pop_front();
    }
    work();
  }
}

}  // namespace berth::framework::loadable
