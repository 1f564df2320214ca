// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "berth/config_value.h"
#include "berth/in_tree/plugin.h"
#include "tests/support/builders.h"
#include "tests/support/fake_handle.h"
#include "tests/support/plain_snapshot.h"

namespace berth::test {

// What plugin tests share: a handle, and short ways to ask a plugin one question.
//
// PodInfo and PlainSnapshot use the handle's resource names.
class PluginFixture {
 public:
  PodInfoPtr Info(const api::Pod& pod) {
    return PodInfo::Make(
        std::make_shared<const api::Pod>(pod), handle.names,
        {.pod_level = handle.gates.pod_level_resources,
         .pod_level_status = handle.gates.in_place_pod_level_resources_vertical_scaling,
         .deferred_resizes = handle.gates.in_place_pod_vertical_scaling_scheduler_preemption});
  }
  PlainSnapshot Cluster(const std::vector<api::Node>& nodes,
                        const std::vector<api::Pod>& pods = {}) {
    return PlainSnapshot(handle.names, nodes, pods);
  }

  // PreFilter, then Filter on the only node of a cluster, `placed` on it.
  template <typename PluginType>
  Status Filter(PluginType& plugin, const api::Pod& pod, const api::Node& node,
                const std::vector<api::Pod>& placed = {}) {
    const PlainSnapshot snapshot = Cluster({node}, placed);
    state = CycleState();
    const PodInfoPtr info = Info(pod);
    const Status status = plugin.PreFilter(state, *info, snapshot).status;
    if (!status.ok()) return status;
    return plugin.Filter(state, *info, NodeView(snapshot, 0));
  }

  // PreScore, then Score on the only node of a cluster, `placed` on it.
  template <typename PluginType>
  int64_t Score(PluginType& plugin, const api::Pod& pod, const api::Node& node,
                const std::vector<api::Pod>& placed = {}) {
    const PlainSnapshot snapshot = Cluster({node}, placed);
    state = CycleState();
    const PodInfoPtr info = Info(pod);
    if (!plugin.PreScore(state, *info, snapshot, snapshot.nodes()).ok()) return -1;
    return plugin.Score(state, *info, NodeView(snapshot, 0)).score;
  }

  FakeHandle handle;
  CycleState state;
};

inline api::ObjectPtr Object(const api::Pod& pod) { return std::make_shared<const api::Pod>(pod); }
inline api::ObjectPtr Object(const api::Node& node) {
  return std::make_shared<const api::Node>(node);
}

// What the plugin's hint for an event says: "queue", "skip", "error", or "" when the plugin did not
// register the event. A registration without a hint always queues.
inline std::string Hint(const EnqueueExtensions& plugin, ClusterEvent event, const api::Pod& pod,
                        const api::ObjectPtr& old_object, const api::ObjectPtr& new_object) {
  for (const ClusterEventWithHint& registered : plugin.EventsToRegister()) {
    if (!registered.event.Matches(event)) continue;
    if (registered.hint == nullptr) return "queue";
    const Result<QueueingHint> hint = registered.hint(pod, old_object, new_object);
    if (!hint) return "error";
    return *hint == QueueingHint::kQueue ? "queue" : "skip";
  }
  return "";
}

inline constexpr ClusterEvent kNodeDelete{EventResource::kNode, action::kDelete};
inline constexpr ClusterEvent kNodeAdd{EventResource::kNode, action::kAdd};
inline constexpr ClusterEvent kNodeLabel{EventResource::kNode, action::kUpdateNodeLabel};
inline constexpr ClusterEvent kNodeTaint{EventResource::kNode, action::kUpdateNodeTaint};
inline constexpr ClusterEvent kNodeAllocatable{EventResource::kNode,
                                               action::kUpdateNodeAllocatable};
inline constexpr ClusterEvent kAssignedPodAdd{EventResource::kAssignedPod, action::kAdd};
inline constexpr ClusterEvent kAssignedPodLabel{EventResource::kAssignedPod,
                                                action::kUpdatePodLabel};
inline constexpr ClusterEvent kTargetPodLabel{EventResource::kTargetPod, action::kUpdatePodLabel};
inline constexpr ClusterEvent kAssignedPodDelete{EventResource::kAssignedPod, action::kDelete};
inline constexpr ClusterEvent kAssignedPodScaleDown{EventResource::kAssignedPod,
                                                    action::kUpdatePodScaleDown};
inline constexpr ClusterEvent kTargetPodScaleDown{EventResource::kTargetPod,
                                                  action::kUpdatePodScaleDown};
inline constexpr ClusterEvent kTargetPodToleration{EventResource::kTargetPod,
                                                   action::kUpdatePodToleration};

// A node fits the pod when what remains on it takes no more than `room` of each node's pods' cpu.
class RoomDryRun final : public DryRun {
 public:
  RoomDryRun(const Snapshot& snapshot, const PodInfo& pod, const Status& no)
      : snapshot_(snapshot), pod_(pod), no_(no) {}

  void Begin(NodeRow row) override {
    row_ = row;
    freed_ = 0;
  }
  Status RemovePod(const PodInfo& pod, NodeRow row) override {
    if (row == row_) freed_ += pod.requests.milli_cpu;
    return Status::Success();
  }
  Status AddPod(const PodInfo& pod, NodeRow row) override {
    if (row == row_) freed_ -= pod.requests.milli_cpu;
    return Status::Success();
  }
  Status Filter() override {
    const int64_t free =
        snapshot_.allocatable(kCpu)[row_] - snapshot_.requested(kCpu)[row_] + freed_;
    return pod_.requests.milli_cpu <= free ? Status::Success() : no_;
  }

 private:
  const Snapshot& snapshot_;
  const PodInfo& pod_;
  const Status no_;
  NodeRow row_ = kNoRow;
  int64_t freed_ = 0;
};

inline PodBuilder Web(std::string_view name = "web") {
  return MakePod().Name(name).Label("app", "web");
}

// So many pods labelled app=web on each of the nodes.
inline std::vector<api::Pod> WebPods(const std::vector<std::pair<std::string, int>>& on_nodes) {
  std::vector<api::Pod> pods;
  for (const auto& [node, count] : on_nodes) {
    for (int i = 0; i < count; ++i) {
      pods.push_back(Web(node + "-" + std::to_string(i)).OnNode(node));
    }
  }
  return pods;
}

// The args of a plugin: nested maps and lists, as a configuration file would give them.
inline ConfigValue Args(ConfigValue::Map map) { return ConfigValue(std::move(map)); }
inline ConfigValue Items(ConfigValue::List list) { return ConfigValue(std::move(list)); }
inline ConfigValue Item(const char* text) { return ConfigValue(std::string(text)); }
inline ConfigValue Item(int64_t number) { return ConfigValue(number); }

}  // namespace berth::test
