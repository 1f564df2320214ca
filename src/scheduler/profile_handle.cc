// SPDX-License-Identifier: Apache-2.0
#include "src/scheduler/profile_handle.h"

#include <utility>

#include "berth/check.h"
#include "src/engine/dry_run.h"

namespace berth::scheduler {
namespace {

metrics::Metric MetricNamed(std::string_view name) {
  auto metric = metrics::FindMetric("scheduler_" + std::string(name));
  if (!metric) metric = metrics::FindMetric(name);
  BERTH_CHECK(metric.has_value(), "a plugin counts in a metric that is not in the table");
  return *metric;
}

}  // namespace

std::unique_ptr<DryRun> ProfileHandle::StartDryRun(CycleState& state, const PodInfo& pod) {
  const auto& asked = state.Read<framework::PostFilterCycle>();
  BERTH_CHECK(&asked.cycle.state == &state, "a dry run belongs to the PostFilter that asks for it");
  return std::make_unique<engine::PreemptionDryRun>(
      asked.profile, asked.cycle, pod,
      engine::ClusterState{state_.cluster.cache, state_.cluster.nominator});
}

void ProfileHandle::ForEachNominatedPod(std::string_view node_name,
                                        const std::function<void(const PodInfoPtr&)>& visit) {
  for (const PodInfoPtr& pod : state_.cluster.nominator.NominatedPodsForNode(node_name)) visit(pod);
}

void ProfileHandle::ForEachNominatedPod(const std::function<void(const PodInfoPtr&)>& visit) {
  state_.cluster.nominator.ForEach(
      [&visit](std::string_view, const PodInfoPtr& pod) { visit(pod); });
}

void ProfileHandle::ClearNominatedNode(const PodInfo& pod) {
  api::PodStatusChange change;
  change.nominated_node_name = "";
  state_.writers.status_patcher.Patch(pod.pod, std::move(change));
}

std::shared_ptr<const api::Pod> ProfileHandle::FindPendingPod(std::string_view namespace_,
                                                              std::string_view name) const {
  return state_.cluster.pods.Find(api::NamespacedKey(namespace_, name));
}

void ProfileHandle::RecordEvent(const api::Pod& pod, PodEventType type, std::string_view reason,
                                std::string_view action, std::string note,
                                api::Boxed<api::ObjectReference> related) {
  state_.writers.events.Record({.regarding = binding::ReferenceTo(pod),
                                .related = std::move(related),
                                .controller = scheduler_name_,
                                .warning = type == PodEventType::kWarning,
                                .reason = std::string(reason),
                                .action = std::string(action),
                                .note = std::move(note),
                                // A pod is bound once.
                                .may_repeat = reason != "Scheduled"});
}

bool ProfileHandle::CancelPreBind(std::string_view uid, std::string cause) {
  const auto ask = [&] { return state_.writers.binder.CancelPreBind(uid, std::move(cause)); };
  return state_.tape == nullptr ? ask() : state_.tape->CancelPreBind(uid, ask);
}

// A replay repeats the cycle, and with it what is asked for there.
void ProfileHandle::RunLater(std::function<void()> work) {
  if (state_.step_clock.OnStep() && state_.in_cycle) {
    state_.after_cycle.push_back(std::move(work));
  } else {
    state_.Post(Query{std::move(work)});
  }
}

// `cancellation` lives until `done` is called.
void ProfileHandle::WaitFor(ObjectWait wait, Cancellation& cancellation, AsyncDone done) {
  state_.Post(Query{
      [&state = state_, wait = std::move(wait), &cancellation, done = std::move(done)]() mutable {
        if (cancellation.cancelled()) {
          done(std::move(wait.cancelled));
          return;
        }
        const auto id = state.object_waits.Add(std::move(wait), done, state.clock.Now());
        if (!id) return;
        cancellation.OnCancel([&state, id = *id] {
          state.Post(Query{[&state, id] { state.object_waits.Cancel(id); }});
        });
      }});
}

void ProfileHandle::CountMetric(std::string_view name,
                                std::initializer_list<std::string_view> labels, double by) {
  const metrics::Metric metric = MetricNamed(name);
  if (state_.step_clock.OnStep()) {
    state_.metrics.Add(state_.metrics.Series(metric, labels), by);
  } else {
    metrics::Registry& shared = state_.metrics.registry();
    shared.Add(shared.Intern(metric, labels), by);
  }
}

void ProfileHandle::ObserveMetric(std::string_view name,
                                  std::initializer_list<std::string_view> labels, double value) {
  const metrics::Metric metric = MetricNamed(name);
  if (state_.step_clock.OnStep()) {
    state_.metrics.Observe(state_.metrics.Series(metric, labels), value);
  } else {
    metrics::Registry& shared = state_.metrics.registry();
    shared.Observe(shared.Intern(metric, labels), value);
  }
}

}  // namespace berth::scheduler
