// SPDX-License-Identifier: Apache-2.0
#include "src/binding/cancel_source.h"

#include <utility>

namespace berth::binding {

bool CancelSource::cancelled() const {
  base::MutexLock lock(mutex_);
  return state_ == State::kCancelled;
}

void CancelSource::OnCancel(std::function<void()> hook) {
  State state;
  {
    base::MutexLock lock(mutex_);
    state = state_;
    if (state == State::kArmed) return hooks_.push_back(std::move(hook));
  }
  if (state == State::kCancelled) hook();
}

void CancelSource::Cancel() {
  Hooks hooks;
  {
    base::MutexLock lock(mutex_);
    if (state_ != State::kArmed) return;
    state_ = State::kCancelled;
    hooks.swap(hooks_);
  }
  for (const auto& hook : hooks) hook();
}

void CancelSource::Disarm() {
  // The hooks are destroyed outside the lock: they may hold objects whose end calls back.
  Hooks hooks;
  base::MutexLock lock(mutex_);
  if (state_ == State::kArmed) state_ = State::kDisarmed;
  hooks.swap(hooks_);
}

}  // namespace berth::binding
