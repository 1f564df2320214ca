// SPDX-License-Identifier: Apache-2.0
#include "src/queue/backoff.h"

#include <chrono>

namespace berth::queue {

Time Backoff::Align(Time time) const {
  if (!options_.pop_from_backoff_q) return time;
  return std::chrono::floor<std::chrono::seconds>(time);
}

Duration Backoff::Length(int failures) const {
  // Shifting the maximum down, not the initial value up, cannot overflow.
  const int doublings = failures - 1;
  if (doublings >= 63 ||
      options_.pod_initial_backoff.count() > (options_.pod_max_backoff.count() >> doublings)) {
    return options_.pod_max_backoff;
  }
  return Duration(options_.pod_initial_backoff.count() << doublings);
}

Time Backoff::Expiration(const QueuedPod& pod) const {
  if (options_.pod_max_backoff == Duration::zero()) return Time::min();
  const int failures =
      pod.consecutive_errors_count > 0 ? pod.consecutive_errors_count : pod.unschedulable_count;
  if (failures == 0) return Time::min();
  return Align(pod.timestamp + Length(failures));
}

bool Backoff::IsBackingOff(const QueuedPod& pod, Time now) const {
  return Expiration(pod) >= Align(now);
}

}  // namespace berth::queue
