// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "berth/api/object.h"
#include "berth/config_value.h"
#include "berth/counts.h"
#include "berth/in_tree/cycle_state.h"
#include "berth/in_tree/handle.h"
#include "berth/label_selector.h"
#include "berth/loadable/abi.h"
#include "berth/snapshot.h"

// What stands behind the names of berth/loadable/abi.h: the SDK's own types as views, and back. A
// plugin holds the pointers only for as long as abi.h says.

struct berth_host_text {
  std::string text;
  bool set = false;
};

struct berth_host_verdict {
  berth::ReasonSet reasons;
};

struct berth_host_names {
  std::optional<std::vector<std::string>> names;
};

struct berth_host_selector {
  berth::LabelSelectorMatcher matcher;
};

// Counts that change with the cluster, or a copy that does not.
struct berth_host_counts {
  std::shared_ptr<const berth::PodCounts> kept;
  berth::Counts copy;
  const berth::Counts& counts() const { return kept == nullptr ? copy : kept->by_row(); }
};

struct berth_host_events {
  std::vector<berth_cluster_event> events;
};

namespace berth::framework::loadable {

// The struct that `given` points to as this version knows it: members that an older one does not
// have are zero.
template <typename T>
T Grown(const T* given) {
  T known{};
  std::memcpy(static_cast<void*>(&known), given, std::min(given->size, sizeof(T)));
  return known;
}

inline berth_string View(std::string_view text) { return {text.data(), text.size()}; }
inline std::string_view Text(berth_string text) {
  return text.data == nullptr ? std::string_view() : std::string_view(text.data, text.size);
}

inline berth_pod View(const PodInfo& pod) { return {pod.pod.get(), &pod}; }
inline const api::Pod& PodOf(const berth_pod* pod) {
  return *static_cast<const api::Pod*>(pod->object);
}
inline const PodInfo& InfoOf(const berth_pod* pod) {
  return *static_cast<const PodInfo*>(pod->info);
}

inline berth_node View(const NodeView& node) {
  return {&node.node(), &node.snapshot(), node.overlay(), node.row(), 0};
}
inline const api::Node& NodeOf(const berth_node* node) {
  return *static_cast<const api::Node*>(node->object);
}
// nullopt for a node of an event, which stands in no snapshot.
inline std::optional<NodeView> RowOf(const berth_node* node) {
  if (node->nodes == nullptr) return std::nullopt;
  return NodeView(*static_cast<const Snapshot*>(node->nodes), node->row,
                  static_cast<const Overlay*>(node->overlay));
}

inline berth_map View(const api::StringMap& map) { return {&map}; }

inline const berth_nodes* View(const Snapshot& snapshot) {
  return reinterpret_cast<const berth_nodes*>(&snapshot);
}
inline const Snapshot& SnapshotOf(const berth_nodes* nodes) {
  return *reinterpret_cast<const Snapshot*>(nodes);
}

inline const berth_statuses* View(const NodeToStatus& statuses) {
  return reinterpret_cast<const berth_statuses*>(&statuses);
}

inline const berth_value* View(const ConfigValue& value) {
  return reinterpret_cast<const berth_value*>(&value);
}
inline const ConfigValue& ValueOf(const berth_value* value) {
  return *reinterpret_cast<const ConfigValue*>(value);
}

// An object of an event: a pod comes with its PodInfo.
struct EventObject {
  const api::ObjectPtr* object = nullptr;
  PodInfoPtr info;
};
inline berth_object View(const EventObject& object) { return {&object}; }
inline const EventObject& ObjectOf(const berth_object* object) {
  return *static_cast<const EventObject*>(object->object);
}

inline berth_waiting_pod* View(WaitingPod& pod) {
  return reinterpret_cast<berth_waiting_pod*>(&pod);
}
inline WaitingPod& WaitingPodOf(berth_waiting_pod* pod) {
  return *reinterpret_cast<WaitingPod*>(pod);
}

// A berth_task as a function. Copies share it; `drop` runs with the last of them.
class Task {
 public:
  explicit Task(berth_task task) : task_(std::make_shared<Holder>(task)) {}
  void operator()() const {
    if (task_->task.run != nullptr) task_->task.run(task_->task.context);
  }

 private:
  struct Holder {
    explicit Holder(berth_task given) : task(given) {}
    ~Holder() {
      if (task.drop != nullptr) task.drop(task.context);
    }
    Holder(const Holder&) = delete;
    Holder& operator=(const Holder&) = delete;
    berth_task task;
  };
  std::shared_ptr<Holder> task_;
};

}  // namespace berth::framework::loadable
