// SPDX-License-Identifier: Apache-2.0
#include "src/base/thread.h"

#include <pthread.h>
#include <sys/resource.h>

#include <utility>

namespace berth::base {

NamedThread::NamedThread(std::string name, std::function<void()> body)
    : thread_([name = std::move(name), body = std::move(body)] {
        pthread_setname_np(pthread_self(), name.substr(0, 15).c_str());
        body();
      }) {}

NamedThread::~NamedThread() { Join(); }

void LowerThreadPriority() {
  // On Linux 0 is the calling thread, not its process. Every thread may become nicer.
  constexpr int kNicest = 19;
  setpriority(PRIO_PROCESS, 0, kNicest);
}

bool ThreadOwner::OnThread() const {
  std::thread::id none;
  const std::thread::id self = std::this_thread::get_id();
  return owner_.compare_exchange_strong(none, self) || none == self;
}

}  // namespace berth::base
