// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "berth/cluster_event.h"
#include "berth/pod_info.h"
#include "berth/time.h"
#include "src/base/string_map.h"
#include "src/base/thread.h"
#include "src/queue/hint_table.h"
#include "src/queue/pod_group_queue.h"
#include "src/queue/queue_metrics.h"
#include "src/queue/queue_state.h"
#include "src/queue/queued_pod.h"

namespace berth::cache {
class Nominator;
}  // namespace berth::cache

namespace berth::queue {

// An event that arrived while some pod was in flight.
struct RecordedEvent {
  const EventMatch* match = nullptr;
  api::ObjectPtr old_object;
  api::ObjectPtr new_object;
};

// The pods that were popped and are not done, and the events since.
//
// One list holds both in the order of arrival: a pod needs the events behind its own mark. Events
// at the head, before the first mark, are dropped.
//
// Thread safety: belongs to the scheduling thread.
class InFlightPods {
 public:
  struct Pod {
    PodInfoPtr popped;
    PodInfoPtr newest;
    std::string key = {};  // of `popped`
    bool deleted = false;
  };

  // `metrics` must outlive this.
  explicit InFlightPods(QueueMetrics& metrics) : metrics_(metrics) {}

  size_t size() const { return pods_.size(); }

  // False: the pod is in flight already, and stays as it is.
  bool Add(const PodInfoPtr& pod);
  // nullptr when it is not in flight; by "namespace/name", the one popped last.
  Pod* Find(std::string_view uid);
  const Pod* Find(std::string_view uid) const { return const_cast<InFlightPods*>(this)->Find(uid); }
  Pod* FindByKey(std::string_view key);
  // Does nothing without pods in flight.
  void Record(RecordedEvent event);
  void Done(std::string_view uid);
  // Calls `visit` for each event since the pod was popped, until it returns false.
  void ForEachEventSince(std::string_view uid,
                         const std::function<bool(const RecordedEvent&)>& visit) const;

 private:
  struct Item {
    RecordedEvent event;  // a pod's mark has none
    Pod pod;
  };
  using Iterator = std::list<Item>::iterator;
  // The marks by a text that the mark holds.
  using Marks = absl::flat_hash_map<std::string_view, Iterator, base::StringHash>;

  QueueMetrics& metrics_;
  std::list<Item> list_;
  Marks pods_;    // by UID
  Marks by_key_;  // by "namespace/name"
};

// Ticks at `start` and every `period` after it; the tick of the present is over.
class PeriodicTimer {
 public:
  PeriodicTimer(Time start, Duration period, Time now)
      : start_(start), period_(period), next_(FirstAfter(now)) {}

  Time next() const { return next_; }
  // Whether a tick is due; if so, the next one is the first after `now`.
  bool Take(Time now) {
    if (now < next_) return false;
    next_ = FirstAfter(now);
    return true;
  }
  // The first tick after `time`.
  Time FirstAfter(Time time) const {
    if (time < start_) return start_;
    return start_ + ((time - start_) / period_ + 1) * period_;
  }

 private:
  Time start_;
  Duration period_;
  Time next_;
};

// Where a pod is.
enum class Place {
  kNowhere,
  kActive,
  kBackoff,        // also when backing off after an error
  kUnschedulable,  // parked, or gated
};

// What keeps a pod from being tried at all.
enum class Gate {
  kNone,
  kOwn,           // a PreEnqueue plugin: QueuedPod::gating_plugin
  kOfGroup,       // another pod of its group is gated
  kMissingGroup,  // its PodGroup is not there, or a group that this is part of
};

// How many pods there are in each place.
struct QueueCounts {
  struct Places {
    size_t active = 0;
    size_t backoff = 0;
    size_t unschedulable = 0;
    size_t gated = 0;
  };
  size_t active = 0;
  size_t backoff = 0;
  size_t unschedulable = 0;  // without the gated ones
  size_t gated = 0;
  size_t in_flight = 0;
  // Pods of pod groups that wait for their PodGroup, or for its attempt to end.
  size_t incomplete = 0;
  size_t pending = 0;
  // The pods in pod groups, and the groups; has_groups: there may be any.
  Places members = {};
  Places groups = {};
  bool has_groups = false;
};

// Whether an event concerns a parked pod at all. nullptr: it does.
using PodPredicate = std::function<bool(const api::Pod&)>;

// Where pods without a node wait for their turn.
//
//   Add ------------> activeQ --Pop--> in flight --Done--> gone
//    |                 ^   ^               |
//    | gated           |   | event,        | AddUnschedulablePodIfNotPresent
//    |   backoff over, |   | Activate      |
//    |   or Pop        |   |               v
//    |             backoffQ <--event-- unschedulable pods
//    +------------------------------------> (gated ones among them)
//
// A pod that failed by an error backs off apart from the others, and Pop never takes it early; the
// others it takes early one after the other (QueueState::Next).
//
// With QueueOptions::pod_groups the pods of a pod group take this way as one; see PodGroupQueue.
//
// Invariant: a pod is in exactly one of activeQ, backoffQ, the unschedulable pods and in flight.
// Pods that compare equal leave in the order in which they came; no order depends on hashes.
// Events that arrive while pods are in flight are kept until no such pod needs them, and decide
// where a pod goes that comes back rejected.
//
// Cost: O(log n) for each pod moved. Parked pods of one class that the same plugins rejected form a
// group; an event asks the hints once for each group that was rejected by a plugin which registered
// for it, and wakes the groups' pods in the order in which they were parked. Of a group at the gate
// of a plugin that names moved gates (MovedGates), only the pods that it named are asked about.
//
// Thread safety: belongs to the scheduling thread; no other may hold a reference.
class SchedulingQueue {
 public:
  // `start` sets the phase of the timers. `nominator` and what `metrics` refers to outlive the
  // queue.
  SchedulingQueue(QueueOptions options, QueueHooks hooks, cache::Nominator& nominator,
                  QueueMetrics metrics, Time start);
  SchedulingQueue(const SchedulingQueue&) = delete;
  SchedulingQueue& operator=(const SchedulingQueue&) = delete;

  // A new pod: nominates it where its status says so, runs PreEnqueue, then activeQ or gated. A pod
  // that is here already is updated; one of the same name with another UID gives way.
  void Add(PodInfoPtr pod, Time now);
  // Replaces the pod where it is; parked, its own change may free it. In flight, the change is
  // recorded as an event and `new_pod` kept for its return. A pod found nowhere is added.
  void Update(const std::shared_ptr<const api::Pod>& old_pod, PodInfoPtr new_pod, Time now);
  // Takes the pod and its nomination out. A pod in flight is dropped when it comes back.
  void Delete(const api::Pod& pod, Time now);

  // The next pod, marked in flight with one attempt more, or nullptr. The caller owes one Done() or
  // AddUnschedulablePodIfNotPresent() for it. Or the next pod group: that is owed for each of its
  // pods, and then, before anything else happens to the queue, one AddAttemptedPodGroup().
  std::unique_ptr<QueuedPod> Pop();
  // The attempt needs no events any more. Does nothing for an unknown UID.
  void Done(std::string_view uid);
  // Puts back a pod whose attempt failed, also after Done(), and is done with it. The caller has
  // set unschedulable_plugins and pending_plugins; both empty mean an error. The pod's newest
  // version replaces `info`, unless the caller changed that. Returns where it went: kNowhere, if it
  // was deleted while in flight or is queued already.
  Place AddUnschedulablePodIfNotPresent(std::unique_ptr<QueuedPod> pod, Time now);

  // The attempt at a pod group is over: those of its pods that came back, and others that came
  // meanwhile, wait for their next turn as one. `group` is what Pop() returned; its members are
  // moved from.
  void AddAttemptedPodGroup(std::unique_ptr<QueuedPod> group, GroupResult result, Time now);

  // A group that is new or has changed, or is gone.
  void SetPodGroup(AnyPodGroup group, Time now);
  void DeletePodGroup(const AnyPodGroup& group, Time now);

  // Something changed in the cluster: moves the parked pods it may help, and records it for those
  // in flight. A wildcard event whose new object is a pod concerns that pod alone.
  void MoveAllToActiveOrBackoffQueue(const ClusterEvent& event, const api::ObjectPtr& old_object,
                                     const api::ObjectPtr& new_object, Time now,
                                     const PodPredicate& concerns = nullptr);
  // The profiles have changed: from now on these hints count, and every parked pod, gated ones
  // included, is moved as by an event that concerns all.
  void ReplaceHints(std::vector<ProfileHints> profiles, Time now);
  // Whether a plugin of any profile registered for the event, so that it may move pods.
  bool IsOfInterest(const ClusterEvent& event) { return state_.hints().Match(event).of_interest; }
  // Pods may be in other classes now: groups the parked ones again. Moves none.
  void Regroup();
  // Moves the pods named by "namespace/name" to activeQ, whether parked or backing off; those in
  // flight are tried again after a rejection. A pod of a group takes its whole group along.
  void Activate(std::span<const std::string> pod_keys, Time now);

  // Runs what is due: each whole second FlushBackoffCompleted(), each 30 s
  // FlushUnschedulableLeftover(). Cheap; call it in every turn of the loop.
  void Tick(Time now);
  // Also ends the wait for conditions that the watch has not shown within a second.
  void FlushBackoffCompleted(Time now);
  void FlushUnschedulableLeftover(Time now);
  // When Tick() next has something to do, however long nothing else happens.
  std::optional<Time> NextWakeup() const;
  // Whether Pop() has a pod to return.
  bool HasReady() const { return state_.Next() != nullptr; }

  QueueCounts counts() const;
  bool IsInFlight(std::string_view uid) const { return in_flight_.Find(uid) != nullptr; }
  // Looks in all places but in flight.
  const QueuedPod* Find(std::string_view pod_key) const;
  Place WhereIs(std::string_view pod_key) const;
  Gate GateOf(std::string_view pod_key) const;
  // When the backoff of the pod, or of its group, ends; nullopt: it is in no backoffQ.
  std::optional<Time> BackoffEnds(std::string_view pod_key) const;
  // For dumps: activeQ and backoffQ in the order in which pods will leave, then the parked ones in
  // the order in which they came.
  struct PendingPod {
    const QueuedPod* pod = nullptr;
    Place place = Place::kNowhere;
  };
  std::vector<PendingPod> PendingPods() const;
  // Sets the gauges from the counts; call it before the metrics are published.
  void UpdateGauges();

 private:
  // Of a pod, or of a member of a group.
  Entry* FindEntry(std::string_view pod_key) const;
  // Whether the pod is queued with its group.
  bool IsMember(const api::Pod& pod) const;
  // The name of the group that it is queued with; "": none.
  std::string_view GroupOf(const api::Pod& pod) const;
  // What an update of a pod that waits tells plugins.
  std::vector<ClusterEvent> UpdateEvents(const api::Pod& old_pod, const api::Pod& pod) const;
  // Takes the entry of a pod out of the queue, or out of its group there; its rejectors count no
  // more.
  std::unique_ptr<QueuedPod> TakeOut(Entry* entry, Time now);
  // Queues `pod`, whose older version the entry holds, where its new group is, or by itself.
  void Regroup(Entry* entry, PodInfoPtr pod, Time now);
  // Marks what was popped as in flight; false: there is nothing of it to be tried.
  bool Launch(QueuedPod& popped);
  bool LaunchPod(QueuedPod& pod);
  // Where a pod goes that comes back: decided by what happened while it was in flight.
  QueueingStrategy StrategyAfterAttempt(const Entry& entry);
  // Moves the parked pods that the event may help, and records it.
  void MoveGroups(const EventMatch& match, const api::ObjectPtr& old_object,
                  const api::ObjectPtr& new_object, Time now, const PodPredicate& concerns);
  void UpdateParked(Entry* entry, const std::vector<ClusterEvent>& events,
                    const api::ObjectPtr& old_object, const api::ObjectPtr& new_object, Time now);

  base::ThreadOwner owner_;
  QueueState state_;
  PodGroupQueue groups_;
  InFlightPods in_flight_;
  cache::Nominator& nominator_;
  int64_t scheduling_cycle_ = 0;  // how often something was popped
  PeriodicTimer backoff_timer_;
  PeriodicTimer unschedulable_timer_;
};

}  // namespace berth::queue
