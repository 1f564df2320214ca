// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "src/informers/informer_event.h"
#include "src/queue/scheduling_queue.h"
#include "src/scheduler/bound_conditions.h"
#include "src/scheduler/event_metrics.h"
#include "src/scheduler/profiles.h"
#include "src/scheduler/state.h"

namespace berth::scheduler {

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
  void UpdatePod(const PodPtr& old_pod, const PodPtr& pod, Time now);
  void UpdatePendingPod(const PodPtr& old_pod, const PodPtr& pod, Time now);
  void DeletePod(const PodPtr& pod, Time now);
  void AddToCache(const PodPtr& pod);
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
