// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "berth/handle.h"
#include "berth/plugin.h"
#include "src/base/inbox.h"
#include "src/base/string_map.h"
#include "src/base/thread.h"
#include "src/binding/binder.h"
#include "src/binding/event_recorder.h"
#include "src/binding/pod_evictor.h"
#include "src/binding/pod_status.h"
#include "src/cache/cache.h"
#include "src/cache/object_tables.h"
#include "src/client/api_client.h"
#include "src/config/types.h"
#include "src/engine/engine.h"
#include "src/engine/judgement.h"
#include "src/extender/extender_bind.h"
#include "src/extender/extenders.h"
#include "src/framework/profile.h"
#include "src/framework/waiting_pods.h"
#include "src/metrics/local_metrics.h"
#include "src/queue/scheduling_queue.h"
#include "src/scheduler/debugger.h"
#include "src/scheduler/event_handlers.h"
#include "src/scheduler/messages.h"
#include "src/scheduler/metrics_observer.h"
#include "src/scheduler/pod_store.h"
#include "src/scheduler/profile_handle.h"

namespace berth::scheduler {

// How a scheduling cycle ended.
struct CycleOutcome {
  const api::Pod& pod;
  Code code = Code::kSuccess;  // kSuccess or kWait: the pod goes to the node
  std::string_view node_name;  // "" where it goes to none
  std::string_view message;    // why not, as the FailedScheduling event says it
  // The decision itself, preemption included, by SchedulerOptions::stopwatch.
  Duration took{};
};

struct SchedulerOptions {
  config::SchedulerConfiguration configuration;
  Features features;
  // In the order in which they are asked. Without them the configuration's extenders are not asked,
  // but the resources that those keep from the scheduler are.
  extender::ExtenderList extenders;
  Duration pod_max_in_unschedulable_pods_duration = std::chrono::minutes(5);
  uint64_t seed = 0;
  // Off: every attempt is evaluated, though one of its class has just failed. The slow twin.
  bool share_verdicts = true;
  // What plugins answered is kept for the next pods of a class, in so much memory. 0: every pod is
  // evaluated by itself. The slow twin.
  size_t max_kept_bytes = 128u << 20;
  std::string hostname;  // ends the reportingInstance of events
  // Off: cache and queue fill, but no cycle begins before LeadingBegan arrives.
  bool leading = true;
  // Hears of every scheduling cycle at its end, on the thread that runs the loop; may be empty.
  std::function<void(const CycleOutcome&)> on_cycle;
  // What decisions are timed with for `on_cycle`; empty: they are not.
  std::function<Duration()> stopwatch;
};

// The story of every pod: from the informers into the cache and the queue, through one scheduling
// cycle at a time, into binding, and back when that fails. docs/life_of_a_pod.md tells it whole.
//
//   inbox -> EventHandlers -> cache, queue -> ScheduleOne -> Binder -> outcome -> inbox
//                                                |                        |
//                                                +--> HandleFailure <-----+
//
// The scheduling thread owns all of its state; everything reaches it as a Message. Holds no
// algorithm of its own.
//
// Thread safety: Post(), PostFromExecutor(), Stop(), last_turn() and has_synced() from any thread;
// all else on the thread that runs the loop.
class Scheduler {
 public:
  // All references must outlive the scheduler. `clock` is read once a turn and times the metrics.
  // Errors: the profiles cannot be built.
  static Result<std::unique_ptr<Scheduler>> Make(SchedulerOptions options,
                                                 const std::vector<PluginRegistration>& registry,
                                                 const Clock& clock, client::ApiClient& api,
                                                 metrics::Registry& registry_of_metrics);
  ~Scheduler();

  void Post(Message message) { inbox_.Push(std::move(message)); }
  // The same from the executor's thread: the loop is woken once for all that one turn of the
  // executor brings. Waking a thread costs more than what most messages ask for.
  void PostFromExecutor(Message message);
  // Starts no further cycle, waits up to `patience` for the bindings in hand, ends Run().
  void Stop(Duration patience) { Post(StopRequested{patience}); }

  // Turns until stopped.
  void Run();
  // Once Run() has ended: calls `done` on the executor's thread when the events that are still
  // unsent have been answered, after `patience` at the latest. Any thread.
  void FlushEvents(Duration patience, std::function<void()> done);
  // One turn at `now`: applies what has arrived, then schedules every pod that is ready and may be
  // decided, taking in what arrives meanwhile. Returns when the next turn is due without a message.
  std::optional<Time> Turn(Time now);
  bool stopped() const { return stopped_; }

  // What the pod's profile makes of it as things stand, judged alone. Changes nothing and does not
  // count in the metrics. Of use until the next turn.
  std::unique_ptr<engine::Judgement> Judge(const std::shared_ptr<const api::Pod>& pod);
  // Swaps the profiles' plugins, weights and args for those of `next`, between two cycles. Pods in
  // binding cycles finish with the old ones; all parked pods are tried again. Errors, and nothing
  // has changed: another field differs (with its path), a profile is gone that pods wait for, a
  // profile cannot be built.
  Result<void> Reload(config::SchedulerConfiguration next);
  // Log where cache and queue differ from what the informers hold, and a dump of both.
  void LogNodeMismatch(const KnownObjects& nodes) const;
  void LogPodMismatch(const KnownObjects& pods) const;
  void LogDump() const;
  // The same dump as text.
  std::string Dump() const;

  // The plugin that the loop is busy with, and where, or "". Any thread.
  std::string BusyPlugin() const { return observer_.BusyPlugin(); }
  // When the loop last began a turn, or until when it may wait for an extender; for liveness.
  Time last_turn() const {
    return std::max(last_turn_.load(std::memory_order_relaxed), extenders_.excused_until());
  }
  // Whether all that was there at the start has been taken in; for readiness.
  bool has_synced() const { return has_synced_.load(std::memory_order_relaxed); }

  cache::Cache& cache() { return cache_; }
  const cache::ObjectTables& objects() const { return objects_; }
  queue::SchedulingQueue& queue() { return *queue_; }
  bool synced() const { return handlers_->synced(); }
  // The newest version of a pod of ours that has no node, by "namespace/name"; else nullptr.
  std::shared_ptr<const api::Pod> FindPendingPod(std::string_view key) const {
    return pods_.Find(key);
  }
  // Pods that await the answer to their Bind; not those whose bind is being settled.
  size_t awaiting_bind() const { return awaiting_bind_; }
  // Attempts that failed as another pod of the class had.
  uint64_t num_reused_verdicts() const { return num_reused_verdicts_; }
  // Pods with a node whose binding cycle, or wait at Permit, is under way.
  size_t in_hand() const { return in_hand_.size(); }

 private:
  // A pod with a node that is not yet known to be bound.
  struct InHand {
    std::unique_ptr<queue::QueuedPod> queued;
    const framework::Profile* profile = nullptr;
    std::string node_name;
    framework::Cycle cycle;  // here while the pod waits on Permit; else the binder has it
    std::vector<PreBindPlugin*> pre_bind;
    bool awaiting_bind = false;
    Time started;
  };
  // Why an attempt failed and what is to become of the pod.
  struct Failure {
    Code code = Code::kError;
    std::string message;
    std::vector<std::string> unschedulable_plugins;
    std::vector<std::string> pending_plugins;
    NominatingInfo nominating;
    // Set where the rest of the class need not be evaluated.
    std::shared_ptr<const queue::SharedVerdict> verdict = nullptr;
    // Its binding cycle had begun.
    bool in_binding = false;

    bool rejected() const { return code != Code::kError; }
  };

  Scheduler(SchedulerOptions options, const std::vector<PluginRegistration>& plugins,
            const Clock& clock, client::ApiClient& api, metrics::Registry& registry);
  using Profiles = std::map<std::string, std::unique_ptr<framework::Profile>, std::less<>>;
  struct MadeProfiles {
    std::vector<std::unique_ptr<Handle>> handles;
    Profiles profiles;
    PodParts signature_parts = 0;
  };
  Result<MadeProfiles> MakeProfiles(const config::SchedulerConfiguration& configuration);
  void MakeQueue();
  // What the plugins of each profile registered for.
  std::vector<queue::ProfileHints> Hints() const;

  // reload.cc
  // Pods in the queue or in hand.
  size_t CountPodsOf(std::string_view scheduler_name) const;

  // scheduler.cc: the loop.
  void ApplyArrived();
  void Apply(Message& message);
  void Dispatch(Message& message);
  bool MayDecide() const;
  std::optional<Time> NextWakeup(Time now) const;
  void ShowProgress(Time now);
  void PublishMetrics(Time now);
  const framework::Profile* ProfileOf(std::string_view scheduler_name) const;

  // schedule_one.cc: one scheduling cycle.
  void ScheduleOne();
  bool Skip(const queue::QueuedPod& queued);
  void Commit(std::unique_ptr<queue::QueuedPod> queued, const framework::Profile& profile,
              framework::Cycle cycle, NodeRow node, Time started);
  void FailCycle(std::unique_ptr<queue::QueuedPod> queued, const framework::Profile& profile,
                 framework::Cycle& cycle, const engine::Decision& decision, Time started);
  void ActivatePods();

  // shared_verdicts.cc: evaluation shared by the pods of a class.
  uint64_t VerdictEpoch(bool assumes_count) const;
  std::shared_ptr<const queue::SharedVerdict> ShareVerdict(const queue::QueuedPod& queued,
                                                           const framework::Profile& profile,
                                                           const Failure& failure) const;
  std::shared_ptr<const queue::SharedVerdict> FindVerdict(const queue::QueuedPod& queued) const;
  void FailAlike(std::unique_ptr<queue::QueuedPod> queued, const framework::Profile& profile,
                 std::shared_ptr<const queue::SharedVerdict> verdict, Time started);
  void ReportCycle(const api::Pod& pod, Code code, std::string_view node_name,
                   std::string_view message) const;
  Duration Stopwatch() const { return options_.stopwatch ? options_.stopwatch() : Duration(); }

  // binding_cycle.cc: from Permit to the outcome.
  void EnterBindingCycle(const std::string& uid, bool waits);
  void StartBinding(const std::string& uid);
  // Whether the pod counts for back-pressure. Does nothing when it is not in hand.
  void SetAwaitingBind(const std::string& uid, bool awaiting);
  void HandlePermitOutcomes();
  void HandlePermitOutcome(framework::PermitOutcome& outcome);
  void HandleBindOutcome(binding::BindOutcome& outcome);
  void FinishBound(InHand& pod, const binding::BindOutcome& outcome);
  void FailBinding(InHand pod, Failure failure);

  // failure.cc
  void HandleFailure(std::unique_ptr<queue::QueuedPod> queued, const framework::Profile& profile,
                     Failure failure, Time started);
  void RecordEvent(const api::Pod& pod, const framework::Profile& profile, bool warning,
                   std::string_view reason, std::string_view action, std::string note);

  SchedulerOptions options_;
  const std::vector<PluginRegistration> plugins_;
  const Clock& clock_;
  client::ApiClient& api_;
  Random random_;
  base::Inbox<Message> inbox_;
  base::ThreadOwner owner_;

  metrics::LocalMetrics metrics_;
  MetricsObserver observer_;
  cache::Cache cache_;
  cache::ObjectTables objects_;
  PodStore pods_;
  ReasonTable reasons_;
  framework::WaitingPods waiting_pods_;
  std::vector<std::string> pods_to_activate_;
  binding::Binder binder_;
  binding::EventRecorder events_;
  binding::PodStatusPatcher status_patcher_;
  binding::PodEvictor evictor_;
  queue::Nominator nominator_;
  std::unique_ptr<engine::NominatedPods> nominated_;
  extender::Extenders extenders_;
  extender::ExtenderBind extender_bind_;
  uint64_t extender_calls_ = 0;  // before the running cycle
  engine::Engine engine_;
  // Profiles refer to their handles, the queue to the profiles.
  std::vector<std::unique_ptr<Handle>> handles_;
  Profiles profiles_;
  std::vector<Profiles> retired_profiles_;
  std::unique_ptr<queue::SchedulingQueue> queue_;
  std::unique_ptr<EventHandlers> handlers_;

  base::StringMap<InHand> in_hand_;  // by pod UID
  uint64_t num_assumes_ = 0;
  uint64_t num_reused_verdicts_ = 0;
  size_t awaiting_bind_ = 0;
  size_t bind_limit_ = 64;
  uint32_t grouped_by_ = 0;  // the cache's class epoch by which pods are parked
  bool leading_ = true;
  bool stopping_ = false;
  bool stopped_ = false;
  Time now_;                   // of the running turn
  Duration decision_began_{};  // by the stopwatch
  Duration decision_took_{};
  Time published_;
  Time aged_;  // when what the engine keeps was aged last
  std::atomic<Time> last_turn_{Time()};
  std::atomic<bool> has_synced_{false};
  std::vector<Message> arrived_;

  struct Series {
    metrics::SeriesId algorithm_duration;
    metrics::SeriesId attempts;
    metrics::SeriesId flushed;
    metrics::SeriesId reused_rejections;
    metrics::SeriesId reused_decisions;
    metrics::SeriesId inbox_depth;
    metrics::SeriesId turns;
    metrics::SeriesId turn_duration;
    metrics::SeriesId binding;
    metrics::SeriesId nodes;
    metrics::SeriesId pods;
    metrics::SeriesId assumed_pods;
    metrics::SeriesId dropped_events;
  };
  Series series_;
  uint64_t dropped_events_ = 0;
};

}  // namespace berth::scheduler
