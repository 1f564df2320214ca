// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "berth/check.h"
#include "berth/in_tree/handle.h"
#include "src/base/virtual_time.h"
#include "src/cache/claim_table.h"
#include "src/cache/pod_group_forest.h"
#include "src/cache/pod_group_states.h"
#include "src/metrics/plugin_metric_table.h"
#include "tests/support/fake_claim_writer.h"
#include "tests/support/plain_assumed_volumes.h"
#include "tests/support/plain_listers.h"
#include "tests/support/plain_resource_names.h"

namespace berth::test {

// A cancellation that is pulled by hand.
class FakeCancellation final : public Cancellation {
 public:
  bool cancelled() const override { return cancelled_; }
  void OnCancel(std::function<void()> hook) override {
    if (cancelled_) {
      hook();
    } else {
      hooks_.push_back(std::move(hook));
    }
  }
  void Cancel() {
    cancelled_ = true;
    for (auto& hook : std::exchange(hooks_, {})) hook();
  }

 private:
  bool cancelled_ = false;
  std::vector<std::function<void()>> hooks_;
};

// What a test says that nodes are measured to use.
class FakeMeasuredNodes final : public MeasuredNodes {
 public:
  const NodeMetrics* Find(std::string_view node_name) const override {
    const auto found = nodes.find(node_name);
    return found == nodes.end() ? nullptr : &found->second;
  }
  std::span<const std::shared_ptr<const api::Pod>> UnmeasuredPods(
      std::string_view node_name) const override {
    const auto found = unmeasured.find(node_name);
    if (found == unmeasured.end()) return {};
    return found->second;
  }

  std::map<std::string, NodeMetrics, std::less<>> nodes;
  std::map<std::string, std::vector<std::shared_ptr<const api::Pod>>, std::less<>> unmeasured;
};

// A Handle for plugin tests: a clock that stands still, seed 1, default features; what plugins ask
// for is recorded in the public members. Thread safety: one owner.
class FakeHandle final : public Handle {
 public:
  struct Eviction {
    std::shared_ptr<const api::Pod> pod;
    std::string message;
    AsyncDone done;
  };
  struct Bind {
    PodInfo pod;
    std::string node_name;
    AsyncDone done;
  };
  // The volume or the claim that was to be written.
  struct Write {
    std::shared_ptr<const api::PersistentVolume> volume;
    std::shared_ptr<const api::PersistentVolumeClaim> claim;
    AsyncDone done;
  };
  struct Wait {
    ObjectWait wait;
    Cancellation* cancellation = nullptr;
    AsyncDone done;
  };

  const Clock& clock() const override { return virtual_clock; }
  Random& random() override { return seeded_random; }
  const Features& features() const override { return gates; }
  std::string_view scheduler_name() const override { return "default-scheduler"; }
  const Snapshot& snapshot() const override {
    BERTH_CHECK(current_snapshot != nullptr, "the test set no snapshot");
    return *current_snapshot;
  }
  const Listers& listers() const override { return plain_listers; }
  AssumedVolumes& assumed_volumes() override { return assumed; }
  ClaimTracker& claims() override { return claim_table; }
  const PodGroupStates& pod_groups() const override { return group_states; }
  const PodGroupForest& pod_group_forest() const override { return group_forest; }
  ClaimWriter& claim_writer() override { return claims_written; }
  // One table for all sources, unless the test sets others.
  const MeasuredNodes& WatchNodeMetrics(const NodeMetricsSource& source) override {
    watched_sources.push_back(source);
    return watch_node_metrics == nullptr ? measured : watch_node_metrics(source);
  }
  // The API server shows the claim.
  void ShowClaim(api::ResourceClaim claim) {
    plain_listers.Set(claim);
    claim_table.Show(std::make_shared<const api::ResourceClaim>(std::move(claim)));
  }
  ResourceNames& resource_names() override { return names; }
  ReasonTable& reasons() override { return reason_table; }

  WaitingPod* FindWaitingPod(std::string_view uid) override {
    for (WaitingPod* pod : waiting_pods) {
      if (pod->pod().pod->metadata.uid == uid) return pod;
    }
    return nullptr;
  }
  void ForEachWaitingPod(const std::function<void(WaitingPod&)>& visit) override {
    for (WaitingPod* pod : waiting_pods) visit(*pod);
  }
  void Activate(const std::vector<std::string>& pod_keys) override {
    activated.insert(activated.end(), pod_keys.begin(), pod_keys.end());
  }
  // The test sets what imagines pods away.
  std::unique_ptr<DryRun> StartDryRun(CycleState& state, const PodInfo& pod) override {
    BERTH_CHECK(make_dry_run != nullptr, "the test set no dry run");
    return make_dry_run(state, pod);
  }
  void ForEachNominatedPod(std::string_view node_name,
                           const std::function<void(const PodInfoPtr&)>& visit) override {
    for (const auto& [node, pod] : nominated_pods) {
      if (node == node_name) visit(pod);
    }
  }
  void ForEachNominatedPod(const std::function<void(const PodInfoPtr&)>& visit) override {
    for (const auto& [node, pod] : nominated_pods) visit(pod);
  }
  void ClearNominatedNode(const PodInfo& pod) override {
    cleared_nominations.push_back(pod.pod->metadata.Key());
  }
  std::shared_ptr<const api::Pod> FindPendingPod(std::string_view namespace_,
                                                 std::string_view name) const override {
    for (const auto& pod : pending_pods) {
      if (pod->metadata.namespace_ == namespace_ && pod->metadata.name == name) return pod;
    }
    return nullptr;
  }
  std::unique_ptr<MovesTrial> StartMovesTrial(CycleState&) override {
    BERTH_CHECK(false, "moves are tried in a cache: see tests/unit/scheduler");
    return nullptr;
  }
  // The test calls `done` of the recorded eviction.
  void EvictPod(std::shared_ptr<const api::Pod> pod, std::string message, AsyncDone done) override {
    evictions.push_back({std::move(pod), std::move(message), std::move(done)});
  }
  void AskForEviction(std::shared_ptr<const api::Pod> pod, AsyncDone done) override {
    evictions.push_back({std::move(pod), "", std::move(done)});
  }
  void HoldPlace(std::shared_ptr<const api::Pod> leaving, std::string_view node_name) override {
    held_places.insert_or_assign(leaving->metadata.uid, std::string(node_name));
  }
  void GiveBackPlace(std::string_view leaving_uid) override {
    held_places.erase(std::string(leaving_uid));
  }
  bool CancelPreBind(std::string_view uid, std::string) override {
    return std::erase(pods_in_pre_bind, uid) > 0;
  }
  void RecordEvent(const api::Pod& pod, PodEventType, std::string_view reason, std::string_view,
                   std::string note, api::Boxed<api::ObjectReference> related) override {
    events.push_back(pod.metadata.name + " " + std::string(reason) + ": " + note);
    if (related) events.back() += " (" + related->kind + " " + related->name + ")";
  }
  // The test calls `done` of the recorded write or wait.
  void WriteAssumed(const api::PersistentVolume& volume, Cancellation&, AsyncDone done) override {
    writes.push_back(
        {std::make_shared<const api::PersistentVolume>(volume), nullptr, std::move(done)});
  }
  void WriteAssumed(const api::PersistentVolumeClaim& claim, Cancellation&,
                    AsyncDone done) override {
    writes.push_back(
        {nullptr, std::make_shared<const api::PersistentVolumeClaim>(claim), std::move(done)});
  }
  void WaitFor(ObjectWait wait, Cancellation& cancellation, AsyncDone done) override {
    waits.push_back({std::move(wait), &cancellation, std::move(done)});
  }
  // Kept until RunPosted(), which carries the messages out as the scheduling thread does.
  void Post(PluginMessage message) override { posted.push_back(std::move(message)); }
  void RunPosted() {
    while (!posted.empty()) {
      for (const PluginMessage& message : std::exchange(posted, {})) {
        std::visit([this](const auto& one) { Take(one); }, message);
      }
    }
  }
  // At once, unless the test is within a cycle.
  void RunLater(std::function<void()> work) override {
    if (in_cycle) {
      after_cycle.push_back(std::move(work));
    } else {
      work();
    }
  }
  void EndCycle() {
    in_cycle = false;
    for (const auto& work : std::exchange(after_cycle, {})) work();
  }
  void CountMetric(std::string_view name, std::initializer_list<std::string_view> labels,
                   double by) override {
    Metric(name, labels) += by;
  }
  void ObserveMetric(std::string_view name, std::initializer_list<std::string_view> labels,
                     double value) override {
    Metric(name, labels) += value;
  }
  const Clock& stopwatch() const override { return clock(); }
  PluginMetrics& plugin_metrics() override { return own_metrics; }
  // The sum of a metric; labels joined by commas.
  double& Metric(std::string_view name, std::initializer_list<std::string_view> labels) {
    std::string key(name);
    for (const std::string_view label : labels) key += "," + std::string(label);
    return metrics[key];
  }

  // The test calls `done` of the recorded bind.
  void BindPod(const PodInfo& pod, std::string_view node_name, Cancellation&,
               AsyncDone done) override {
    binds.push_back({pod, std::string(node_name), std::move(done)});
  }

  base::VirtualClock virtual_clock;
  Random seeded_random{1};
  Features gates;
  const Snapshot* current_snapshot = nullptr;
  PlainListers plain_listers;
  PlainAssumedVolumes assumed{plain_listers};
  cache::ClaimTable claim_table{plain_listers};
  cache::PodGroupStates group_states;
  cache::PodGroupForest group_forest{true};
  FakeClaimWriter claims_written;
  FakeMeasuredNodes measured;
  std::vector<NodeMetricsSource> watched_sources;
  std::function<const MeasuredNodes&(const NodeMetricsSource&)> watch_node_metrics;
  PlainResourceNames names;
  ReasonTable reason_table;
  std::vector<WaitingPod*> waiting_pods;
  std::vector<std::string> activated;
  std::vector<Bind> binds;
  std::vector<Write> writes;
  std::vector<Wait> waits;
  std::function<std::unique_ptr<DryRun>(CycleState&, const PodInfo&)> make_dry_run;
  std::vector<std::pair<std::string, PodInfoPtr>> nominated_pods;
  std::vector<std::string> cleared_nominations;
  std::vector<std::shared_ptr<const api::Pod>> pending_pods;
  std::vector<Eviction> evictions;
  std::map<std::string, std::string> held_places;  // nodes, by UID of the pods that leave
  std::vector<std::string> pods_in_pre_bind;
  std::vector<std::string> events;
  std::vector<PluginMessage> posted;
  std::function<void(const EvictionAnswered&)> on_eviction_answered;
  bool in_cycle = false;
  std::vector<std::function<void()>> after_cycle;
  std::map<std::string, double> metrics;
  berth::metrics::PluginMetricTable own_metrics;

 private:
  void Take(const PodsActivated& pods) { Activate(pods.pod_keys); }
  void Take(const ClaimWritten& written) { (void)claim_table.Assume(written.claim); }
  void Take(const ClaimsSettled& settled) {
    for (const std::string& uid : settled.uids) {
      claim_table.RemovePending(uid, ClaimTracker::Sharers::kAll);
    }
  }
  void Take(const VolumeWritten& stored) { assumed.NoteWritten(stored); }
  void Take(const EvictionAnswered& answered) { on_eviction_answered(answered); }
  void Take(const NodesMeasured& told) {
    measured.nodes.clear();
    for (const NodeMetrics& node : told.nodes) measured.nodes.emplace(node.name, node);
  }
};

}  // namespace berth::test
