// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "berth/time.h"
#include "src/queue/queued_pod.h"

namespace berth::queue {

// How long a pod waits after a failed attempt: the initial backoff, doubled for each further
// failure, up to the maximum; for a pod group that is longer by the square root of its size.
//
// With pop_from_backoff_q, expiry is rounded down to a whole second, so that all pods of one second
// form a window in which priority decides; a pod still backs off in the second of its expiry.
//
// Thread safety: stateless; any thread.
class Backoff {
 public:
  explicit Backoff(const QueueOptions& options) : options_(options) {}

  // When the backoff ends; Time::min() for a pod that need not wait.
  // `size`: how many pods a group has.
  Time Expiration(const QueuedPod& pod, size_t size = 1) const;
  bool IsBackingOff(const QueuedPod& pod, Time now, size_t size = 1) const;

 private:
  Duration Length(int failures, size_t size) const;
  Time Align(Time time) const;

  QueueOptions options_;
};

}  // namespace berth::queue
