// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/scheduler/parts_fixture.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "plugins/in_tree_registry.h"
#include "src/config/load.h"
#include "tests/support/default_plugins.h"

namespace berth::test {

PartsFixture::PartsFixture() : plugins_(plugins::InTreeRegistry()) {
  options_.configuration = config::DefaultConfiguration({test::DefaultPlugins()});
  options_.seed = 1;
  options_.hostname = "test-host";
  Restart();
}

PartsFixture::~PartsFixture() = default;

void PartsFixture::Restart() {
  queue_.reset();
  profiles_.reset();
  state_.reset();
  api_ = std::make_unique<FakeApi>(executor_);
  metrics_ = std::make_unique<metrics::Registry>();
  state_ =
      std::make_unique<scheduler::SchedulerState>(options_, clock_, *api_, *metrics_, plugins_);
  auto made = scheduler::Profiles::Make(options_.configuration, plugins_, *state_);
  ASSERT_TRUE(made) << made.error().message;
  profiles_.emplace(std::move(*made));
  state_->cluster.cache.SetSignatureParts(profiles_->signature_parts());
  queue::QueueHooks hooks;
  hooks.less = [sort = profiles_->queue_sort().plugin](
                   const QueueSortKey& a, const QueueSortKey& b) { return sort->Less(a, b); };
  hooks.profiles = profiles_->Hints();
  queue_ = std::make_unique<queue::SchedulingQueue>(
      queue::QueueOptions{}, std::move(hooks), state_->cluster.nominator,
      queue::QueueMetrics(&state_->metrics, &clock_), clock_.Now());
}

void PartsFixture::AddPod(const std::shared_ptr<const api::Pod>& pod) {
  state_->cluster.pods.Set(state_->cluster.cache.MakePodInfo(pod));
  queue_->Add(state_->cluster.cache.MakePodInfo(pod), clock_.Now());
}

scheduler::Attempt PartsFixture::Pop() {
  scheduler::Attempt attempt;
  attempt.queued = queue_->Pop();
  if (attempt.queued == nullptr) {
    ADD_FAILURE() << "no pod is ready";
    return attempt;
  }
  attempt.profile = profiles_->Find(attempt.pod().spec.scheduler_name);
  attempt.start = clock_.Now();
  return attempt;
}

std::vector<PartsFixture::Written> PartsFixture::Requests() {
  executor_.RunDue();
  std::vector<Written> requests;
  for (size_t i = 0; i < api_->size(); ++i) {
    const client::Request& request = api_->at(i).request;
    const char* verb = request.verb == client::Verb::kCreate   ? "POST "
                       : request.verb == client::Verb::kDelete ? "DELETE "
                       : request.verb == client::Verb::kGet    ? "GET "
                                                               : "PATCH ";
    requests.push_back({verb + request.path, request.body});
  }
  return requests;
}

std::vector<std::string> PartsFixture::Events(std::string_view reason) {
  std::vector<std::string> notes;
  for (const Written& written : Requests()) {
    if (!written.request.starts_with("POST /apis/events.k8s.io/")) continue;
    const auto event = nlohmann::json::parse(written.body);
    if (event["reason"] == reason) notes.push_back(event["note"]);
  }
  return notes;
}

std::vector<std::string> PartsFixture::StatusPatches(std::string_view pod_name) {
  const std::string end = "/pods/" + std::string(pod_name) + "/status";
  std::vector<std::string> bodies;
  for (const Written& written : Requests()) {
    if (written.request.ends_with(end)) bodies.push_back(written.body);
  }
  return bodies;
}

std::string PartsFixture::Metrics() {
  state_->metrics.Publish();
  return metrics_->Exposition();
}

}  // namespace berth::test
