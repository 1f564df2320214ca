// SPDX-License-Identifier: Apache-2.0
#include "src/scheduler/scheduler.h"

#include <algorithm>
#include <utility>

#include "src/base/logging.h"
#include "src/config/plugin_features.h"
#include "src/engine/engine.h"
#include "src/extender/extenders.h"
#include "src/queue/scheduling_queue.h"
#include "src/scheduler/binding_cycles.h"
#include "src/scheduler/counted_objects.h"
#include "src/scheduler/cycle_steps.h"
#include "src/scheduler/event_handlers.h"
#include "src/scheduler/failure_handler.h"
#include "src/scheduler/loop.h"
#include "src/scheduler/pod_groups/pod_group_cycle.h"
#include "src/scheduler/profiles.h"
#include "src/scheduler/scheduling_cycle.h"
#include "src/scheduler/shadow.h"
#include "src/scheduler/state.h"

namespace berth::scheduler {
namespace {

queue::QueueOptions MakeQueueOptions(const SchedulerOptions& options, SchedulerState& state) {
  queue::QueueOptions queue;
  queue.pod_initial_backoff =
      std::chrono::seconds(options.configuration.pod_initial_backoff_seconds);
  queue.pod_max_backoff = std::chrono::seconds(options.configuration.pod_max_backoff_seconds);
  queue.pod_max_in_unschedulable_pods_duration = options.pod_max_in_unschedulable_pods_duration;
  queue.pop_from_backoff_q = options.features.scheduler_pop_from_backoff_q;
  queue.deferred_resizes = options.features.in_place_pod_vertical_scaling_scheduler_preemption;
  queue.pod_level_status = options.features.in_place_pod_level_resources_vertical_scaling;
  if (state.features.pod_groups()) queue.pod_groups = &state.cluster.pod_group_forest;
  return queue;
}

}  // namespace

struct Scheduler::Parts {
  Parts(const SchedulerOptions& options, std::unique_ptr<SchedulerState> new_state,
        engine::Engine new_engine, Profiles new_profiles);
  queue::QueueHooks MakeQueueHooks();
  CycleParts ForCycles();
  std::shared_ptr<const api::Pod> Counted(const std::shared_ptr<const api::Pod>& pod) const;
  std::unique_ptr<engine::Judgement> Judge(const std::shared_ptr<const api::Pod>& pod);
  // The node that the pod would get as things stand, without extenders; "": none.
  std::string Choose(const std::shared_ptr<const api::Pod>& pod);
  std::optional<ShadowWatch> MakeShadowWatch(ShadowListener* listener);

  std::unique_ptr<SchedulerState> state;
  engine::Engine engine;
  Profiles profiles;
  queue::SchedulingQueue queue;
  EventHandlers handlers;
  FailureHandler failures;
  BindingCycles binding_cycles;
  std::optional<ShadowWatch> shadow_watch;
  PodGroupCycle pod_group_cycle;
  SchedulingCycle scheduling_cycle;
  Loop loop;
};

Scheduler::Parts::Parts(const SchedulerOptions& options, std::unique_ptr<SchedulerState> new_state,
                        engine::Engine new_engine, Profiles new_profiles)
    : state(std::move(new_state)),
      engine(std::move(new_engine)),
      profiles(std::move(new_profiles)),
      queue(MakeQueueOptions(options, *state), MakeQueueHooks(), state->cluster.nominator,
            queue::QueueMetrics(&state->metrics, &state->clock), state->step_clock.Now()),
      handlers(*state, queue, profiles),
      failures(*state, queue),
      binding_cycles(*state, queue, failures, options.configuration.client_connection.burst),
      shadow_watch(MakeShadowWatch(options.shadow)),
      pod_group_cycle(ForCycles(), options),
      scheduling_cycle(ForCycles(), options),
      loop({.state = *state,
            .queue = queue,
            .engine = engine,
            .profiles = profiles,
            .handlers = handlers,
            .scheduling_cycle = scheduling_cycle,
            .pod_group_cycle = pod_group_cycle,
            .binding_cycles = binding_cycles,
            .shadow_watch = shadow_watch ? &*shadow_watch : nullptr,
            .background = options.background},
           options.leading) {
  state->cluster.cache.SetSignatureParts(profiles.signature_parts(), profiles.tested_label_keys());
  state->find_profile = [this](std::string_view name) { return profiles.Find(name); };
}

std::optional<ShadowWatch> Scheduler::Parts::MakeShadowWatch(ShadowListener* listener) {
  if (listener == nullptr) return std::nullopt;
  using PodPtr = std::shared_ptr<const api::Pod>;
  return ShadowWatch(profiles, *listener,
                     {.choose = [this](const PodPtr& pod) { return Choose(pod); },
                      .judge = [this](const PodPtr& pod) { return Judge(pod); }});
}

CycleParts Scheduler::Parts::ForCycles() {
  return {.state = *state,
          .profiles = profiles,
          .queue = queue,
          .engine = engine,
          .binding_cycles = binding_cycles,
          .failures = failures};
}

queue::QueueHooks Scheduler::Parts::MakeQueueHooks() {
  queue::QueueHooks hooks;
  // PrioritySort's order is the queue's own, and Coscheduling's is the same.
  if (const auto& sort = profiles.queue_sort();
      sort.name != "PrioritySort" && sort.name != config::kCoscheduling) {
    hooks.less = [plugin = sort.plugin](const QueueSortKey& a, const QueueSortKey& b) {
      return plugin->Less(a, b);
    };
  }
  hooks.pre_enqueue = [this](const PodInfo& pod, std::string_view last) {
    const framework::Profile* profile = profiles.Find(pod.pod->spec.scheduler_name);
    if (profile == nullptr) return queue::PreEnqueueResult{};
    return queue::PreEnqueueResult{
        std::string(framework::RunPreEnqueue(*profile, pod, last, &state->observer).plugin)};
  };
  hooks.take_moved_gates = [this](std::vector<std::string>& pod_keys) {
    profiles.TakeMovedGates(pod_keys);
  };
  hooks.reclass = [this](PodInfoPtr pod) { return state->cluster.cache.Reclass(std::move(pod)); };
  hooks.profiles = profiles.Hints();
  return hooks;
}

std::shared_ptr<const api::Pod> Scheduler::Parts::Counted(
    const std::shared_ptr<const api::Pod>& pod) const {
  return scheduler::Counted(pod, state->features, profiles);
}

std::unique_ptr<engine::Judgement> Scheduler::Parts::Judge(
    const std::shared_ptr<const api::Pod>& pod) {
  BERTH_ON_THREAD(state->owner);
  // An answer would be waited for on this thread, and asking may have effects.
  std::vector<std::string> extenders_not_asked;
  for (const config::Extender& extender : profiles.configuration().extenders) {
    const bool has_a_say = !extender.filter_verb.empty() || !extender.prioritize_verb.empty() ||
                           !extender.preempt_verb.empty();
    if (has_a_say && extender::IsInterested(extender, *pod)) {
      extenders_not_asked.push_back(extender.url_prefix);
    }
  }
  return std::make_unique<engine::Judgement>(
      profiles.Find(pod->spec.scheduler_name), state->cluster.cache.MakePodInfo(Counted(pod)),
      engine::ClusterState{state->cluster.cache, state->cluster.nominator},
      std::move(extenders_not_asked));
}

std::string Scheduler::Parts::Choose(const std::shared_ptr<const api::Pod>& pod) {
  const framework::Profile* profile = profiles.Find(pod->spec.scheduler_name);
  if (profile == nullptr) return "";
  engine::ClusterState cluster = ClusterOf(*state);
  cluster.extenders = nullptr;
  framework::Cycle cycle;
  const engine::Decision decision =
      engine.Schedule(*profile, cycle, *state->cluster.cache.MakePodInfo(Counted(pod)), cluster,
                      profiles.PercentageOfNodesToScore(*profile));
  if (decision.kind != engine::Decision::Kind::kScheduled) return "";
  return std::string(state->cluster.cache.node_name(decision.node));
}

Result<std::unique_ptr<Scheduler>> Scheduler::Make(const SchedulerOptions& options,
                                                   const std::vector<PluginRegistration>& registry,
                                                   const Clock& clock, client::ApiClient& api,
                                                   metrics::Registry& registry_of_metrics) {
  auto state = std::make_unique<SchedulerState>(options, clock, api, registry_of_metrics, registry);
  const Time now = options.start.value_or(clock.Now());
  state->step_clock.Begin(now, now);
  engine::Engine engine(state->random.Fork(), state->cluster.cache, options.max_kept_bytes);
  auto profiles = Profiles::Make(options.configuration, registry, *state);
  if (!profiles) return Fail(profiles.error());
  std::unique_ptr<Scheduler> scheduler(new Scheduler(
      std::make_unique<Parts>(options, std::move(state), std::move(engine), std::move(*profiles))));
  scheduler->parts_->state->step_clock.End();
  if (options.watch_node_metrics) {
    options.watch_node_metrics(scheduler->parts_->profiles.node_metrics_sources());
  }
  return scheduler;
}

Scheduler::Scheduler(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Scheduler::~Scheduler() = default;

void Scheduler::Post(Message&& message) { parts_->state->inbox.Push(std::move(message)); }
void Scheduler::PostFromExecutor(Message&& message) {
  parts_->state->PostFromExecutor(std::move(message));
}
void Scheduler::Run() { parts_->loop.Run(); }
std::optional<Time> Scheduler::Turn(Time now) { return parts_->loop.Turn(now); }
bool Scheduler::has_messages() const { return parts_->state->inbox.size() > 0; }
bool Scheduler::stopped() const { return parts_->loop.stopped(); }

void Scheduler::FlushEvents(Duration patience, std::function<void()> done) {
  parts_->state->writers.events.Flush(patience, [done = std::move(done)](size_t unsent) {
    if (unsent > 0) {
      base::LogWarning("Events were given up without an answer", {{"events", unsent}});
    }
    done();
  });
}

const Features& Scheduler::features() const { return parts_->state->features; }
std::shared_ptr<const api::Pod> Scheduler::Counted(
    const std::shared_ptr<const api::Pod>& pod) const {
  return parts_->Counted(pod);
}
std::unique_ptr<engine::Judgement> Scheduler::Judge(const std::shared_ptr<const api::Pod>& pod) {
  return parts_->Judge(pod);
}

std::optional<engine::PodGroupPreview> Scheduler::PreviewPodGroup(const api::Pod& pod,
                                                                  Effects effects) {
  BERTH_ON_THREAD(parts_->state->owner);
  // It lives as long as the call.
  const std::shared_ptr<const api::Pod> shown(std::shared_ptr<const api::Pod>(), &pod);
  return parts_->pod_group_cycle.Preview(*Counted(shown), effects);
}

std::string Scheduler::BusyPlugin() const { return parts_->state->observer.BusyPlugin(); }
const UnfinishedPods& Scheduler::unfinished() const { return parts_->state->unfinished; }
void Scheduler::WatchAssignments(AssignmentSink sink) {
  parts_->binding_cycles.WatchAssignments(std::move(sink));
}
Time Scheduler::last_turn() const {
  return std::max(parts_->loop.last_turn(), parts_->state->extenders.excused_until());
}
bool Scheduler::has_synced() const { return parts_->loop.has_synced(); }
Time Scheduler::now() const { return parts_->state->step_clock.Now(); }

cache::Cache& Scheduler::cache() { return parts_->state->cluster.cache; }
const cache::Cache& Scheduler::cache() const { return parts_->state->cluster.cache; }
const cache::ObjectTables& Scheduler::objects() const { return parts_->state->cluster.objects; }
const ClaimTracker& Scheduler::claims() const { return parts_->state->cluster.claims; }
const cache::Nominator& Scheduler::nominator() const { return parts_->state->cluster.nominator; }
queue::SchedulingQueue& Scheduler::queue() { return parts_->queue; }
const queue::SchedulingQueue& Scheduler::queue() const { return parts_->queue; }
const Profiles& Scheduler::profiles() const { return parts_->profiles; }
const BindingCycles& Scheduler::binding_cycles() const { return parts_->binding_cycles; }
uint64_t Scheduler::num_reused_refusals() const {
  return parts_->scheduling_cycle.num_reused_refusals();
}
const PodStore& Scheduler::pending_pods() const { return parts_->state->cluster.pods; }
std::shared_ptr<const api::Pod> Scheduler::FindPendingPod(std::string_view key) const {
  return parts_->state->cluster.pods.Find(key);
}

}  // namespace berth::scheduler
