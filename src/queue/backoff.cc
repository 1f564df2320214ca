// SPDX-License-Identifier: Apache-2.0
#include "src/queue/backoff.h"

#include <chrono>
#include <cmath>

namespace berth::queue {

Time Backoff::Align(Time time) const {
  if (!options_.pop_from_backoff_q) return time;
  return std::chrono::floor<std::chrono::seconds>(time);
}

Duration Backoff::Length(int failures, size_t size) const {
  Duration longest = options_.pod_max_backoff;
  if (size > 1) {
    longest = Duration(static_cast<Duration::rep>(static_cast<double>(longest.count()) *
                                                  std::sqrt(static_cast<double>(size))));
  }
  // Shifting the maximum down, not the initial value up, cannot overflow.
  const int doublings = failures - 1;
  if (doublings >= 63 || options_.pod_initial_backoff.count() > (longest.count() >> doublings)) {
    return longest;
  }
  return Duration(options_.pod_initial_backoff.count() << doublings);
}

Time Backoff::Expiration(const QueuedPod& pod, size_t size) const {
  if (options_.pod_max_backoff == Duration::zero()) return Time::min();
  const int failures =
      pod.consecutive_errors_count > 0 ? pod.consecutive_errors_count : pod.unschedulable_count;
  if (failures == 0) return Time::min();
  return Align(pod.timestamp + Length(failures, size));
}

bool Backoff::IsBackingOff(const QueuedPod& pod, Time now, size_t size) const {
  return Expiration(pod, size) >= Align(now);
}

}  // namespace berth::queue
