// SPDX-License-Identifier: Apache-2.0
#include "src/base/thread.h"

#include <pthread.h>

#include <utility>

namespace berth::base {

NamedThread::NamedThread(std::string name, std::function<void()> body)
    : thread_([name = std::move(name), body = std::move(body)] {
        pthread_setname_np(pthread_self(), name.substr(0, 15).c_str());
        body();
      }) {}

NamedThread::~NamedThread() { Join(); }

bool ThreadOwner::OnThread() const {
  std::thread::id none;
  const std::thread::id self = std::this_thread::get_id();
  return owner_.compare_exchange_strong(none, self) || none == self;
}

}  // namespace berth::base
