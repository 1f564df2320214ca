// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <absl/container/inlined_vector.h>

#include <functional>

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
  using Hooks = absl::InlinedVector<std::function<void()>, 1>;  // mostly there is one

  mutable base::Mutex mutex_;
  State state_ BERTH_GUARDED_BY(mutex_) = State::kArmed;
  Hooks hooks_ BERTH_GUARDED_BY(mutex_);
};

}  // namespace berth::binding
