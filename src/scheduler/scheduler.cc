// SPDX-License-Identifier: Apache-2.0
#include "src/scheduler/scheduler.h"

#include <utility>

#include "src/base/logging.h"
#include "src/config/plugin_features.h"
#include "src/extender/interest.h"
#include "src/scheduler/counted_objects.h"
#include "src/scheduler/cycle_steps.h"

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
  if (state.features.pod_groups()) queue.pod_groups = &state.cluster.pod_group_forest;
  return queue;
}

}  // namespace

Result<std::unique_ptr<Scheduler>> Scheduler::Make(const SchedulerOptions& options,
                                                   const std::vector<PluginRegistration>& registry,
                                                   const Clock& clock, client::ApiClient& api,
                                                   metrics::Registry& registry_of_metrics) {
  auto state = std::make_unique<SchedulerState>(options, clock, api, registry_of_metrics);
  const Time now = options.start.value_or(clock.Now());
  state->step_clock.Begin(now, now);
  engine::Engine engine(state->random.Fork(), state->cluster.cache, options.max_kept_bytes);
  auto profiles = Profiles::Make(options.configuration, registry, *state);
  if (!profiles) return Fail(profiles.error());
  std::unique_ptr<Scheduler> scheduler(
      new Scheduler(options, std::move(state), std::move(engine), std::move(*profiles)));
  scheduler->state_->step_clock.End();
  if (options.watch_node_metrics) {
    options.watch_node_metrics(scheduler->profiles_.node_metrics_sources());
  }
  return scheduler;
}

Scheduler::Scheduler(const SchedulerOptions& options, std::unique_ptr<SchedulerState> state,
                     engine::Engine engine, Profiles profiles)
    : state_(std::move(state)),
      engine_(std::move(engine)),
      profiles_(std::move(profiles)),
      queue_(MakeQueueOptions(options, *state_), MakeQueueHooks(), state_->cluster.nominator,
             queue::QueueMetrics(&state_->metrics, &state_->clock), state_->step_clock.Now()),
      handlers_(*state_, queue_, profiles_),
      failures_(*state_, queue_),
      binding_cycles_(*state_, queue_, failures_, options.configuration.client_connection.burst),
      shadow_watch_(MakeShadowWatch(options.shadow)),
      pod_group_cycle_(Parts(), options),
      scheduling_cycle_(Parts(), options),
      loop_({.state = *state_,
             .queue = queue_,
             .engine = engine_,
             .profiles = profiles_,
             .handlers = handlers_,
             .scheduling_cycle = scheduling_cycle_,
             .pod_group_cycle = pod_group_cycle_,
             .binding_cycles = binding_cycles_,
             .shadow_watch = shadow_watch_ ? &*shadow_watch_ : nullptr,
             .background = options.background},
            options.leading) {
  state_->cluster.cache.SetSignatureParts(profiles_.signature_parts(),
                                          profiles_.tested_label_keys());
}

std::optional<ShadowWatch> Scheduler::MakeShadowWatch(ShadowListener* listener) {
  if (listener == nullptr) return std::nullopt;
  using PodPtr = std::shared_ptr<const api::Pod>;
  return ShadowWatch(profiles_, *listener,
                     {.choose = [this](const PodPtr& pod) { return Choose(pod); },
                      .judge = [this](const PodPtr& pod) { return Judge(pod); }});
}

CycleParts Scheduler::Parts() {
  return {.state = *state_,
          .profiles = profiles_,
          .queue = queue_,
          .engine = engine_,
          .binding_cycles = binding_cycles_,
          .failures = failures_};
}

queue::QueueHooks Scheduler::MakeQueueHooks() {
  queue::QueueHooks hooks;
  // PrioritySort's order is the queue's own, and Coscheduling's is the same.
  if (const auto& sort = profiles_.queue_sort();
      sort.name != "PrioritySort" && sort.name != config::kCoscheduling) {
    hooks.less = [plugin = sort.plugin](const QueueSortKey& a, const QueueSortKey& b) {
      return plugin->Less(a, b);
    };
  }
  hooks.pre_enqueue = [this](const PodInfo& pod, std::string_view last) {
    const framework::Profile* profile = profiles_.Find(pod.pod->spec.scheduler_name);
    if (profile == nullptr) return queue::PreEnqueueResult{};
    return queue::PreEnqueueResult{
        std::string(framework::RunPreEnqueue(*profile, pod, last, &state_->observer).plugin)};
  };
  hooks.take_moved_gates = [this](std::vector<std::string>& pod_keys) {
    profiles_.TakeMovedGates(pod_keys);
  };
  hooks.reclass = [this](PodInfoPtr pod) { return state_->cluster.cache.Reclass(std::move(pod)); };
  hooks.profiles = profiles_.Hints();
  return hooks;
}

void Scheduler::FlushEvents(Duration patience, std::function<void()> done) {
  state_->writers.events.Flush(patience, [done = std::move(done)](size_t unsent) {
    if (unsent > 0) {
      base::LogWarning("Events were given up without an answer", {{"events", unsent}});
    }
    done();
  });
}

std::shared_ptr<const api::Pod> Scheduler::Counted(
    const std::shared_ptr<const api::Pod>& pod) const {
  return scheduler::Counted(pod, state_->features, profiles_);
}

std::unique_ptr<engine::Judgement> Scheduler::Judge(const std::shared_ptr<const api::Pod>& pod) {
  BERTH_ON_THREAD(state_->owner);
  // An answer would be waited for on this thread, and asking may have effects.
  std::vector<std::string> extenders_not_asked;
  for (const config::Extender& extender : profiles_.configuration().extenders) {
    const bool has_a_say = !extender.filter_verb.empty() || !extender.prioritize_verb.empty() ||
                           !extender.preempt_verb.empty();
    if (has_a_say && extender::IsInterested(extender, *pod)) {
      extenders_not_asked.push_back(extender.url_prefix);
    }
  }
  return std::make_unique<engine::Judgement>(
      profiles_.Find(pod->spec.scheduler_name), state_->cluster.cache.MakePodInfo(Counted(pod)),
      engine::ClusterState{state_->cluster.cache, state_->cluster.nominator},
      std::move(extenders_not_asked));
}

std::optional<engine::PodGroupPreview> Scheduler::PreviewPodGroup(const api::Pod& pod,
                                                                  Effects effects) {
  BERTH_ON_THREAD(state_->owner);
  // It lives as long as the call.
  const std::shared_ptr<const api::Pod> shown(std::shared_ptr<const api::Pod>(), &pod);
  return pod_group_cycle_.Preview(*Counted(shown), effects);
}

std::string Scheduler::Choose(const std::shared_ptr<const api::Pod>& pod) {
  const framework::Profile* profile = profiles_.Find(pod->spec.scheduler_name);
  if (profile == nullptr) return "";
  engine::ClusterState cluster = ClusterOf(*state_);
  cluster.extenders = nullptr;
  framework::Cycle cycle;
  const engine::Decision decision =
      engine_.Schedule(*profile, cycle, *state_->cluster.cache.MakePodInfo(Counted(pod)), cluster,
                       profiles_.PercentageOfNodesToScore(*profile));
  if (decision.kind != engine::Decision::Kind::kScheduled) return "";
  return std::string(state_->cluster.cache.node_name(decision.node));
}

}  // namespace berth::scheduler
