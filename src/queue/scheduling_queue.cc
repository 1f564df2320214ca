// SPDX-License-Identifier: Apache-2.0
#include "src/queue/scheduling_queue.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <set>
#include <utility>

#include "berth/in_tree/pod_groups.h"
#include "berth/resources.h"
#include "src/base/json.h"
#include "src/base/key_text.h"
#include "src/base/logging.h"
#include "src/cache/nominator.h"

namespace berth::queue {
namespace {

// The labels of moves that no cluster event caused.
constexpr std::string_view kScheduleAttemptFailure = "ScheduleAttemptFailure";
constexpr std::string_view kPopFromBackoffQ = "PopFromBackoffQ";

constexpr Duration kBackoffFlushPeriod = std::chrono::seconds(1);
constexpr Duration kUnschedulableFlushPeriod = std::chrono::seconds(30);
constexpr ClusterEvent kUnscheduledPodAdd = {EventResource::kUnscheduledPod, action::kAdd};

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

// From which verbosity on it is logged where a pod goes after an attempt.
constexpr int kMoveVerbosity = 3;

// As kube-scheduler logs a set of names: {"NodeAffinity":{},"NodePorts":{}}.
std::string RejectorsOf(const QueuedPod& pod) {
  std::set<std::string_view> names(pod.unschedulable_plugins.begin(),
                                   pod.unschedulable_plugins.end());
  names.insert(pod.pending_plugins.begin(), pod.pending_plugins.end());
  std::string text;
  base::JsonObject set(text);
  for (const std::string_view name : names) set.Key(name) += "{}";
  set.Close();
  return text;
}

// How kube-scheduler labels a pod's mark in scheduler_inflight_events.
constexpr std::string_view kPodPopped = "PodPopped";

}  // namespace

SchedulingQueue::SchedulingQueue(QueueOptions options, QueueHooks hooks,
                                 cache::Nominator& nominator, QueueMetrics metrics, Time start)
    : state_(options, std::move(hooks), std::move(metrics)),
      groups_(state_),
      in_flight_(state_.metrics()),
      nominator_(nominator),
      // Whole seconds, so that a flush takes whole windows of the backoffQ.
      backoff_timer_(
          options.pop_from_backoff_q ? std::chrono::floor<std::chrono::seconds>(start) : start,
          kBackoffFlushPeriod, start),
      unschedulable_timer_(start, kUnschedulableFlushPeriod, start) {}

Entry* SchedulingQueue::FindEntry(std::string_view pod_key) const {
  Entry* entry = state_.Find(pod_key);
  return entry != nullptr ? entry : groups_.Find(pod_key);
}

bool SchedulingQueue::IsMember(const api::Pod& pod) const {
  const QueueOptions& options = state_.options();
  return options.pod_groups != nullptr && PodGroupNameOf(pod) != nullptr &&
         !(options.deferred_resizes && IsResizeDeferred(pod));
}

std::string_view SchedulingQueue::GroupOf(const api::Pod& pod) const {
  return IsMember(pod) ? std::string_view(*PodGroupNameOf(pod)) : std::string_view();
}

std::vector<ClusterEvent> SchedulingQueue::UpdateEvents(const api::Pod& old_pod,
                                                        const api::Pod& pod) const {
  return PodUpdateEvents(EventResource::kTargetPod, old_pod, pod,
                         state_.options().pod_level_status);
}

void SchedulingQueue::Add(PodInfoPtr pod, Time now) {
  BERTH_ON_THREAD(owner_);
  const api::ObjectMeta& metadata = pod->pod->metadata;
  // A list after a lost watch may repeat what is known.
  if (auto* flying = in_flight_.Find(metadata.uid); flying != nullptr) {
    flying->newest = std::move(pod);
    flying->deleted = false;
    return;
  }
  if (Entry* entry = FindEntry(base::KeyText(metadata).view()); entry != nullptr) {
    const std::shared_ptr<const api::Pod> old_pod = entry->pod->info->pod;
    if (old_pod->metadata.uid == metadata.uid) {
      Update(old_pod, std::move(pod), now);
      return;
    }
    Delete(*old_pod, now);
  }
  nominator_.AddNominatedPod(pod);
  auto queued = std::make_unique<QueuedPod>();
  queued->info = std::move(pod);
  queued->timestamp = now;
  if (IsMember(queued->pod())) {
    groups_.Add(std::move(queued), now);
    return;
  }
  const std::string& label = state_.hints().Match(kUnscheduledPodAdd).label;
  state_.MoveToActiveQ(state_.Insert(std::move(queued)), label, std::nullopt, now);
}

void SchedulingQueue::Update(const std::shared_ptr<const api::Pod>& old_pod, PodInfoPtr new_pod,
                             Time now) {
  BERTH_ON_THREAD(owner_);
  const api::Pod& pod = *new_pod->pod;
  const api::ObjectPtr old_object = old_pod;
  const api::ObjectPtr new_object = new_pod->pod;
  if (auto* flying = in_flight_.Find(pod.metadata.uid); flying != nullptr) {
    flying->newest = new_pod;
    for (const ClusterEvent& event : UpdateEvents(*old_pod, pod)) {
      in_flight_.Record({&state_.hints().Match(event), old_object, new_object});
    }
    return;
  }
  Entry* entry = FindEntry(base::KeyText(pod.metadata).view());
  if (entry == nullptr || entry->pod->pod().metadata.uid != pod.metadata.uid) {
    Add(std::move(new_pod), now);
    return;
  }
  nominator_.UpdateNominatedPod(*old_pod, new_pod);
  if (GroupOf(entry->pod->pod()) != GroupOf(pod)) {
    Regroup(entry, std::move(new_pod), now);
    return;
  }
  if (old_pod->status.conditions != pod.status.conditions) entry->pod->condition_unshown = false;
  state_.Replace(entry, new_pod);
  if (entry->group != nullptr) entry = entry->group;
  if (entry->holder == Holder::kParked) {
    UpdateParked(entry, UpdateEvents(*old_pod, pod), old_object, new_object, now);
  }
}

// The label of scheduler-plugins' pod groups may change while the pod waits.
void SchedulingQueue::Regroup(Entry* entry, PodInfoPtr pod, Time now) {
  std::unique_ptr<QueuedPod> queued = TakeOut(entry, now);
  // They rejected it as a pod of the other group.
  queued->unschedulable_plugins.clear();
  queued->pending_plugins.clear();
  queued->info = std::move(pod);
  if (IsMember(queued->pod())) {
    groups_.Add(std::move(queued), now);
    return;
  }
  const std::string& label = state_.hints().Match(kUnscheduledPodAdd).label;
  state_.Requeue(state_.Insert(std::move(queued)), QueueingStrategy::kAfterBackoff, label, now);
}

void SchedulingQueue::Delete(const api::Pod& pod, Time now) {
  BERTH_ON_THREAD(owner_);
  nominator_.DeleteNominatedPodIfExists(pod);
  if (auto* flying = in_flight_.Find(pod.metadata.uid); flying != nullptr) flying->deleted = true;
  const base::KeyText key(pod.metadata);
  Entry* entry = FindEntry(key.view());
  if (entry == nullptr || entry->pod->pod().metadata.uid != pod.metadata.uid) return;
  TakeOut(entry, now);
}

std::unique_ptr<QueuedPod> SchedulingQueue::TakeOut(Entry* entry, Time now) {
  const bool member = groups_.Find(entry->key) == entry;
  std::unique_ptr<QueuedPod> queued = member ? groups_.Take(entry, now) : state_.Extract(entry);
  state_.CountRejectors(*queued, -1);
  return queued;
}

std::unique_ptr<QueuedPod> SchedulingQueue::Pop() {
  BERTH_ON_THREAD(owner_);
  while (Entry* entry = state_.Next()) {
    if (entry->holder == Holder::kBackoff) {
      state_.NoteTakenEarly(*entry);
      state_.metrics().Incoming(QueueMetrics::Queue::kActive, kPopFromBackoffQ,
                                QueueMetrics::Count::kPodAndEntity, *entry);
    }
    std::unique_ptr<QueuedPod> popped =
        entry->is_group() ? groups_.Pop(entry) : state_.Extract(entry);
    if (Launch(*popped)) {
      ++scheduling_cycle_;
      return popped;
    }
    if (popped->group != nullptr) groups_.Abandon();
  }
  return nullptr;
}

bool SchedulingQueue::Launch(QueuedPod& popped) {
  if (popped.group == nullptr) return LaunchPod(popped);
  ++popped.attempts;
  std::erase_if(popped.group->members, [this](const auto& pod) { return !LaunchPod(*pod); });
  return !popped.group->members.empty();
}

bool SchedulingQueue::LaunchPod(QueuedPod& pod) {
  state_.CountRejectors(pod, -1);
  if (!in_flight_.Add(pod.info)) {
    base::LogError("Discarding the popped pod: an earlier attempt of it is still in flight",
                   {{"pod", pod.pod().metadata.Key()}});
    return false;
  }
  ++pod.attempts;
  return true;
}

void SchedulingQueue::Done(std::string_view uid) {
  BERTH_ON_THREAD(owner_);
  in_flight_.Done(uid);
}

QueueingStrategy SchedulingQueue::StrategyAfterAttempt(const Entry& entry) {
  auto best = QueueingStrategy::kSkip;
  const std::string& uid = entry.pod->pod().metadata.uid;
  // After an error, or without a record of what happened meanwhile, nothing says what to wait for.
  if (!entry.rejected() || in_flight_.Find(uid) == nullptr) return QueueingStrategy::kAfterBackoff;
  const auto reachable = entry.pod->pending_plugins.empty() ? QueueingStrategy::kAfterBackoff
                                                            : QueueingStrategy::kImmediately;
  in_flight_.ForEachEventSince(uid, [&](const RecordedEvent& event) {
    best = std::max(best, state_.hints().Evaluate(entry, *event.match, event.old_object,
                                                  event.new_object, state_.metrics()));
    return best < reachable;
  });
  return best;
}

Place SchedulingQueue::AddUnschedulablePodIfNotPresent(std::unique_ptr<QueuedPod> pod, Time now) {
  BERTH_ON_THREAD(owner_);
  const std::string uid = pod->pod().metadata.uid;
  if (const auto* flying = in_flight_.Find(uid); flying != nullptr) {
    if (flying->deleted) {
      Done(uid);
      return Place::kNowhere;
    }
    if (pod->info->pod == flying->popped->pod) pod->info = flying->newest;
  }
  if (FindEntry(pod->pod().metadata.Key()) != nullptr) {
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
  pod->was_flushed_from_unschedulable = false;
  pod->flush_timestamp.reset();
  state_.CountRejectors(*pod, 1);

  if (IsMember(pod->pod())) {
    // What happened meanwhile does not matter: the group comes back for a new attempt anyway.
    Done(uid);
    const std::string key = pod->pod().metadata.Key();
    groups_.Add(std::move(pod), now);
    return WhereIs(key);
  }
  Entry* entry = state_.Insert(std::move(pod));
  const QueueingStrategy strategy = StrategyAfterAttempt(*entry);
  // A gate may become one of the rejectors.
  const std::string rejectors =
      base::LogVerbosity() >= kMoveVerbosity ? RejectorsOf(*entry->pod) : "";
  state_.Requeue(entry, strategy, kScheduleAttemptFailure, now);
  Done(uid);
  if (base::LogVerbosity() >= kMoveVerbosity) {
    base::LogField plugins("unschedulable plugins", rejectors);
    plugins.is_text = false;
    base::LogV(kMoveVerbosity, "Pod moved to an internal scheduling queue",
               {{"pod", entry->key},
                {"event", kScheduleAttemptFailure},
                {"queue", PlaceName(WhereIs(entry->key))},
                {"schedulingCycle", scheduling_cycle_},
                {"hint", static_cast<int>(strategy)},
                plugins});
  }
  return WhereIs(entry->key);
}

void SchedulingQueue::AddAttemptedPodGroup(std::unique_ptr<QueuedPod> group, GroupResult result,
                                           Time now) {
  BERTH_ON_THREAD(owner_);
  groups_.Return(std::move(group), result, kScheduleAttemptFailure, now);
}

void SchedulingQueue::SetPodGroup(AnyPodGroup group, Time now) {
  BERTH_ON_THREAD(owner_);
  if (state_.options().pod_groups != nullptr) groups_.Set(std::move(group), now);
}

void SchedulingQueue::DeletePodGroup(const AnyPodGroup& group, Time now) {
  BERTH_ON_THREAD(owner_);
  if (state_.options().pod_groups != nullptr) groups_.Remove(group, now);
}

bool InFlightPods::Add(const PodInfoPtr& pod) {
  const api::ObjectMeta& metadata = pod->pod->metadata;
  const auto [known, added] = pods_.try_emplace(metadata.uid);
  if (!added) return false;
  list_.push_back({{}, {.popped = pod, .newest = pod, .key = metadata.Key()}});
  const Iterator mark = std::prev(list_.end());
  known->second = mark;
  if (const auto [named, is_new] = by_key_.try_emplace(mark->pod.key, mark); !is_new) {
    // The text goes with the pod that had the name before.
    by_key_.erase(named);
    by_key_.emplace(mark->pod.key, mark);
  }
  metrics_.AddInFlightEvents(kPodPopped, 1);
  return true;
}

InFlightPods::Pod* InFlightPods::Find(std::string_view uid) {
  // As it is for most: a pod comes, or its bind is confirmed.
  if (pods_.empty()) return nullptr;
  auto found = pods_.find(uid);
  return found == pods_.end() ? nullptr : &found->second->pod;
}

InFlightPods::Pod* InFlightPods::FindByKey(std::string_view key) {
  auto found = by_key_.find(key);
  return found == by_key_.end() ? nullptr : &found->second->pod;
}

void InFlightPods::Record(RecordedEvent event) {
  if (pods_.empty()) return;
  metrics_.AddInFlightEvents(event.match->label, 1);
  list_.push_back({std::move(event), {}});
}

void InFlightPods::Done(std::string_view uid) {
  auto found = pods_.find(uid);
  if (found == pods_.end()) return;
  const Iterator mark = found->second;
  const auto named = by_key_.find(mark->pod.key);
  if (named != by_key_.end() && named->second == mark) by_key_.erase(named);
  pods_.erase(found);
  list_.erase(mark);
  metrics_.AddInFlightEvents(kPodPopped, -1);
  while (!list_.empty() && list_.front().event.match != nullptr) {
    metrics_.AddInFlightEvents(list_.front().event.match->label, -1);
    list_.pop_front();
  }
}

void InFlightPods::ForEachEventSince(std::string_view uid,
                                     const std::function<bool(const RecordedEvent&)>& visit) const {
  auto found = pods_.find(uid);
  if (found == pods_.end()) return;
  for (auto item = std::next(found->second); item != list_.end(); ++item) {
    if (item->event.match != nullptr && !visit(item->event)) return;
  }
}

}  // namespace berth::queue
