// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "berth/in_tree/handle.h"
#include "berth/in_tree/plugin.h"
#include "src/base/clock.h"
#include "src/base/inbox.h"
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
#include "src/cache/node_metrics_table.h"
#include "src/cache/nominator.h"
#include "src/cache/object_tables.h"
#include "src/cache/pod_group_forest.h"
#include "src/cache/pod_group_states.h"
#include "src/client/api_client.h"
#include "src/engine/engine.h"
#include "src/extender/extender_bind.h"
#include "src/extender/extenders.h"
#include "src/framework/profile.h"
#include "src/framework/waiting_pods.h"
#include "src/metrics/local_metrics.h"
#include "src/scheduler/held_places.h"
#include "src/scheduler/messages.h"
#include "src/scheduler/metrics_observer.h"
#include "src/scheduler/object_waits.h"
#include "src/scheduler/options.h"
#include "src/scheduler/pod_store.h"
#include "src/scheduler/tape.h"
#include "src/scheduler/unfinished_pods.h"

namespace berth::scheduler {

// What is known of the cluster.
//
// Thread safety: the scheduling thread.
struct ClusterTables {
  explicit ClusterTables(const Features& features);

  cache::Cache cache;
  cache::NodeMetricsTable node_metrics{cache};
  cache::ObjectTables objects;
  cache::AssumedVolumeTable assumed_volumes{objects};
  cache::ClaimTable claims{objects};
  PodStore pods;
  cache::PodGroupStates pod_groups;
  cache::PodGroupForest pod_group_forest;
  cache::Nominator nominator;
};

// What writes to the API server, and the extenders' binds.
//
// Thread safety: the scheduling thread.
struct Writers {
  // `options` is only read here; seeds are drawn from `random`. `api` and `clock` must outlive
  // this.
  Writers(const SchedulerOptions& options, client::ApiClient& api, const Clock& clock,
          Random& random, binding::BinderCallbacks callbacks);

  binding::Binder binder;
  extender::ExtenderBind extender_bind;
  binding::EventRecorder events;
  binding::PodStatusPatcher status_patcher;
  binding::PodGroupStatusPatcher group_status_patcher;
  binding::PodEvictor evictor;
  binding::ClaimWrites claim_writes;
};

// What the parts of the scheduler and the plugins' handles share. It is there before the profiles
// are made and lives as long as the scheduler.
//
// Thread safety: the scheduling thread, but for Post(), PostFromExecutor() and what `unfinished`
// says.
struct SchedulerState {
  // `options` is only read here; all else must outlive the state.
  SchedulerState(const SchedulerOptions& options, const Clock& clock, client::ApiClient& api,
                 metrics::Registry& registry, std::span<const PluginRegistration> plugins);
  ~SchedulerState();
  SchedulerState(const SchedulerState&) = delete;
  SchedulerState& operator=(const SchedulerState&) = delete;

  // What the scheduler's own parts and the plugins post. Any thread.
  void Post(Message&& message) {
    if (tape == nullptr || !tape->replays()) inbox.Push(std::move(message));
  }
  // The same from the executor's thread: the loop is woken once for all that one turn of the
  // executor brings. Waking a thread costs more than what most messages ask for.
  void PostFromExecutor(Message&& message);
  // Moves the pods to activeQ once the running cycle or message is done with.
  void Activate(const std::vector<std::string>& pod_keys) {
    pods_to_activate.insert(pods_to_activate.end(), pod_keys.begin(), pod_keys.end());
  }

  const Clock& clock;
  // What decisions and plugins go by: within a step of the loop it stands still.
  base::StepClock step_clock{clock};
  Tape* const tape;  // nullptr: nothing is recorded or replayed
  bool in_cycle = false;
  bool in_query = false;
  // What plugin libraries have asked for within the running cycle.
  std::vector<std::function<void()>> after_cycle;
  client::ApiClient& api;
  const Features features;  // those of the options, with what the profiles' plugins add
  const bool in_shadow;     // of another scheduler: nothing is bound
  Random random;
  base::ThreadOwner owner;
  base::Inbox<Message> inbox;

  metrics::LocalMetrics metrics;
  MetricsObserver observer;

  ClusterTables cluster;
  HeldPlaces held_places{cluster.cache, cluster.nominator};
  ObjectWaits object_waits;  // outlives the binder, whose cycles wait here
  framework::WaitingPods waiting_pods;
  ReasonTable reasons;
  UnfinishedPods unfinished;
  std::vector<std::string> pods_to_activate;  // "namespace/name"
  extender::Extenders extenders;
  Writers writers;
  // Profiles::Find of the scheduler's profiles; set once they are made.
  std::function<const framework::Profile*(std::string_view)> find_profile;
  // See SchedulerOptions.
  const std::function<void(std::vector<NodeMetricsSource>)> watch_node_metrics;
};

}  // namespace berth::scheduler
