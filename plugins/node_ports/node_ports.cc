// SPDX-License-Identifier: Apache-2.0
#include "plugins/node_ports/node_ports.h"

#include <algorithm>
#include <span>

#include "plugins/shared/hint_objects.h"

namespace berth::plugins {
namespace {

bool Conflict(std::span<const HostPort> wanted, std::span<const HostPort> used) {
  return std::any_of(wanted.begin(), wanted.end(), [used](const HostPort& port) {
    return std::any_of(used.begin(), used.end(),
                       [&port](const HostPort& other) { return port.ConflictsWith(other); });
  });
}

Result<QueueingHint> AfterPodDelete(const api::Pod& pod, const api::ObjectPtr& old_object) {
  const auto change = AsChange<api::Pod>(old_object, {});
  if (!change) return Fail(change.error());
  const api::Pod& deleted = *change->old_object;
  if (!IsPlaced(deleted)) return QueueingHint::kQueueSkip;
  return QueueIf(Conflict(HostPorts(pod), HostPorts(deleted)));
}

}  // namespace

Inputs NodePorts::DeclaredInputs() const {
  return Inputs::Of(pod_part::kHostPorts, {{Reach::kUsage}});
}

PreFilterResult NodePorts::PreFilter(CycleState&, const PodInfo& pod, const Snapshot&) {
  if (pod.host_ports.empty()) return {.status = Status::Skip()};
  return {};
}

Status NodePorts::Filter(const CycleState&, const PodInfo& pod, const NodeView& node) const {
  bool conflict = false;
  if (node.overlay() == nullptr) {
    conflict = Conflict(pod.host_ports, node.snapshot().host_ports(node.row()));
  } else {
    node.ForEachPod([&](const PodInfo& other) {
      conflict = conflict || Conflict(pod.host_ports, other.host_ports);
    });
  }
  return conflict ? rejection_ : Status::Success();
}

Status NodePorts::FilterNodes(const CycleState&, const PodInfo& pod, const Snapshot& snapshot,
                              NodeSet& nodes) const {
  if (pod.host_ports.empty()) return {};
  const NodeSet& with_ports = snapshot.nodes_with_host_ports();
  nodes.Filter([&](NodeRow row) {
    return !with_ports.Test(row) || !Conflict(pod.host_ports, snapshot.host_ports(row));
  });
  return {};
}

std::vector<ClusterEventWithHint> NodePorts::EventsToRegister() const {
  return {
      {{EventResource::kAssignedPod, action::kDelete},
       [](const api::Pod& pod, const api::ObjectPtr& old_object, const api::ObjectPtr&) {
         return AfterPodDelete(pod, old_object);
       }},
      {{EventResource::kNode, action::kAdd}, nullptr},
  };
}

}  // namespace berth::plugins
