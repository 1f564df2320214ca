// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/engine/engine.h"
#include "src/engine/judgement.h"
#include "src/queue/scheduling_queue.h"
#include "src/scheduler/binding_cycles.h"
#include "src/scheduler/event_handlers.h"
#include "src/scheduler/failure_handler.h"
#include "src/scheduler/loop.h"
#include "src/scheduler/messages.h"
#include "src/scheduler/options.h"
#include "src/scheduler/pod_groups/pod_group_cycle.h"
#include "src/scheduler/profiles.h"
#include "src/scheduler/scheduling_cycle.h"
#include "src/scheduler/shadow.h"
#include "src/scheduler/state.h"

namespace berth::scheduler {

// The story of every pod: from the informers into the cache and the queue, through one scheduling
// cycle at a time, into binding, and back when that fails. docs/life_of_a_pod.md tells it whole.
//
//   inbox -> Loop -> EventHandlers -> cache, queue -> SchedulingCycle -> BindingCycles -> binder
//    ^                                  ^                  |                  |             |
//    |                                  +-- FailureHandler <------------------+             |
//    +------------------------------------- outcome ----------------------------------------+
//
// This class owns the parts and is the door to them. The scheduling thread owns all of their state;
// everything reaches it as a Message.
//
// Thread safety: Post(), PostFromExecutor(), Stop(), BusyPlugin(), last_turn() and has_synced()
// from any thread; all else on the thread that runs the loop.
class Scheduler {
 public:
  // All references must outlive the scheduler. `clock` is read once a turn and times the metrics.
  // Errors: the profiles cannot be built.
  static Result<std::unique_ptr<Scheduler>> Make(const SchedulerOptions& options,
                                                 const std::vector<PluginRegistration>& registry,
                                                 const Clock& clock, client::ApiClient& api,
                                                 metrics::Registry& registry_of_metrics);

  void Post(Message&& message) { state_->inbox.Push(std::move(message)); }
  void PostFromExecutor(Message&& message) { state_->PostFromExecutor(std::move(message)); }
  // Starts no further cycle, waits up to `patience` for the bindings under way, ends Run().
  void Stop(Duration patience) { Post(StopRequested{patience}); }

  // Turns until stopped.
  void Run() { loop_.Run(); }
  // See Loop.
  std::optional<Time> Turn(Time now) { return loop_.Turn(now); }
  // Whether something has arrived that the next turn takes in.
  bool has_messages() const { return state_->inbox.size() > 0; }
  bool stopped() const { return loop_.stopped(); }
  // Once Run() has ended: calls `done` on the executor's thread when the events that are still
  // unsent have been answered, after `patience` at the latest. Any thread.
  void FlushEvents(Duration patience, std::function<void()> done);

  // The feature gates with what the profiles' plugins add to them.
  const Features& features() const { return state_->features; }
  // The pod as it counts: see counted_objects.h. What follows takes either.
  std::shared_ptr<const api::Pod> Counted(const std::shared_ptr<const api::Pod>& pod) const;
  // What the pod's profile makes of it as things stand, judged alone. Changes nothing and does not
  // count in the metrics. Of use until the next turn.
  std::unique_ptr<engine::Judgement> Judge(const std::shared_ptr<const api::Pod>& pod);
  // The same of the pod group that the pod belongs to; nullopt: it belongs to none.
  std::optional<engine::PodGroupPreview> PreviewPodGroup(const api::Pod& pod,
                                                         Effects effects = Effects::kNone);

  // The plugin that the loop is busy with, and where, or "". Any thread.
  std::string BusyPlugin() const { return state_->observer.BusyPlugin(); }
  // See UnfinishedPods. Any thread.
  const UnfinishedPods& unfinished() const { return state_->unfinished; }
  // See BindingCycles.
  void WatchAssignments(AssignmentSink sink) { binding_cycles_.WatchAssignments(std::move(sink)); }

  // When the loop last began a turn, or until when it may wait for an extender; for liveness.
  Time last_turn() const { return std::max(loop_.last_turn(), state_->extenders.excused_until()); }
  // Whether all that was there at the start has been taken in; for readiness.
  bool has_synced() const { return loop_.has_synced(); }

  // By the clock that the loop reads.
  Time now() const { return state_->step_clock.Now(); }

  cache::Cache& cache() { return state_->cluster.cache; }
  const cache::Cache& cache() const { return state_->cluster.cache; }
  const cache::ObjectTables& objects() const { return state_->cluster.objects; }
  const ClaimTracker& claims() const { return state_->cluster.claims; }
  const cache::Nominator& nominator() const { return state_->cluster.nominator; }
  queue::SchedulingQueue& queue() { return queue_; }
  const queue::SchedulingQueue& queue() const { return queue_; }
  const Profiles& profiles() const { return profiles_; }
  const BindingCycles& binding_cycles() const { return binding_cycles_; }
  // Attempts that failed as another pod of the class had.
  uint64_t num_reused_refusals() const { return scheduling_cycle_.num_reused_refusals(); }
  const PodStore& pending_pods() const { return state_->cluster.pods; }
  // The newest version of a pod of ours that has no node, or waits on it for its resize, by
  // "namespace/name"; else nullptr.
  std::shared_ptr<const api::Pod> FindPendingPod(std::string_view key) const {
    return state_->cluster.pods.Find(key);
  }

 private:
  Scheduler(const SchedulerOptions& options, std::unique_ptr<SchedulerState> state,
            engine::Engine engine, Profiles profiles);
  queue::QueueHooks MakeQueueHooks();
  CycleParts Parts();
  // The node that the pod would get as things stand, without extenders; "": none.
  std::string Choose(const std::shared_ptr<const api::Pod>& pod);
  std::optional<ShadowWatch> MakeShadowWatch(ShadowListener* listener);

  std::unique_ptr<SchedulerState> state_;
  engine::Engine engine_;
  Profiles profiles_;
  queue::SchedulingQueue queue_;
  EventHandlers handlers_;
  FailureHandler failures_;
  BindingCycles binding_cycles_;
  std::optional<ShadowWatch> shadow_watch_;
  PodGroupCycle pod_group_cycle_;
  SchedulingCycle scheduling_cycle_;
  Loop loop_;
};

}  // namespace berth::scheduler
