// SPDX-License-Identifier: Apache-2.0
#include "src/scheduler/state.h"

#include <utility>

#include "src/config/plugin_features.h"

namespace berth::scheduler {
namespace {

cache::Cache::Options CacheOptions(const Features& features) {
  cache::Cache::Options options;
  options.pod_info = {
      .pod_level = features.pod_level_resources,
      .pod_level_status = features.in_place_pod_level_resources_vertical_scaling,
      .claim_status = features.dra_node_allocatable_resources,
      .deferred_resizes = features.in_place_pod_vertical_scaling_scheduler_preemption};
  return options;
}

}  // namespace

ClusterTables::ClusterTables(const Features& features)
    : cache(CacheOptions(features)),
      pod_group_forest(features.composite_pod_group),
      nominator([this](const api::Pod& pod) {
        const auto known = pods.Find(pod.metadata.Key());
        return known != nullptr && known->metadata.uid == pod.metadata.uid;
      }) {}

Writers::Writers(const SchedulerOptions& options, client::ApiClient& api, const Clock& clock,
                 Random& random, binding::BinderCallbacks callbacks)
    : binder(api, clock, random.Next(), std::move(callbacks)),
      extender_bind(options.extenders, binder.context()),
      events(api, clock, random.Next(), options.hostname),
      status_patcher(api, clock, random.Next()),
      group_status_patcher(api, clock, options.seed),
      evictor(api, clock, options.seed),
      claim_writes(api) {}

SchedulerState::SchedulerState(const SchedulerOptions& options, const Clock& a_clock,
                               client::ApiClient& an_api, metrics::Registry& registry,
                               std::span<const PluginRegistration> plugins)
    : clock(a_clock),
      tape(options.tape),
      api(an_api),
      features(config::WithPlugins(options.features, options.configuration, plugins)),
      in_shadow(options.shadow != nullptr),
      random(options.seed),
      metrics(registry),
      observer(metrics, clock),
      cluster(features),
      extenders(options.extenders, clock),
      writers(options, api, clock, random,
              {[this](binding::BindOutcome&& outcome) { PostFromExecutor(std::move(outcome)); },
               [this](std::string uid) { PostFromExecutor(PreBindDone{std::move(uid)}); },
               [this](std::string uid) { PostFromExecutor(BindUnconfirmed{std::move(uid)}); }}),
      watch_node_metrics(options.watch_node_metrics) {}

SchedulerState::~SchedulerState() = default;

void SchedulerState::PostFromExecutor(Message&& message) {
  if (inbox.PushQuietly(std::move(message))) {
    api.executor().Post([this] { inbox.Wake(); });
  }
}

}  // namespace berth::scheduler
