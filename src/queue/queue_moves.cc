// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "src/queue/scheduling_queue.h"

// How a SchedulingQueue moves parked pods.
namespace berth::queue {
namespace {

constexpr ClusterEvent kForceActivate = {EventResource::kWildcard, action::kAll, "ForceActivate"};
constexpr ClusterEvent kConfigurationReload = {EventResource::kWildcard, action::kAll,
                                               "ConfigurationReload"};

bool Concerns(const PodPredicate& concerns, const Entry& entry) {
  if (!entry.is_group()) return concerns(entry.pod->pod());
  return std::ranges::any_of(entry.members,
                             [&](const auto& member) { return concerns(member->pod->pod()); });
}

}  // namespace

void SchedulingQueue::UpdateParked(Entry* entry, const std::vector<ClusterEvent>& events,
                                   const api::ObjectPtr& old_object,
                                   const api::ObjectPtr& new_object, Time now) {
  for (const ClusterEvent& event : events) {
    const EventMatch& match = state_.hints().Match(event);
    const QueueingStrategy strategy =
        state_.hints().Evaluate(*entry, match, old_object, new_object, state_.metrics());
    if (strategy == QueueingStrategy::kSkip) continue;
    state_.Requeue(entry, strategy, match.label, now);
    if (entry->holder != Holder::kParked) return;
  }
}

void SchedulingQueue::MoveGroups(const EventMatch& match, const api::ObjectPtr& old_object,
                                 const api::ObjectPtr& new_object, Time now,
                                 const PodPredicate& concerns) {
  // A wildcard event may be about one pod alone.
  const bool for_one = match.wildcard && !std::holds_alternative<std::monostate>(new_object);
  std::vector<std::pair<Entry*, QueueingStrategy>> woken;
  const auto evaluate = [&](const Entry& entry) {
    return state_.hints().Evaluate(entry, match, old_object, new_object, state_.metrics());
  };
  state_.NoteMovedGates();
  for (const ParkedGroup* group : state_.parked().Candidates(match)) {
    if (!concerns && !for_one && state_.OnlyMovedWake(*group)) {
      const QueueingStrategy strategy = evaluate(group->any());
      if (strategy == QueueingStrategy::kSkip) {
        for (const auto& [sequence, entry] : group->moved) {
          if (!ParkedPods::Wanted(*group, *entry)) continue;
          woken.emplace_back(entry, QueueingStrategy::kAfterBackoff);
        }
        continue;
      }
      state_.NoteWanted(*group);
      for (const auto& [sequence, entry] : group->moved) woken.emplace_back(entry, strategy);
      state_.CountStillGated(group->members.size() - group->moved.size(), match.label);
      continue;
    }
    std::optional<QueueingStrategy> shared;
    for (const auto& [sequence, entry] : group->members) {
      if (concerns && !Concerns(concerns, *entry)) continue;
      if (!shared || for_one) shared = evaluate(*entry);
      if (*shared != QueueingStrategy::kSkip) {
        woken.emplace_back(entry, *shared);
      } else if (!for_one) {
        break;
      }
    }
  }
  std::sort(woken.begin(), woken.end(),
            [](const auto& a, const auto& b) { return a.first->sequence < b.first->sequence; });
  for (const auto& [entry, strategy] : woken) state_.Wake(entry, strategy, match.label, now);
  in_flight_.Record({&match, old_object, new_object});
}

void SchedulingQueue::MoveAllToActiveOrBackoffQueue(const ClusterEvent& event,
                                                    const api::ObjectPtr& old_object,
                                                    const api::ObjectPtr& new_object, Time now,
                                                    const PodPredicate& concerns) {
  BERTH_ON_THREAD(owner_);
  const EventMatch& match = state_.hints().Match(event);
  if (match.of_interest) MoveGroups(match, old_object, new_object, now, concerns);
}

void SchedulingQueue::ReplaceHints(std::vector<ProfileHints> profiles, Time now) {
  BERTH_ON_THREAD(owner_);
  state_.ReplaceHints(std::move(profiles));
  const EventMatch& match = state_.hints().Match(kConfigurationReload);
  std::vector<Entry*> parked;
  for (const auto& [sequence, entry] : state_.parked().all()) parked.push_back(entry);
  for (Entry* entry : parked) state_.Wake(entry, QueueingStrategy::kAfterBackoff, match.label, now);
  in_flight_.Record({&match, {}, {}});
}

void SchedulingQueue::Regroup() {
  BERTH_ON_THREAD(owner_);
  state_.Regroup();
}

void SchedulingQueue::Activate(std::span<const std::string> pod_keys, Time now) {
  BERTH_ON_THREAD(owner_);
  const EventMatch& match = state_.hints().Match(kForceActivate);
  for (const std::string& key : pod_keys) {
    const auto* flying = in_flight_.FindByKey(key);
    Entry* entry = FindEntry(key);
    if (entry != nullptr && entry->group != nullptr) entry = entry->group;
    if (flying != nullptr && IsMember(*flying->newest->pod)) {
      entry = groups_.EntryOf(*flying->newest->pod);
    }
    if (entry != nullptr && entry->holder != Holder::kActive && entry->holder != Holder::kNone) {
      state_.MoveToActiveQ(entry, match.label, std::nullopt, now);
      if (entry->holder == Holder::kActive) continue;
    }
    if (flying != nullptr) in_flight_.Record({&match, {}, flying->newest->pod});
  }
}

}  // namespace berth::queue
