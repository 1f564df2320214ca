// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "berth/handle.h"
#include "src/binding/binder.h"
#include "src/binding/event_recorder.h"
#include "src/binding/pod_evictor.h"
#include "src/binding/pod_status.h"
#include "src/cache/cache.h"
#include "src/cache/object_tables.h"
#include "src/engine/engine.h"
#include "src/framework/profile.h"
#include "src/framework/runtime.h"
#include "src/framework/waiting_pods.h"
#include "src/metrics/local_metrics.h"
#include "src/queue/nominator.h"
#include "src/scheduler/pod_store.h"

namespace berth::scheduler {

// What the plugins of all profiles share. Everything must outlive the handles.
struct HandleParts {
  const Clock& clock;
  const Features& features;
  cache::Cache& cache;
  const cache::ObjectTables& objects;
  const PodStore& pods;
  const queue::Nominator& nominator;
  const engine::NominatedPods& nominated;
  extender::Extenders& extenders;
  ReasonTable& reasons;
  framework::WaitingPods& waiting_pods;
  metrics::LocalMetrics& metrics;
  PluginMetrics& plugin_metrics;
  binding::Binder& binder;
  binding::EventRecorder& events;
  binding::PodStatusPatcher& status_patcher;
  binding::PodEvictor& evictor;
  // Keys of pods to move to activeQ once the running cycle is over.
  std::vector<std::string>& pods_to_activate;
  // Posts work to the scheduling thread.
  std::function<void(std::function<void()>)> post;
};

// One profile's Handle; see berth/handle.h for the threads.
class ProfileHandle final : public Handle {
 public:
  ProfileHandle(HandleParts parts, std::string scheduler_name, Random random)
      : parts_(std::move(parts)), scheduler_name_(std::move(scheduler_name)), random_(random) {}

  const Clock& clock() const override { return parts_.clock; }
  Random& random() override { return random_; }
  const Features& features() const override { return parts_.features; }
  std::string_view scheduler_name() const override { return scheduler_name_; }
  const Snapshot& snapshot() const override { return parts_.cache; }
  const Listers& listers() const override { return parts_.objects; }
  ResourceNames& resource_names() override { return parts_.cache.mutable_resource_names(); }
  ReasonTable& reasons() override { return parts_.reasons; }

  WaitingPod* FindWaitingPod(std::string_view uid) override {
    return parts_.waiting_pods.Find(uid);
  }
  void ForEachWaitingPod(const std::function<void(WaitingPod&)>& visit) override {
    parts_.waiting_pods.ForEach(visit);
  }
  void Activate(const std::vector<std::string>& pod_keys) override {
    parts_.pods_to_activate.insert(parts_.pods_to_activate.end(), pod_keys.begin(), pod_keys.end());
  }

  std::unique_ptr<DryRun> StartDryRun(CycleState& state, const PodInfo& pod) override;
  Result<std::vector<PreemptionCandidate>> ProcessPreemption(
      const PodInfo& pod, std::vector<PreemptionCandidate> candidates) override {
    return parts_.extenders.ProcessPreemption(*pod.pod, parts_.cache, std::move(candidates));
  }
  void ForEachNominatedPod(std::string_view node_name,
                           const std::function<void(const PodInfoPtr&)>& visit) override;
  void ClearNominatedNode(const PodInfo& pod) override;
  std::shared_ptr<const api::Pod> FindPendingPod(std::string_view namespace_,
                                                 std::string_view name) const override;

  void EvictPod(std::shared_ptr<const api::Pod> pod, std::string message, AsyncDone done) override {
    parts_.evictor.Evict(std::move(pod), std::move(message), std::move(done));
  }
  bool CancelPreBind(std::string_view uid, std::string cause) override {
    return parts_.binder.CancelPreBind(uid, std::move(cause));
  }
  void RecordEvent(const api::Pod& pod, bool warning, std::string_view reason,
                   std::string_view action, std::string note) override;
  void Post(std::function<void()> work) override { parts_.post(std::move(work)); }

  void CountMetric(std::string_view name, std::initializer_list<std::string_view> labels,
                   double by) override;
  void ObserveMetric(std::string_view name, std::initializer_list<std::string_view> labels,
                     double value) override;
  PluginMetrics& plugin_metrics() override { return parts_.plugin_metrics; }

  void BindPod(const PodInfo& pod, std::string_view node_name, Cancellation& cancellation,
               AsyncDone done) override {
    parts_.binder.BindPod(*pod.pod, node_name, cancellation, std::move(done));
  }

 private:
  HandleParts parts_;
  std::string scheduler_name_;
  Random random_;
};

}  // namespace berth::scheduler
