// SPDX-License-Identifier: Apache-2.0
#include "src/scheduler/state.h"

#include <utility>

namespace berth::scheduler {
namespace {

cache::Cache::Options CacheOptions(const Features& features) {
  cache::Cache::Options options;
  options.pod_info = {.pod_level = features.pod_level_resources,
                      .pod_level_status = features.in_place_pod_level_resources_vertical_scaling};
  return options;
}

}  // namespace

SchedulerState::SchedulerState(const SchedulerOptions& options, const Clock& a_clock,
                               client::ApiClient& an_api, metrics::Registry& registry)
    : clock(a_clock),
      tape(options.tape),
      api(an_api),
      features(options.features),
      in_shadow(options.shadow != nullptr),
      random(options.seed),
      metrics(registry),
      observer(metrics, clock),
      cache(CacheOptions(features)),
      nominator([this](const api::Pod& pod) {
        const auto known = pods.Find(pod.metadata.Key());
        return known != nullptr && known->metadata.uid == pod.metadata.uid;
      }),
      extenders(options.extenders, clock),
      binder(api, clock, random.Next(),
             {[this](binding::BindOutcome&& outcome) { PostFromExecutor(std::move(outcome)); },
              [this](std::string uid) { PostFromExecutor(PreBindDone{std::move(uid)}); },
              [this](std::string uid) { PostFromExecutor(BindUnconfirmed{std::move(uid)}); }}),
      extender_bind(options.extenders, binder.context()),
      events(api, clock, random.Next(), options.hostname),
      status_patcher(api, clock, random.Next()),
      group_status_patcher(api, clock, options.seed),
      evictor(api, clock, options.seed) {}

SchedulerState::~SchedulerState() = default;

void SchedulerState::PostFromExecutor(Message&& message) {
  if (inbox.PushQuietly(std::move(message))) {
    api.executor().Post([this] { inbox.Wake(); });
  }
}

}  // namespace berth::scheduler
