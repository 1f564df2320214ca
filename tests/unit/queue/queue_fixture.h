// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "src/base/virtual_time.h"
#include "src/cache/nominator.h"
#include "src/queue/scheduling_queue.h"
#include "tests/support/builders.h"

namespace berth::queue {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

inline constexpr ClusterEvent kNodeAdd = {EventResource::kNode, action::kAdd};
inline constexpr ClusterEvent kNodeTaint = {EventResource::kNode, action::kUpdateNodeTaint};
inline constexpr ClusterEvent kAssignedPodDelete = {EventResource::kAssignedPod, action::kDelete};
inline constexpr ClusterEvent kWildcard = {EventResource::kWildcard, action::kAll};

inline PodInfoPtr MakeInfo(std::shared_ptr<const api::Pod> pod) {
  auto info = std::make_shared<PodInfo>();
  info->pod_priority = pod->priority();
  info->pod = std::move(pod);
  return info;
}

// A pod whose UID is "uid-<name>".
inline test::PodBuilder NamedPod(std::string_view name, int32_t priority = 0) {
  return test::MakePod().Name(name).Uid("uid-" + std::string(name)).Priority(priority);
}

inline std::string Key(std::string_view name) { return "default/" + std::string(name); }

inline bool PriorityLess(const QueueSortKey& a, const QueueSortKey& b) {
  if (a.pod->priority() != b.pod->priority()) return a.pod->priority() > b.pod->priority();
  return a.timestamp < b.timestamp;
}

// A queue with three plugins that register for events, and a PreEnqueue that gates by pod name:
//   Fit    Node/Add, AssignedPod/Delete: always
//   Taint  Node/Add|UpdateNodeTaint, TargetPod/Update: as `taint_hint` says, by class
//   Gate   TargetPod/Update, Node/UpdateNodeTaint: always
//   Warden Node/UpdateNodeTaint: always; tells of its gates in `moved_gates`
// "Mute" registers for nothing.
class QueueTest : public ::testing::Test {
 protected:
  QueueTest() { Make({}); }

  void Make(QueueOptions options, QueueMetrics metrics = {}) {
    QueueHooks hooks;
    hooks.less = PriorityLess;
    hooks.pre_enqueue = [this](const PodInfo& pod, std::string_view last) {
      last_gating_seen = last;
      ++pre_enqueue_calls;
      auto found = gated_by.find(pod.pod->metadata.name);
      return PreEnqueueResult{found == gated_by.end() ? "" : found->second};
    };
    hooks.reclass = [this](PodInfoPtr pod) {
      auto classed = std::make_shared<PodInfo>(*pod);
      const auto found = class_of.find(pod->pod->metadata.name);
      if (found != class_of.end()) classed->pod_class = found->second;
      return classed;
    };
    const QueueingHintFn taint = [this](const api::Pod& pod, const api::ObjectPtr&,
                                        const api::ObjectPtr&) {
      hint_calls.push_back(pod.metadata.name);
      return taint_hint;
    };
    const ClusterEvent target = {EventResource::kTargetPod, action::kUpdate};
    hooks.profiles = {
        {"default-scheduler",
         {{"Fit", {kNodeAdd, nullptr}},
          {"Fit", {kAssignedPodDelete, nullptr}},
          {"Taint", {{EventResource::kNode, action::kAdd | action::kUpdateNodeTaint}, taint}, true},
          {"Taint", {target, taint}, true},
          {"Gate", {target, nullptr}},
          {"Gate", {kNodeTaint, nullptr}},
          {"Warden", {kNodeTaint, nullptr}, true, true}}}};
    hooks.take_moved_gates = [this](std::vector<std::string>& pod_keys) {
      for (const std::string& name : std::exchange(moved_gates, {})) pod_keys.push_back(Key(name));
    };
    queue = std::make_unique<SchedulingQueue>(options, std::move(hooks), nominator,
                                              std::move(metrics), clock.Now());
  }

  Time now() const { return clock.Now(); }
  // Moves the clock and runs what falls due on the way, second by second.
  void Advance(Duration by) {
    const Time end = now() + by;
    while (now() < end) {
      clock.Set(std::min<Time>(end, std::chrono::floor<seconds>(now()) + seconds(1)));
      queue->Tick(now());
    }
  }

  void Add(std::string_view name, int32_t priority = 0) {
    queue->Add(MakeInfo(NamedPod(name, priority).Ptr()), now());
  }
  // The name of the popped pod, which is then kept in `popped`; "" for none.
  std::string Pop() {
    auto pod = queue->Pop();
    if (pod == nullptr) return "";
    const std::string name = pod->pod().metadata.name;
    popped[name] = std::move(pod);
    return name;
  }
  // Returns a popped pod, rejected by these.
  Place Reject(const std::string& name, std::vector<std::string> unschedulable,
               std::vector<std::string> pending = {}) {
    auto pod = std::move(popped[name]);
    pod->ClearRejectorPlugins();
    pod->unschedulable_plugins = std::move(unschedulable);
    pod->pending_plugins = std::move(pending);
    return queue->AddUnschedulablePodIfNotPresent(std::move(pod), now());
  }
  // Adds, pops and rejects a pod, of a higher priority than any before unless told.
  Place Park(const std::string& name, std::vector<std::string> unschedulable,
             std::vector<std::string> pending = {}, int32_t priority = 0) {
    Add(name, priority != 0 ? priority : ++last_priority);
    EXPECT_EQ(Pop(), name);
    return Reject(name, std::move(unschedulable), std::move(pending));
  }
  void Move(const ClusterEvent& event) {
    queue->MoveAllToActiveOrBackoffQueue(event, {}, {}, now());
  }
  void Update(const test::PodBuilder& old_pod, const test::PodBuilder& new_pod) {
    queue->Update(old_pod.Ptr(), MakeInfo(new_pod.Ptr()), now());
  }
  Place Where(std::string_view name) const { return queue->WhereIs(Key(name)); }

  base::VirtualClock clock;
  cache::Nominator nominator;
  std::unique_ptr<SchedulingQueue> queue;
  std::map<std::string, std::string> gated_by;  // pod name to plugin
  std::vector<std::string> moved_gates;         // pod names
  std::map<std::string, PodClassId> class_of;   // by pod name; others are in none
  std::string last_gating_seen;
  int pre_enqueue_calls = 0;
  int32_t last_priority = 1000;
  Result<QueueingHint> taint_hint = QueueingHint::kQueue;
  std::vector<std::string> hint_calls;
  std::map<std::string, std::unique_ptr<QueuedPod>> popped;
};

}  // namespace berth::queue
