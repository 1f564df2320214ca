// SPDX-License-Identifier: Apache-2.0
#include "plugins/node_ports/node_ports.h"

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "plugins/shared/hint_objects.h"
#include "plugins/shared/spend_on_nodes.h"

namespace berth::plugins {
namespace {

constexpr std::string_view kAnyAddress = "0.0.0.0";
// So few comparisons need no order.
constexpr size_t kFewComparisons = 64;

std::vector<const HostPort*> ByPort(std::span<const HostPort> ports) {
  std::vector<const HostPort*> sorted;
  sorted.reserve(ports.size());
  for (const HostPort& port : ports) sorted.push_back(&port);
  std::ranges::sort(sorted, {}, &HostPort::port);
  return sorted;
}

// A port may be used at many addresses, and a pod may want it at many.
bool ConflictByPort(std::span<const HostPort> wanted, std::span<const HostPort> used) {
  const auto key = [](const HostPort& port) { return port.protocol + "/" + port.ip; };
  const std::vector<const HostPort*> ours = ByPort(wanted);
  const std::vector<const HostPort*> theirs = ByPort(used);
  auto their = theirs.begin();
  for (auto our = ours.begin(); our != ours.end();) {
    const int32_t port = (*our)->port;
    while (their != theirs.end() && (*their)->port < port) ++their;
    // By protocol: the addresses, and whether any is.
    absl::flat_hash_set<std::string> at;
    absl::flat_hash_set<std::string_view> protocols;
    for (; their != theirs.end() && (*their)->port == port; ++their) {
      at.insert(key(**their));
      protocols.insert((*their)->protocol);
    }
    for (; our != ours.end() && (*our)->port == port; ++our) {
      if (!protocols.contains((*our)->protocol)) continue;
      if ((*our)->ip == kAnyAddress || at.contains(key(**our)) ||
          at.contains((*our)->protocol + "/" + std::string(kAnyAddress))) {
        return true;
      }
    }
  }
  return false;
}

bool Conflict(std::span<const HostPort> wanted, std::span<const HostPort> used) {
  if (wanted.size() * used.size() > kFewComparisons) return ConflictByPort(wanted, used);
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

PreFilterResult NodePorts::PreFilter(CycleState&, const PodInfo& pod, const Snapshot&) {
  if (pod.host_ports.empty()) return {.status = Status::Skip()};
  return {};
}

Status NodePorts::Filter(const CycleState& state, const PodInfo& pod, const NodeView& node) const {
  const size_t used = node.snapshot().host_ports(node.row()).size();
  if (used > 0 && !SpendOnNodes(state, pod.host_ports.size() + used)) return OutOfBudget(state);
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

Status NodePorts::FilterNodes(const CycleState& state, const PodInfo& pod, const Snapshot& snapshot,
                              NodeSet& nodes) const {
  if (pod.host_ports.empty()) return {};
  const NodeSet& with_ports = snapshot.nodes_with_host_ports();
  if (!SpendOnNodes(state, pod.host_ports.size(), with_ports.Count())) return OutOfBudget(state);
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
