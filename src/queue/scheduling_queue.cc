// SPDX-License-Identifier: Apache-2.0
#include "src/queue/scheduling_queue.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "src/base/logging.h"
#include "src/base/thread.h"
#include "src/queue/in_flight.h"
#include "src/queue/queue_state.h"

namespace berth::queue {
namespace {

// The labels of moves that no cluster event caused.
constexpr std::string_view kScheduleAttemptFailure = "ScheduleAttemptFailure";
constexpr std::string_view kBackoffComplete = "BackoffComplete";
constexpr std::string_view kPopFromBackoffQ = "PopFromBackoffQ";
constexpr ClusterEvent kForceActivate = {EventResource::kWildcard, action::kAll, "ForceActivate"};
constexpr ClusterEvent kUnschedulableTimeout = {EventResource::kWildcard, action::kAll,
                                                "UnschedulableTimeout"};
constexpr ClusterEvent kConfigurationReload = {EventResource::kWildcard, action::kAll,
                                               "ConfigurationReload"};
constexpr ClusterEvent kUnscheduledPodAdd = {EventResource::kUnscheduledPod, action::kAdd};

constexpr Duration kBackoffFlushPeriod = std::chrono::seconds(1);
constexpr Duration kUnschedulableFlushPeriod = std::chrono::seconds(30);

// The first tick of a timer after `time`.
Time NextTick(Time start, Duration period, Time time) {
  if (time < start) return start;
  return start + ((time - start) / period + 1) * period;
}

Place PlaceOf(const Entry* entry) {
  if (entry == nullptr) return Place::kNowhere;
  switch (entry->holder) {
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
  return Place::kNowhere;
}

std::string_view PlaceName(Place place) {
  switch (place) {
    case Place::kActive:
      return "Active";
    case Place::kBackoff:
      return "Backoff";
    case Place::kUnschedulable:
      return "Unschedulable";
    case Place::kNowhere:
      break;
  }
  return "";
}

}  // namespace

struct SchedulingQueue::Impl {
  Impl(QueueOptions options, QueueHooks hooks, Nominator& nominator_in, QueueMetrics metrics,
       Time start)
      : state(options, std::move(hooks), std::move(metrics)),
        in_flight(state.metrics()),
        nominator(nominator_in),
        // Whole seconds, so that a flush takes whole windows of the backoffQ.
        backoff_start(options.pop_from_backoff_q ? std::chrono::floor<std::chrono::seconds>(start)
                                                 : start),
        unschedulable_start(start),
        next_backoff_flush(NextTick(backoff_start, kBackoffFlushPeriod, start)),
        next_unschedulable_flush(start + kUnschedulableFlushPeriod) {}

  // Where a pod goes that comes back: decided by what happened while it was in flight.
  QueueingStrategy StrategyAfterAttempt(const Entry& entry);
  // Moves the parked pods that the event is worth a move, and records it.
  void MoveGroups(const EventMatch& match, const api::ObjectPtr& old_object,
                  const api::ObjectPtr& new_object, Time now, const PodPredicate& concerns);
  void UpdateParked(Entry* entry, const std::vector<ClusterEvent>& events,
                    const api::ObjectPtr& old_object, const api::ObjectPtr& new_object, Time now);

  base::ThreadOwner owner;
  QueueState state;
  InFlightPods in_flight;
  Nominator& nominator;
  Time backoff_start;
  Time unschedulable_start;
  Time next_backoff_flush;
  Time next_unschedulable_flush;
};

SchedulingQueue::SchedulingQueue(QueueOptions options, QueueHooks hooks, Nominator& nominator,
                                 QueueMetrics metrics, Time start)
    : impl_(std::make_unique<Impl>(options, std::move(hooks), nominator, std::move(metrics),
                                   start)) {}

SchedulingQueue::~SchedulingQueue() = default;

void SchedulingQueue::Add(PodInfoPtr pod, Time now) {
  BERTH_ON_THREAD(impl_->owner);
  const api::ObjectMeta& metadata = pod->pod->metadata;
  // A list after a lost watch may repeat what is known.
  if (auto* flying = impl_->in_flight.Find(metadata.uid); flying != nullptr) {
    flying->newest = std::move(pod);
    flying->deleted = false;
    return;
  }
  if (Entry* entry = impl_->state.Find(metadata.Key()); entry != nullptr) {
    const std::shared_ptr<const api::Pod> old_pod = entry->pod->info->pod;
    if (old_pod->metadata.uid == metadata.uid) {
      Update(old_pod, std::move(pod), now);
      return;
    }
    Delete(*old_pod);
  }
  impl_->nominator.AddNominatedPod(pod);
  auto queued = std::make_unique<QueuedPod>();
  queued->info = std::move(pod);
  queued->timestamp = now;
  const std::string& label = impl_->state.hints().Match(kUnscheduledPodAdd).label;
  impl_->state.MoveToActiveQ(impl_->state.Insert(std::move(queued)), label, std::nullopt, now);
}

void SchedulingQueue::Update(const std::shared_ptr<const api::Pod>& old_pod, PodInfoPtr new_pod,
                             Time now) {
  BERTH_ON_THREAD(impl_->owner);
  const api::Pod& pod = *new_pod->pod;
  const api::ObjectPtr old_object = old_pod;
  const api::ObjectPtr new_object = new_pod->pod;
  const auto resource =
      pod.spec.node_name.empty() ? EventResource::kTargetPod : EventResource::kAssignedPod;

  if (auto* flying = impl_->in_flight.Find(pod.metadata.uid); flying != nullptr) {
    flying->newest = new_pod;
    for (const ClusterEvent& event : PodUpdateEvents(resource, *old_pod, pod)) {
      impl_->in_flight.Record({&impl_->state.hints().Match(event), old_object, new_object});
    }
    return;
  }
  Entry* entry = impl_->state.Find(pod.metadata.Key());
  if (entry == nullptr || entry->pod->pod().metadata.uid != pod.metadata.uid) {
    Add(std::move(new_pod), now);
    return;
  }
  impl_->nominator.UpdateNominatedPod(*old_pod, new_pod);
  impl_->state.Replace(entry, new_pod);
  if (entry->holder == Holder::kParked) {
    impl_->UpdateParked(entry, PodUpdateEvents(resource, *old_pod, pod), old_object, new_object,
                        now);
  }
}

void SchedulingQueue::Impl::UpdateParked(Entry* entry, const std::vector<ClusterEvent>& events,
                                         const api::ObjectPtr& old_object,
                                         const api::ObjectPtr& new_object, Time now) {
  for (const ClusterEvent& event : events) {
    const EventMatch& match = state.hints().Match(event);
    const QueueingStrategy strategy =
        state.hints().Evaluate(*entry, match, old_object, new_object, state.metrics());
    if (strategy == QueueingStrategy::kSkip) continue;
    state.Requeue(entry, strategy, match.label, now);
    if (entry->holder != Holder::kParked) return;
  }
}

void SchedulingQueue::Delete(const api::Pod& pod) {
  BERTH_ON_THREAD(impl_->owner);
  impl_->nominator.DeleteNominatedPodIfExists(pod);
  if (auto* flying = impl_->in_flight.Find(pod.metadata.uid); flying != nullptr) {
    flying->deleted = true;
  }
  Entry* entry = impl_->state.Find(pod.metadata.Key());
  if (entry == nullptr || entry->pod->pod().metadata.uid != pod.metadata.uid) return;
  impl_->state.CountRejectors(*impl_->state.Extract(entry), -1);
}

std::unique_ptr<QueuedPod> SchedulingQueue::Pop() {
  BERTH_ON_THREAD(impl_->owner);
  QueueState& state = impl_->state;
  while (Entry* entry = state.Next()) {
    if (entry->holder == Holder::kBackoff) {
      state.metrics().Incoming(QueueMetrics::Queue::kActive, kPopFromBackoffQ, true);
    }
    std::unique_ptr<QueuedPod> pod = state.Extract(entry);
    state.CountRejectors(*pod, -1);
    if (IsInFlight(pod->pod().metadata.uid)) {
      base::LogError("Discarding the popped pod: an earlier attempt of it is still in flight",
                     {{"pod", pod->pod().metadata.Key()}});
      continue;
    }
    ++pod->attempts;
    impl_->in_flight.Add(pod->info);
    return pod;
  }
  return nullptr;
}

void SchedulingQueue::Done(std::string_view uid) {
  BERTH_ON_THREAD(impl_->owner);
  impl_->in_flight.Done(uid);
}

QueueingStrategy SchedulingQueue::Impl::StrategyAfterAttempt(const Entry& entry) {
  auto best = QueueingStrategy::kSkip;
  const std::string& uid = entry.pod->pod().metadata.uid;
  // After an error, or without a record of what happened meanwhile, nothing says what to wait for.
  if (!entry.rejected() || in_flight.Find(uid) == nullptr) return QueueingStrategy::kAfterBackoff;
  const auto reachable = entry.pod->pending_plugins.empty() ? QueueingStrategy::kAfterBackoff
                                                            : QueueingStrategy::kImmediately;
  in_flight.ForEachEventSince(uid, [&](const RecordedEvent& event) {
    best = std::max(best, state.hints().Evaluate(entry, *event.match, event.old_object,
                                                 event.new_object, state.metrics()));
    return best < reachable;
  });
  return best;
}

Place SchedulingQueue::AddUnschedulablePodIfNotPresent(std::unique_ptr<QueuedPod> pod, Time now) {
  BERTH_ON_THREAD(impl_->owner);
  QueueState& state = impl_->state;
  const std::string uid = pod->pod().metadata.uid;
  if (const auto* flying = impl_->in_flight.Find(uid); flying != nullptr) {
    if (flying->deleted) {
      Done(uid);
      return Place::kNowhere;
    }
    if (pod->info->pod == flying->popped->pod) pod->info = flying->newest;
  }
  if (state.Find(pod->pod().metadata.Key()) != nullptr) {
    base::LogError("Pod is already present in the scheduling queue",
                   {{"pod", pod->pod().metadata.Key()}});
    Done(uid);
    return Place::kNowhere;
  }
  std::sort(pod->unschedulable_plugins.begin(), pod->unschedulable_plugins.end());
  std::sort(pod->pending_plugins.begin(), pod->pending_plugins.end());
  if (pod->unschedulable_plugins.empty() && pod->pending_plugins.empty()) {
    ++pod->consecutive_errors_count;
  } else {
    ++pod->unschedulable_count;
    pod->consecutive_errors_count = 0;
  }
  pod->timestamp = now;
  pod->backoff_expiration.reset();
  pod->was_flushed_from_unschedulable = false;
  pod->flush_timestamp.reset();
  state.CountRejectors(*pod, 1);

  Entry* entry = state.Insert(std::move(pod));
  state.Requeue(entry, impl_->StrategyAfterAttempt(*entry), kScheduleAttemptFailure, now);
  Done(uid);
  if (base::LogVerbosity() >= 3) {
    base::LogV(3, "Pod moved to an internal scheduling queue",
               {{"pod", entry->key},
                {"event", kScheduleAttemptFailure},
                {"queue", PlaceName(PlaceOf(entry))}});
  }
  return PlaceOf(entry);
}

void SchedulingQueue::Impl::MoveGroups(const EventMatch& match, const api::ObjectPtr& old_object,
                                       const api::ObjectPtr& new_object, Time now,
                                       const PodPredicate& concerns) {
  // A wildcard event may be about one pod alone.
  const bool for_one = match.wildcard && !std::holds_alternative<std::monostate>(new_object);
  std::vector<std::pair<Entry*, QueueingStrategy>> woken;
  const auto evaluate = [&](const Entry& entry) {
    return state.hints().Evaluate(entry, match, old_object, new_object, state.metrics());
  };
  for (const ParkedGroup* group : state.parked().Candidates(match)) {
    std::optional<QueueingStrategy> shared;
    for (const auto& [sequence, entry] : group->members) {
      if (concerns && !concerns(entry->pod->pod())) continue;
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
  for (const auto& [entry, strategy] : woken) state.Wake(entry, strategy, match.label, now);
  in_flight.Record({&match, old_object, new_object});
}

void SchedulingQueue::MoveAllToActiveOrBackoffQueue(const ClusterEvent& event,
                                                    const api::ObjectPtr& old_object,
                                                    const api::ObjectPtr& new_object, Time now,
                                                    const PodPredicate& concerns) {
  BERTH_ON_THREAD(impl_->owner);
  const EventMatch& match = impl_->state.hints().Match(event);
  if (match.of_interest) impl_->MoveGroups(match, old_object, new_object, now, concerns);
}

void SchedulingQueue::ReplaceHints(std::vector<ProfileHints> profiles, Time now) {
  BERTH_ON_THREAD(impl_->owner);
  impl_->state.ReplaceHints(std::move(profiles));
  const EventMatch& match = impl_->state.hints().Match(kConfigurationReload);
  std::vector<Entry*> parked;
  for (const auto& [sequence, entry] : impl_->state.parked().all()) parked.push_back(entry);
  for (Entry* entry : parked)
    impl_->state.Wake(entry, QueueingStrategy::kAfterBackoff, match.label, now);
  impl_->in_flight.Record({&match, {}, {}});
}

void SchedulingQueue::Regroup() {
  BERTH_ON_THREAD(impl_->owner);
  impl_->state.Regroup();
}

void SchedulingQueue::Activate(std::span<const std::string> pod_keys, Time now) {
  BERTH_ON_THREAD(impl_->owner);
  const EventMatch& match = impl_->state.hints().Match(kForceActivate);
  for (const std::string& key : pod_keys) {
    Entry* entry = impl_->state.Find(key);
    if (entry != nullptr && entry->holder != Holder::kActive) {
      impl_->state.MoveToActiveQ(entry, match.label, std::nullopt, now);
      if (entry->holder == Holder::kActive) continue;
    }
    if (const auto* flying = impl_->in_flight.FindByKey(key); flying != nullptr) {
      impl_->in_flight.Record({&match, {}, flying->newest->pod});
    }
  }
}

void SchedulingQueue::Tick(Time now) {
  if (now >= impl_->next_backoff_flush) {
    FlushBackoffCompleted(now);
    impl_->next_backoff_flush = NextTick(impl_->backoff_start, kBackoffFlushPeriod, now);
  }
  if (now >= impl_->next_unschedulable_flush) {
    FlushUnschedulableLeftover(now);
    impl_->next_unschedulable_flush =
        NextTick(impl_->unschedulable_start, kUnschedulableFlushPeriod, now);
  }
}

void SchedulingQueue::FlushBackoffCompleted(Time now) {
  BERTH_ON_THREAD(impl_->owner);
  while (Entry* entry = impl_->state.BackoffCompleted(now)) {
    impl_->state.MoveToActiveQ(entry, kBackoffComplete, std::nullopt, now);
  }
}

void SchedulingQueue::FlushUnschedulableLeftover(Time now) {
  BERTH_ON_THREAD(impl_->owner);
  std::vector<Entry*> overdue;
  for (const auto& [sequence, entry] : impl_->state.parked().all()) {
    QueuedPod& pod = *entry->pod;
    const Time since = std::max(pod.timestamp, pod.flush_timestamp.value_or(pod.timestamp));
    if (now - since <= impl_->state.options().pod_max_in_unschedulable_pods_duration) continue;
    pod.was_flushed_from_unschedulable = true;
    pod.flush_timestamp = now;
    overdue.push_back(entry);
  }
  if (overdue.empty()) return;
  const EventMatch& match = impl_->state.hints().Match(kUnschedulableTimeout);
  for (Entry* entry : overdue) {
    impl_->state.Wake(entry, QueueingStrategy::kAfterBackoff, match.label, now);
  }
  impl_->in_flight.Record({&match, {}, {}});
}

std::optional<Time> SchedulingQueue::NextWakeup() const {
  std::optional<Time> next;
  if (const auto ends = impl_->state.FirstExpiration(); ends) {
    next = std::max(impl_->next_backoff_flush,
                    NextTick(impl_->backoff_start, kBackoffFlushPeriod, *ends));
  }
  if (!impl_->state.parked().all().empty() && (!next || impl_->next_unschedulable_flush < *next)) {
    next = impl_->next_unschedulable_flush;
  }
  return next;
}

bool SchedulingQueue::HasReady() const { return impl_->state.Next() != nullptr; }

QueueCounts SchedulingQueue::counts() const {
  const QueueState& state = impl_->state;
  const size_t gated = state.parked().gated();
  return {state.active().size(), state.backoff().size() + state.error_backoff().size(),
          state.parked().all().size() - gated, gated, impl_->in_flight.size()};
}

bool SchedulingQueue::IsInFlight(std::string_view uid) const {
  return impl_->in_flight.Find(uid) != nullptr;
}

const QueuedPod* SchedulingQueue::Find(std::string_view pod_key) const {
  const Entry* entry = impl_->state.Find(pod_key);
  return entry == nullptr ? nullptr : entry->pod.get();
}

Place SchedulingQueue::WhereIs(std::string_view pod_key) const {
  return PlaceOf(impl_->state.Find(pod_key));
}

std::vector<SchedulingQueue::PendingPod> SchedulingQueue::PendingPods() const {
  const QueueState& state = impl_->state;
  std::vector<PendingPod> pods;
  for (const EntryHeap* heap : {&state.active(), &state.backoff(), &state.error_backoff()}) {
    std::vector<Entry*> entries = heap->entries();
    std::sort(entries.begin(), entries.end(),
              [heap](const Entry* a, const Entry* b) { return heap->Before(*a, *b); });
    for (const Entry* entry : entries) pods.push_back({entry->pod.get(), PlaceOf(entry)});
  }
  for (const auto& [sequence, entry] : state.parked().all()) {
    pods.push_back({entry->pod.get(), PlaceOf(entry)});
  }
  return pods;
}

void SchedulingQueue::UpdateGauges() { impl_->state.metrics().SetGauges(counts()); }

}  // namespace berth::queue
