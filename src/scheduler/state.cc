// SPDX-License-Identifier: Apache-2.0
#include "src/scheduler/state.h"

#include <functional>
#include <string_view>
#include <utility>

namespace berth::scheduler {
namespace {

cache::Cache::Options CacheOptions(const Features& features) {
  cache::Cache::Options options;
  options.pod_info = {.pod_level = features.pod_level_resources,
                      .pod_level_status = features.in_place_pod_level_resources_vertical_scaling};
  return options;
}

// The nominator as the engine wants to see it.
class NominatorView final : public engine::NominatedPods {
 public:
  explicit NominatorView(const queue::Nominator& nominator) : nominator_(nominator) {}
  bool empty() const override { return nominator_.empty(); }
  void ForEach(const std::function<void(std::string_view, const PodInfo&)>& visit) const override {
    nominator_.ForEach(
        [&visit](std::string_view node, const PodInfoPtr& pod) { visit(node, *pod); });
  }
  uint64_t generation() const override { return nominator_.generation(); }
  std::string_view NodeOf(std::string_view uid) const override {
    return nominator_.NominatedNode(uid);
  }
  bool GoesBefore(const PodInfo& pod, const PodInfo& other) const override {
    return nominator_.GoesBefore(pod.pod->metadata.uid, other.pod->metadata.uid);
  }

 private:
  const queue::Nominator& nominator_;
};

}  // namespace

SchedulerState::SchedulerState(const SchedulerOptions& options, const Clock& a_clock,
                               client::ApiClient& an_api, metrics::Registry& registry)
    : clock(a_clock),
      api(an_api),
      features(options.features),
      random(options.seed),
      metrics(registry),
      observer(metrics, clock),
      cache(CacheOptions(features)),
      nominator([this](const api::Pod& pod) {
        const auto known = pods.Find(pod.metadata.Key());
        return known != nullptr && known->metadata.uid == pod.metadata.uid;
      }),
      nominated(std::make_unique<NominatorView>(nominator)),
      extenders(options.extenders, clock),
      binder(api, clock, random.Next(),
             {[this](binding::BindOutcome outcome) { PostFromExecutor(std::move(outcome)); },
              [this](std::string uid) { PostFromExecutor(PreBindDone{std::move(uid)}); },
              [this](std::string uid) { PostFromExecutor(BindUnconfirmed{std::move(uid)}); }}),
      extender_bind(options.extenders, binder.context()),
      events(api, clock, random.Next(), options.hostname),
      status_patcher(api, clock, random.Next()),
      evictor(api, clock, options.seed) {}

SchedulerState::~SchedulerState() = default;

void SchedulerState::PostFromExecutor(Message message) {
  if (inbox.PushQuietly(std::move(message))) {
    api.executor().Post([this] { inbox.Wake(); });
  }
}

}  // namespace berth::scheduler
