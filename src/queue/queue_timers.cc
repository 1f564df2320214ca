// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <optional>
#include <string_view>
#include <vector>

#include "src/queue/scheduling_queue.h"

// What a SchedulingQueue does as time passes.
namespace berth::queue {
namespace {

// The API server may refuse a pod's status for good: what is not shown by then holds up no others.
constexpr Duration kConditionPatience = std::chrono::seconds(1);
constexpr std::string_view kBackoffComplete = "BackoffComplete";
constexpr ClusterEvent kUnschedulableTimeout = {EventResource::kWildcard, action::kAll,
                                                "UnschedulableTimeout"};

}  // namespace

void SchedulingQueue::Tick(Time now) {
  if (backoff_timer_.Take(now)) FlushBackoffCompleted(now);
  if (unschedulable_timer_.Take(now)) FlushUnschedulableLeftover(now);
}

void SchedulingQueue::FlushBackoffCompleted(Time now) {
  BERTH_ON_THREAD(owner_);
  state_.GiveUpConditions(now - kConditionPatience);
  while (Entry* entry = state_.BackoffCompleted(now)) {
    state_.MoveToActiveQ(entry, kBackoffComplete, std::nullopt, now);
  }
}

void SchedulingQueue::FlushUnschedulableLeftover(Time now) {
  BERTH_ON_THREAD(owner_);
  std::vector<Entry*> overdue;
  for (const auto& [sequence, entry] : state_.parked().all()) {
    QueuedPod& pod = *entry->pod;
    const Time since = std::max(pod.timestamp, pod.flush_timestamp.value_or(pod.timestamp));
    if (now - since <= state_.options().pod_max_in_unschedulable_pods_duration) continue;
    pod.was_flushed_from_unschedulable = true;
    for (const auto& member : entry->members) member->pod->was_flushed_from_unschedulable = true;
    pod.flush_timestamp = now;
    overdue.push_back(entry);
  }
  if (overdue.empty()) return;
  const EventMatch& match = state_.hints().Match(kUnschedulableTimeout);
  for (Entry* entry : overdue) {
    state_.Wake(entry, QueueingStrategy::kAfterBackoff, match.label, now);
  }
  in_flight_.Record({&match, {}, {}});
}

std::optional<Time> SchedulingQueue::NextWakeup() const {
  std::optional<Time> next;
  if (const auto ends = state_.FirstExpiration(); ends) {
    next = std::max(backoff_timer_.next(), backoff_timer_.FirstAfter(*ends));
  }
  if (state_.AwaitsConditions()) next = backoff_timer_.next();
  if (!state_.parked().all().empty() && (!next || unschedulable_timer_.next() < *next)) {
    next = unschedulable_timer_.next();
  }
  return next;
}

}  // namespace berth::queue
