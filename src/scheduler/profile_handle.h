// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "berth/in_tree/handle.h"
#include "src/binding/volume_writes.h"
#include "src/scheduler/state.h"

namespace berth::scheduler {

// One profile's Handle; see berth/in_tree/handle.h for the threads.
class ProfileHandle final : public Handle {
 public:
  // `state` must outlive the handle.
  ProfileHandle(SchedulerState& state, std::string scheduler_name, Random random)
      : state_(state), scheduler_name_(std::move(scheduler_name)), random_(random) {}

  const Clock& clock() const override { return state_.step_clock; }
  Random& random() override { return random_; }
  const Features& features() const override { return state_.features; }
  std::string_view scheduler_name() const override { return scheduler_name_; }
  const Snapshot& snapshot() const override { return state_.cluster.cache; }
  const Listers& listers() const override { return state_.cluster.objects; }
  AssumedVolumes& assumed_volumes() override { return state_.cluster.assumed_volumes; }
  ClaimTracker& claims() override { return state_.cluster.claims; }
  const MeasuredNodes& WatchNodeMetrics(const NodeMetricsSource& source) override {
    node_metrics_sources_.push_back(source);
    return state_.cluster.node_metrics.Watch(source, state_.step_clock.WallNow());
  }
  // What the profile's plugins have asked for.
  const std::vector<NodeMetricsSource>& node_metrics_sources() const {
    return node_metrics_sources_;
  }
  const PodGroupStates& pod_groups() const override { return state_.cluster.pod_groups; }
  const PodGroupForest& pod_group_forest() const override {
    return state_.cluster.pod_group_forest;
  }
  ClaimWriter& claim_writer() override { return state_.writers.claim_writes; }
  ResourceNames& resource_names() override { return state_.cluster.cache.mutable_resource_names(); }
  ReasonTable& reasons() override { return state_.reasons; }

  WaitingPod* FindWaitingPod(std::string_view uid) override {
    return state_.waiting_pods.Find(uid);
  }
  void ForEachWaitingPod(const std::function<void(WaitingPod&)>& visit) override {
    state_.waiting_pods.ForEach(visit);
  }
  void Activate(const std::vector<std::string>& pod_keys) override {
    // What a function changes is in a recording only as a message.
    if (state_.in_query) return state_.Post(PodsActivated{pod_keys});
    state_.Activate(pod_keys);
  }

  std::unique_ptr<DryRun> StartDryRun(CycleState& state, const PodInfo& pod) override;
  Result<std::vector<PreemptionCandidate>> ProcessPreemption(
      const PodInfo& pod, std::vector<PreemptionCandidate> candidates) override {
    return state_.extenders.ProcessPreemption(*pod.pod, state_.cluster.cache,
                                              std::move(candidates));
  }
  void ForEachNominatedPod(const std::function<void(const PodInfoPtr&)>& visit) override;
  void ForEachNominatedPod(std::string_view node_name,
                           const std::function<void(const PodInfoPtr&)>& visit) override;
  void ClearNominatedNode(const PodInfo& pod) override;
  std::shared_ptr<const api::Pod> FindPendingPod(std::string_view namespace_,
                                                 std::string_view name) const override;

  void EvictPod(std::shared_ptr<const api::Pod> pod, std::string message, AsyncDone done) override {
    state_.writers.evictor.Evict(std::move(pod), std::move(message), std::move(done));
  }
  bool CancelPreBind(std::string_view uid, std::string cause) override;
  void RecordEvent(const api::Pod& pod, PodEventType type, std::string_view reason,
                   std::string_view action, std::string note,
                   api::Boxed<api::ObjectReference> related) override;
  void WriteAssumed(const api::PersistentVolume& volume, Cancellation& cancellation,
                    AsyncDone done) override {
    binding::WriteAssumed(state_.api, volume, cancellation, std::move(done));
  }
  void WriteAssumed(const api::PersistentVolumeClaim& claim, Cancellation& cancellation,
                    AsyncDone done) override {
    binding::WriteAssumed(state_.api, claim, cancellation, std::move(done));
  }
  void WaitFor(ObjectWait wait, Cancellation& cancellation, AsyncDone done) override;
  void Post(PluginMessage message) override {
    std::visit([this](auto& one) { state_.Post(std::move(one)); }, message);
  }
  void RunLater(std::function<void()> work) override;

  void CountMetric(std::string_view name, std::initializer_list<std::string_view> labels,
                   double by) override;
  void ObserveMetric(std::string_view name, std::initializer_list<std::string_view> labels,
                     double value) override;
  const Clock& stopwatch() const override { return state_.clock; }
  PluginMetrics& plugin_metrics() override { return state_.metrics.registry().plugin_metrics(); }

  void BindPod(const PodInfo& pod, std::string_view node_name, Cancellation& cancellation,
               AsyncDone done) override {
    state_.writers.binder.BindPod(pod.pod, node_name, cancellation, std::move(done));
  }

 private:
  SchedulerState& state_;
  std::string scheduler_name_;
  Random random_;
  std::vector<NodeMetricsSource> node_metrics_sources_;
};

}  // namespace berth::scheduler
