// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <vector>

#include "berth/in_tree/async.h"
#include "src/base/mutex.h"

namespace berth::binding {

// The Cancellation handed to one plugin call, and the way to pull it.
//
// Hooks run on the cancelling thread, without a lock held; one may still run while the work ends
// on another thread.
//
// Thread safety: any thread.
class CancelSource final : public Cancellation {
 public:
  bool cancelled() const override;
  void OnCancel(std::function<void()> hook) override;

  // Runs the hooks. Does nothing the second time, or after Disarm().
  void Cancel();
  // The work is over: forgets the hooks and what they hold.
  void Disarm();

 private:
  enum class State { kArmed, kCancelled, kDisarmed };

  mutable base::Mutex mutex_;
  State state_ BERTH_GUARDED_BY(mutex_) = State::kArmed;
  std::vector<std::function<void()>> hooks_ BERTH_GUARDED_BY(mutex_);
};

}  // namespace berth::binding
