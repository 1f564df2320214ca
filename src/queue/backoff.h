// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "berth/time.h"
#include "src/queue/queued_pod.h"

namespace berth::queue {

// How long a pod waits after a failed attempt: the initial backoff, doubled for each further
// failure, up to the maximum.
//
// With pop_from_backoff_q, expiry is rounded down to a whole second, so that all pods of one second
// form a window in which priority decides; a pod still backs off in the second of its expiry.
//
// Thread safety: stateless; any thread.
class Backoff {
 public:
  explicit Backoff(const QueueOptions& options) : options_(options) {}

  // When the backoff ends; Time::min() for a pod that need not wait.
  Time Expiration(const QueuedPod& pod) const;
  bool IsBackingOff(const QueuedPod& pod, Time now) const;

 private:
  Duration Length(int failures) const;
  Time Align(Time time) const;

  QueueOptions options_;
};

}  // namespace berth::queue
