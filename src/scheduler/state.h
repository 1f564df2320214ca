// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "berth/in_tree/handle.h"
#include "src/base/inbox.h"
#include "src/base/step_clock.h"
#include "src/base/thread.h"
#include "src/binding/binder.h"
#include "src/binding/claim_writes.h"
#include "src/binding/event_recorder.h"
#include "src/binding/pod_evictor.h"
#include "src/binding/pod_group_status.h"
#include "src/binding/pod_status.h"
#include "src/cache/assumed_volume_table.h"
#include "src/cache/cache.h"
#include "src/cache/claim_table.h"
#include "src/cache/nominator.h"
#include "src/cache/object_tables.h"
#include "src/cache/pod_group_forest.h"
#include "src/cache/pod_group_states.h"
#include "src/client/api_client.h"
#include "src/engine/engine.h"
#include "src/extender/extender_bind.h"
#include "src/extender/extenders.h"
#include "src/framework/waiting_pods.h"
#include "src/metrics/local_metrics.h"
#include "src/scheduler/messages.h"
#include "src/scheduler/metrics_observer.h"
#include "src/scheduler/object_waits.h"
#include "src/scheduler/options.h"
#include "src/scheduler/pod_store.h"
#include "src/scheduler/recorded_claims.h"
#include "src/scheduler/tape.h"

namespace berth::scheduler {

// What the parts of the scheduler and the plugins' handles share: what is known of the cluster, and
// the ways in and out. It is there before the profiles are made and lives as long as the scheduler.
//
// Thread safety: the scheduling thread, but for Post() and PostFromExecutor().
struct SchedulerState {
  // `options` is only read here; all else must outlive the state.
  SchedulerState(const SchedulerOptions& options, const Clock& clock, client::ApiClient& api,
                 metrics::Registry& registry);
  ~SchedulerState();
  SchedulerState(const SchedulerState&) = delete;
  SchedulerState& operator=(const SchedulerState&) = delete;

  // Any thread.
  void Post(Message&& message) { inbox.Push(std::move(message)); }
  // The same from the executor's thread: the loop is woken once for all that one turn of the
  // executor brings. Waking a thread costs more than what most messages ask for.
  void PostFromExecutor(Message&& message);
  // Whether the calling thread is within what a replay brings about again: a scheduling cycle, or a
  // query with an origin. Any thread.
  bool OnRepeatableStep() const { return step_clock.OnStep() && repeatable; }

  const Clock& clock;
  // What decisions and plugins go by: within a step of the loop it stands still.
  base::StepClock step_clock{clock};
  Tape* const tape;  // nullptr: nothing is recorded or replayed
  bool repeatable = false;
  // Within a query that has none.
  bool in_query = false;
  client::ApiClient& api;
  const Features features;
  const bool in_shadow;  // of another scheduler: nothing is bound
  Random random;
  base::ThreadOwner owner;
  base::Inbox<Message> inbox;

  metrics::LocalMetrics metrics;
  MetricsObserver observer;

  cache::Cache cache;
  cache::ObjectTables objects;
  cache::AssumedVolumeTable assumed_volumes{objects};
  cache::ClaimTable claims{objects};
  RecordedClaims recorded_claims{claims, tape, in_query};
  ObjectWaits object_waits;  // outlives the binder, whose cycles wait here
  PodStore pods;
  cache::PodGroupStates pod_groups;
  cache::PodGroupForest pod_group_forest{features.composite_pod_group};
  cache::Nominator nominator;
  framework::WaitingPods waiting_pods;
  ReasonTable reasons;
  // Keys of pods to move to activeQ once the running cycle or message is done with.
  std::vector<std::string> pods_to_activate;

  extender::Extenders extenders;
  binding::Binder binder;
  extender::ExtenderBind extender_bind;
  binding::EventRecorder events;
  binding::PodStatusPatcher status_patcher;
  binding::PodGroupStatusPatcher group_status_patcher;
  binding::PodEvictor evictor;
  binding::ClaimWrites claim_writes{api};
};

}  // namespace berth::scheduler
