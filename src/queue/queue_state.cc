// SPDX-License-Identifier: Apache-2.0
#include "src/queue/queue_state.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "berth/check.h"

namespace berth::queue {
namespace {

// kube-scheduler counts an entity that enters a queue only if the strategy alone does not
// say so.
QueueMetrics::Count CountOf(QueueState::Strategy strategy, QueueingStrategy usual) {
  return strategy == usual ? QueueMetrics::Count::kPod : QueueMetrics::Count::kPodAndEntity;
}

}  // namespace

QueueState::QueueState(QueueOptions options, QueueHooks hooks, QueueMetrics metrics)
    : options_(options),
      metrics_(std::move(metrics)),
      backoffs_(options),
      pre_enqueue_(std::move(hooks.pre_enqueue)),
      take_moved_gates_(std::move(hooks.take_moved_gates)),
      reclass_(std::move(hooks.reclass)),
      hints_(std::move(hooks.profiles)),
      active_(hooks.less),
      backoff_(options.pop_from_backoff_q ? hooks.less : nullptr),
      parked_(hints_) {}

EntryHeap::Key QueueState::KeyOf(const Entry& entry) const {
  EntryHeap::Key key;
  key.sequence = entry.sequence;
  if (entry.holder != Holder::kActive)
    key.backoff_ends = backoffs_.Expiration(*entry.pod, entry.size());
  // Pop() takes none from the others, so only the time counts there.
  if (entry.holder == Holder::kActive ||
      (entry.holder == Holder::kBackoff && options_.pop_from_backoff_q)) {
    key.priority = entry.pod->info->priority();
    key.timestamp = entry.pod->timestamp;
  }
  return key;
}

void QueueState::ReplaceHints(std::vector<ProfileHints> profiles) {
  Repark([&] {
    hints_.Replace(std::move(profiles));
    parked_.Reset();
    for (const auto& [key, entry] : entries_) {
      for (const auto& member : entry->members) hints_.Refresh(*member);
      hints_.Refresh(*entry);
    }
  });
}

void QueueState::Repark(const std::function<void()>& meanwhile) {
  std::vector<Entry*> parked;
  for (const auto& [sequence, entry] : parked_.all()) parked.push_back(entry);
  for (Entry* entry : parked) parked_.Remove(entry);
  meanwhile();
  for (Entry* entry : parked) {
    Reclass(entry);
    parked_.Add(entry);
  }
}

void QueueState::Reclass(Entry* entry) {
  if (!reclass_) return;
  if (!entry->is_group()) {
    entry->pod->info = reclass_(std::move(entry->pod->info));
    return;
  }
  for (const auto& member : entry->members) {
    member->pod->info = reclass_(std::move(member->pod->info));
  }
}

Entry* QueueState::Find(std::string_view key) const {
  auto found = entries_.find(key);
  return found == entries_.end() ? nullptr : found->second.get();
}

Entry* QueueState::Insert(std::unique_ptr<QueuedPod> pod) {
  auto entry = std::make_unique<Entry>();
  entry->pod = std::move(pod);
  entry->key = entry->pod->pod().metadata.Key();
  hints_.Refresh(*entry);
  auto [slot, added] = entries_.emplace(entry->key, nullptr);
  BERTH_CHECK(added, "pod is queued already");
  slot->second = std::move(entry);
  return slot->second.get();
}

std::unique_ptr<Entry> QueueState::MakeMember(std::unique_ptr<QueuedPod> pod) {
  auto member = std::make_unique<Entry>();
  member->pod = std::move(pod);
  member->key = member->pod->pod().metadata.Key();
  hints_.Refresh(*member);
  return member;
}

Entry* QueueState::InsertGroup(std::unique_ptr<QueuedPod> group, AnyPodGroup object,
                               std::vector<std::unique_ptr<Entry>> members) {
  auto entry = std::make_unique<Entry>();
  entry->pod = std::move(group);
  entry->key = EntryKey(object);
  entry->object = std::move(object);
  entry->members = std::move(members);
  for (const auto& member : entry->members) member->group = entry.get();
  hints_.Refresh(*entry);
  auto [slot, added] = entries_.emplace(entry->key, nullptr);
  BERTH_CHECK(added, "pod group is queued already");
  slot->second = std::move(entry);
  return slot->second.get();
}

void QueueState::ChangeMembers(Entry* entry, const std::function<void()>& change) {
  const bool parked = entry->holder == Holder::kParked;
  if (parked) parked_.Remove(entry);
  change();
  BERTH_CHECK(!entry->members.empty(), "a pod group is queued without pods");
  hints_.Refresh(*entry);
  if (parked) parked_.Add(entry);
  if (entry->holder == Holder::kActive) active_.Update(entry, KeyOf(*entry));
  if (entry->holder == Holder::kBackoff) backoff_.Update(entry, KeyOf(*entry));
  if (entry->holder == Holder::kErrorBackoff) error_backoff_.Update(entry, KeyOf(*entry));
}

void QueueState::CheckNewMember(Entry* entry, Entry* member, std::string_view event, Time now) {
  RunPreEnqueueOfPod(member);
  const bool active = entry->holder == Holder::kActive;
  if (!member->pod->gated()) {
    if (active && !member->pod->initial_attempt_timestamp) {
      member->pod->initial_attempt_timestamp = now;
    }
    metrics_.Incoming(active ? QueueMetrics::Queue::kActive : QueueMetrics::Queue::kBackoff, event,
                      QueueMetrics::Count::kPod, *entry);
    return;
  }
  const Holder before = Detach(entry);
  entry->pod->gating_plugin = member->pod->gating_plugin;
  hints_.Refresh(*entry);
  SetNotFlushed(entry);
  Park(entry, before, event,
       active ? QueueingStrategy::kImmediately : QueueingStrategy::kAfterBackoff);
}

void QueueState::CountParked(const Entry& entry, std::string_view event) {
  metrics_.Incoming(QueueMetrics::Queue::kUnschedulable, event, QueueMetrics::Count::kPod, entry);
}

std::unique_ptr<QueuedPod> QueueState::Extract(Entry* entry) {
  Detach(entry);
  std::unique_ptr<QueuedPod> pod = std::move(entry->pod);
  entries_.erase(entries_.find(entry->key));
  return pod;
}

void QueueState::Replace(Entry* entry, PodInfoPtr info) {
  if (entry->holder == Holder::kParked) {
    parked_.Remove(entry);
    entry->pod->info = std::move(info);
    parked_.Add(entry);
    return;
  }
  entry->pod->info = std::move(info);
  if (entry->holder == Holder::kActive) active_.Update(entry, KeyOf(*entry));
  if (entry->holder == Holder::kBackoff) backoff_.Update(entry, KeyOf(*entry));
}

Holder QueueState::Detach(Entry* entry) {
  const Holder holder = std::exchange(entry->holder, Holder::kNone);
  switch (holder) {
    case Holder::kNone:
      break;
    case Holder::kActive:
      active_.Remove(entry);
      break;
    case Holder::kBackoff:
      backoff_.Remove(entry);
      break;
    case Holder::kErrorBackoff:
      error_backoff_.Remove(entry);
      break;
    case Holder::kParked:
      parked_.Remove(entry);
      break;
  }
  return holder;
}

void QueueState::RunPreEnqueue(Entry* entry) {
  if (!entry->is_group()) {
    RunPreEnqueueOfPod(entry);
    return;
  }
  entry->pod->gating_plugin.clear();
  for (const auto& member : entry->members) {
    RunPreEnqueueOfPod(member.get());
    if (member->pod->gated()) entry->pod->gating_plugin = member->pod->gating_plugin;
  }
  hints_.Refresh(*entry);
}

void QueueState::RunPreEnqueueOfPod(Entry* entry) {
  QueuedPod& pod = *entry->pod;
  std::string gating_plugin;
  entry->gate_moved = false;
  if (pre_enqueue_) gating_plugin = pre_enqueue_(*pod.info, pod.gating_plugin).gating_plugin;
  if (!gating_plugin.empty()) {
    auto& plugins = pod.unschedulable_plugins;
    const auto at = std::lower_bound(plugins.begin(), plugins.end(), gating_plugin);
    if (at == plugins.end() || *at != gating_plugin) {
      const auto& pending = pod.pending_plugins;
      if (!std::binary_search(pending.begin(), pending.end(), gating_plugin)) {
        metrics_.AddUnschedulable(gating_plugin, pod.pod().spec.scheduler_name, 1);
      }
      plugins.insert(at, gating_plugin);
    }
  }
  pod.gating_plugin = std::move(gating_plugin);
  hints_.RefreshRejectors(*entry);
}

void QueueState::Park(Entry* entry, Holder before, std::string_view event, Strategy strategy) {
  if (before != Holder::kParked) {
    entry->sequence = ++last_sequence_;
    metrics_.Incoming(QueueMetrics::Queue::kUnschedulable, event,
                      CountOf(strategy, QueueingStrategy::kSkip), *entry);
  }
  Reclass(entry);
  parked_.Add(entry);
}

void QueueState::ParkGated(Entry* entry, Holder before, std::string_view event, Strategy strategy) {
  // Only an attempt clears this otherwise, and a gated pod makes none.
  SetNotFlushed(entry);
  entry->wanted = entry->wanted || strategy.has_value();
  Park(entry, before, event, strategy);
}

void QueueState::MoveToActiveQ(Entry* entry, std::string_view event, Strategy strategy, Time now) {
  const bool checked = options_.pop_from_backoff_q && (entry->holder == Holder::kBackoff ||
                                                       entry->holder == Holder::kErrorBackoff);
  const Holder before = Detach(entry);
  if (!checked) RunPreEnqueue(entry);
  if (entry->pod->gated()) {
    ParkGated(entry, before, event, strategy);
    return;
  }
  entry->wanted = false;
  if (!entry->pod->initial_attempt_timestamp) entry->pod->initial_attempt_timestamp = now;
  for (const auto& member : entry->members) {
    if (!member->pod->initial_attempt_timestamp) member->pod->initial_attempt_timestamp = now;
  }
  if (before == Holder::kParked) NoteWake(entry, event, now);
  entry->sequence = ++last_sequence_;
  entry->holder = Holder::kActive;
  active_.Push(entry, KeyOf(*entry));
  metrics_.Incoming(QueueMetrics::Queue::kActive, event,
                    CountOf(strategy, QueueingStrategy::kImmediately), *entry);
}

void QueueState::NoteWake(Entry* entry, std::string_view event, Time now) {
  const auto note = [&](QueuedPod& pod) {
    pod.woken_by = event;
    pod.woken_at = now;
  };
  note(*entry->pod);
  for (const auto& member : entry->members) note(*member->pod);
}

void QueueState::MoveToBackoffQ(Entry* entry, std::string_view event, Strategy strategy, Time now) {
  const Holder before = Detach(entry);
  if (options_.pop_from_backoff_q) {
    // Pop may take the pod from here, so nothing would ask PreEnqueue later.
    RunPreEnqueue(entry);
    if (entry->pod->gated()) {
      ParkGated(entry, before, event, strategy);
      return;
    }
  }
  entry->wanted = false;
  if (before == Holder::kParked) NoteWake(entry, event, now);
  entry->sequence = ++last_sequence_;
  const bool error = !entry->rejected();
  entry->holder = error ? Holder::kErrorBackoff : Holder::kBackoff;
  (error ? error_backoff_ : backoff_).Push(entry, KeyOf(*entry));
  metrics_.Incoming(QueueMetrics::Queue::kBackoff, event,
                    CountOf(strategy, QueueingStrategy::kAfterBackoff), *entry);
}

void QueueState::Requeue(Entry* entry, QueueingStrategy strategy, std::string_view event,
                         Time now) {
  if (strategy == QueueingStrategy::kSkip) {
    const Holder before = Detach(entry);
    Park(entry, before, event, strategy);
  } else if (GoesToBackoffQ(*entry, strategy, now)) {
    MoveToBackoffQ(entry, event, strategy, now);
  } else {
    MoveToActiveQ(entry, event, strategy, now);
  }
}

void QueueState::Return(Entry* entry, QueueingStrategy strategy, std::string_view event, Time now) {
  if (GoesToBackoffQ(*entry, strategy, now)) {
    MoveToBackoffQ(entry, event, std::nullopt, now);
  } else {
    MoveToActiveQ(entry, event, std::nullopt, now);
  }
}

bool QueueState::GoesToBackoffQ(const Entry& entry, QueueingStrategy strategy, Time now) const {
  return strategy == QueueingStrategy::kAfterBackoff &&
         backoffs_.IsBackingOff(*entry.pod, now, entry.size());
}

// Room on a node wakes a crowd of preemptors of which nearly all still wait for other victims:
// those are not worth taking out and putting back.
void QueueState::Wake(Entry* entry, QueueingStrategy strategy, std::string_view event, Time now) {
  const bool asks_gate = options_.pop_from_backoff_q || !GoesToBackoffQ(*entry, strategy, now);
  if (asks_gate && StillGated(entry)) {
    parked_.SetGateMoved(entry, false);
    SetNotFlushed(entry);
    entry->wanted = true;
    metrics_.Incoming(QueueMetrics::Queue::kUnschedulable, event,
                      CountOf(strategy, QueueingStrategy::kSkip), *entry);
    return;
  }
  NoteWake(entry, event, now);
  parked_.Remove(entry);
  Requeue(entry, strategy, event, now);
}

Entry* QueueState::BackoffCompleted(Time now) const {
  for (const EntryHeap* heap : {&backoff_, &error_backoff_}) {
    if (heap->empty()) continue;
    const Entry& top = *heap->Top();
    if (!backoffs_.IsBackingOff(*top.pod, now, top.size())) return heap->Top();
  }
  return nullptr;
}

Entry* QueueState::Next() const {
  if (!active_.empty()) return active_.Top();
  if (!options_.pop_from_backoff_q || backoff_.empty()) return nullptr;
  Entry* const first = backoff_.Top();
  const Entry* const last = taken_early_.empty() ? nullptr : Find(taken_early_);
  if (AwaitsCondition(*first) || (last != nullptr && AwaitsCondition(*last))) return nullptr;
  return first;
}

bool QueueState::AwaitsConditions() const {
  return options_.pop_from_backoff_q && !backoff_.empty() && Next() == nullptr;
}

bool QueueState::AwaitsCondition(const Entry& entry) const {
  const auto awaits = [this](const QueuedPod& pod) {
    return pod.condition_unshown && pod.timestamp > given_up_;
  };
  return awaits(*entry.pod) || std::ranges::any_of(entry.members, [&](const auto& member) {
           return awaits(*member->pod);
         });
}

std::optional<Time> QueueState::BackoffEnds(const Entry& entry) const {
  if (entry.holder != Holder::kBackoff && entry.holder != Holder::kErrorBackoff) {
    return std::nullopt;
  }
  return backoffs_.Expiration(*entry.pod, entry.size());
}

std::optional<Time> QueueState::FirstExpiration() const {
  std::optional<Time> first;
  for (const EntryHeap* heap : {&backoff_, &error_backoff_}) {
    if (heap->empty()) continue;
    const Time ends = heap->TopKey().backoff_ends;
    if (!first || ends < *first) first = ends;
  }
  return first;
}

void QueueState::CountRejectors(const QueuedPod& pod, int by) {
  const std::string& profile = pod.pod().spec.scheduler_name;
  for (const std::string& plugin : pod.unschedulable_plugins) {
    metrics_.AddUnschedulable(plugin, profile, by);
  }
  for (const std::string& plugin : pod.pending_plugins) {
    const auto& others = pod.unschedulable_plugins;
    if (!std::binary_search(others.begin(), others.end(), plugin)) {
      metrics_.AddUnschedulable(plugin, profile, by);
    }
  }
}

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
  const bool backs_off = options_.pod_max_backoff != Duration::zero();
  if (!backs_off && pod.least_backoff == Duration::zero()) return Time::min();
  const int failures =
      pod.consecutive_errors_count > 0 ? pod.consecutive_errors_count : pod.unschedulable_count;
  if (failures == 0) return Time::min();
  const Duration length = backs_off ? Length(failures, size) : Duration::zero();
  return Align(pod.timestamp + std::max(length, pod.least_backoff));
}

bool Backoff::IsBackingOff(const QueuedPod& pod, Time now, size_t size) const {
  return Expiration(pod, size) >= Align(now);
}

}  // namespace berth::queue
