// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "berth/api/pod.h"
#include "berth/cluster_event.h"
#include "berth/time.h"
#include "src/informers/informer_event.h"
#include "src/metrics/local_metrics.h"
#include "src/queue/scheduling_queue.h"
#include "src/scheduler/profiles.h"
#include "src/scheduler/state.h"

namespace berth::scheduler {

// Puts right what bound pods say of themselves. The API server makes the condition PodScheduled
// True when it binds a pod; a condition of an earlier attempt that it writes after that makes the
// pod say Unschedulable or SchedulerError on its node: one that was on its way when the bind began,
// or one of a leader whose watch was behind the binds of the leader before.
//
// Goes by what the watch tells, so it does not matter who wrote the condition, or when. Pods of
// other schedulers and conditions for other reasons are left alone.
//
// Thread safety: the scheduling thread.
class BoundConditions {
 public:
  // Both must outlive it.
  BoundConditions(SchedulerState& state, const Profiles& profiles)
      : state_(state), profiles_(profiles) {}

  // The watch reported a pod that has a node. Writes nothing before this process leads.
  void Check(const std::shared_ptr<const api::Pod>& pod);
  // From now on this process leads: checks all pods that it knows.
  void BeginLeading();

 private:
  SchedulerState& state_;
  const Profiles& profiles_;
  bool leading_ = false;
};

// How long the event handlers take, by cluster event and by kind, and what could not be decoded.
//
// Thread safety: the scheduling thread.
class EventMetrics {
 public:
  // Both must outlive this.
  EventMetrics(metrics::LocalMetrics& metrics, const Clock& clock)
      : metrics_(metrics), clock_(clock) {}

  // An object's change is about to be handled.
  void Start() { started_ = clock_.Now(); }
  // The change has been handled as that event. There may be several, or none.
  void Handled(EventResource resource, ActionType action);
  // It is over.
  void Finish(informers::Kind kind) { metrics_.Observe(LatencyOf(kind), clock_.Now() - started_); }
  // The time that changes of these objects take, there from now on.
  metrics::SeriesId LatencyOf(informers::Kind kind);
  void CountUndecodable(informers::Kind kind);

 private:
  metrics::LocalMetrics& metrics_;
  const Clock& clock_;
  Time started_;
  std::map<std::pair<EventResource, ActionType>, metrics::SeriesId> events_;
  std::map<informers::Kind, metrics::SeriesId> kinds_;
  std::map<informers::Kind, metrics::SeriesId> undecodable_;
};

// Turns what the informers saw into changes of the cache and moves in the queue, as
// kube-scheduler's event handlers do.
//
// Thread safety: the scheduling thread.
class EventHandlers {
 public:
  // All must outlive the handlers.
  EventHandlers(SchedulerState& state, queue::SchedulingQueue& queue, const Profiles& profiles);

  void Handle(const informers::InformerEvent& event, Time now);
  // The room on a node that a pod was nominated for, and has not taken, is free for others: those
  // nominations that no watch tells of. kube-scheduler lets these wait.
  void HandleEnded(const cache::Nominator::Ended& nomination, Time now);
  // This process leads from now on.
  void BeginLeading() { bound_conditions_.BeginLeading(); }
  // Whether the first list of every kind is in.
  bool synced() const { return unsynced_.empty(); }

 private:
  using PodPtr = std::shared_ptr<const api::Pod>;
  using NodePtr = std::shared_ptr<const api::Node>;

  void HandlePod(const informers::InformerEvent& event, Time now);
  void TellOfPod(const informers::InformerEvent& event, Time now);
  void HandleNode(const informers::InformerEvent& event, Time now);
  void HandleOtherObject(const informers::InformerEvent& event, Time now);
  // The devices of slices are tainted by a rule, or no longer: as if the slices had changed.
  void MoveForTaintRule(const informers::InformerEvent& event, Time now);
  void HandleUndecodable(const informers::InformerEvent& event, Time now);

  void AddPod(const PodPtr& pod, Time now);
  PodInfoPtr WithPlaceHeldFor(const PodInfoPtr& info);
  void UpdatePod(const PodPtr& old_pod, const PodPtr& pod, Time now);
  void UpdatePendingPod(const PodPtr& old_pod, const PodPtr& pod, Time now);
  void DeletePod(const PodPtr& pod, Time now);
  // Whether the pod runs, and is to be queued for its resize.
  bool AwaitsResize(const PodInfo& pod) const;
  // A pod that runs has changed: queues it, has it change in the queue, or takes it out.
  void UpdateResize(const PodPtr& old_pod, const PodInfoPtr& pod, Time now);
  void QueueResize(const PodInfoPtr& pod, Time now);
  void EndResize(const api::Pod& pod, Time now);
  // The pod as it was assumed on another node than another process has bound it to; nullptr: it was
  // not.
  PodPtr AssumedElsewhere(const api::Pod& bound) const;
  void AddToCache(const PodInfoPtr& info);
  // The pod is seen on its node for the first time.
  void NotePlaced(const PodPtr& pod);
  // The pod of that key can be read again, or is gone: its node may take new pods.
  void OpenNode(const std::string& pod_key, Time now);
  // Whether one of the profiles is for the pod.
  bool IsOurs(std::string_view scheduler_name) const {
    return profiles_.Find(scheduler_name) != nullptr;
  }
  // The pod was assumed and is going: releases what it holds, and tells of it.
  void DropAssumedPod(const cache::CachedPod& pod, Time now);
  void Move(EventResource resource, ActionType action, const api::ObjectPtr& old_object,
            const api::ObjectPtr& new_object, Time now,
            const queue::PodPredicate& concerns = nullptr);
  // The same for an object that is neither a pod nor a node, and timed.
  void MoveForOther(EventResource resource, ActionType action, const api::ObjectPtr& old_object,
                    const api::ObjectPtr& new_object, Time now);
  // A nomination was given up: pods of at most its priority may use the room. `pod` was nominated.
  void MoveForLostNomination(const PodPtr& pod, Time now);

  SchedulerState& state_;
  queue::SchedulingQueue& queue_;
  const Profiles& profiles_;
  EventMetrics metrics_;
  BoundConditions bound_conditions_;

  std::set<informers::Kind> unsynced_;
  // Pods that could not be read, by key, and the nodes that they keep closed.
  std::map<std::string, std::string, std::less<>> unread_pods_;
};

}  // namespace berth::scheduler
