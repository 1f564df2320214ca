// SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <string_view>
#include <vector>

#include "src/queue/scheduling_queue.h"

// What a SchedulingQueue shows of itself.
namespace berth::queue {
namespace {

Place PlaceOf(const Entry* entry) {
  if (entry == nullptr) return Place::kNowhere;
  switch ((entry->group != nullptr ? entry->group : entry)->holder) {
    case Holder::kActive:
      return Place::kActive;
    case Holder::kBackoff:
    case Holder::kErrorBackoff:
      return Place::kBackoff;
    case Holder::kParked:
      return Place::kUnschedulable;
    case Holder::kNone:
      break;
  }
  return Place::kUnschedulable;  // a member that waits for its group
}

// Adds a group, which is counted as one pod so far.
void CountGroup(const Entry& group, QueueCounts& counts) {
  const auto count = [&group](size_t& pods, size_t& members, size_t& groups) {
    pods += group.size() - 1;
    members += group.size();
    ++groups;
  };
  if (group.holder == Holder::kActive) {
    count(counts.active, counts.members.active, counts.groups.active);
  } else if (group.holder != Holder::kParked) {
    count(counts.backoff, counts.members.backoff, counts.groups.backoff);
  } else if (group.counted_as_gated) {
    count(counts.gated, counts.members.gated, counts.groups.gated);
  } else {
    count(counts.unschedulable, counts.members.unschedulable, counts.groups.unschedulable);
  }
}

}  // namespace

QueueCounts SchedulingQueue::counts() const {
  const size_t gated = state_.parked().gated();
  QueueCounts counts{.active = state_.active().size(),
                     .backoff = state_.backoff().size() + state_.error_backoff().size(),
                     .unschedulable = state_.parked().all().size() - gated,
                     .gated = gated,
                     .in_flight = in_flight_.size(),
                     .incomplete = groups_.num_incomplete(),
                     .pending = groups_.num_pending(),
                     .has_groups = state_.options().pod_groups != nullptr};
  for (const Entry* group : groups_.entries()) CountGroup(*group, counts);
  return counts;
}

const QueuedPod* SchedulingQueue::Find(std::string_view pod_key) const {
  const Entry* entry = FindEntry(pod_key);
  return entry == nullptr ? nullptr : entry->pod.get();
}

Place SchedulingQueue::WhereIs(std::string_view pod_key) const {
  return PlaceOf(FindEntry(pod_key));
}

Gate SchedulingQueue::GateOf(std::string_view pod_key) const {
  const Entry* entry = FindEntry(pod_key);
  if (entry == nullptr) return Gate::kNone;
  if (entry->pod->gated()) return Gate::kOwn;
  if (entry->group != nullptr) return entry->group->pod->gated() ? Gate::kOfGroup : Gate::kNone;
  if (!IsMember(entry->pod->pod())) return Gate::kNone;
  return groups_.IsIncomplete(*entry) ? Gate::kMissingGroup : Gate::kNone;
}

std::optional<Time> SchedulingQueue::BackoffEnds(std::string_view pod_key) const {
  const Entry* entry = FindEntry(pod_key);
  if (entry == nullptr) return std::nullopt;
  return state_.BackoffEnds(entry->group == nullptr ? *entry : *entry->group);
}

std::vector<SchedulingQueue::PendingPod> SchedulingQueue::PendingPods() const {
  std::vector<PendingPod> pods;
  const auto append = [&pods](const Entry& entry) {
    if (!entry.is_group()) pods.push_back({entry.pod.get(), PlaceOf(&entry)});
    for (const auto& member : entry.members) pods.push_back({member->pod.get(), PlaceOf(&entry)});
  };
  for (const EntryHeap* heap : {&state_.active(), &state_.backoff(), &state_.error_backoff()}) {
    for (const Entry* entry : heap->InOrder()) append(*entry);
  }
  for (const auto& [sequence, entry] : state_.parked().all()) append(*entry);
  groups_.ForEachUnqueued(
      [&pods](const QueuedPod& pod) { pods.push_back({&pod, Place::kUnschedulable}); });
  return pods;
}

void SchedulingQueue::UpdateGauges() { state_.metrics().SetGauges(counts()); }

}  // namespace berth::queue
