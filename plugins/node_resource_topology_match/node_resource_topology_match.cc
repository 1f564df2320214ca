// SPDX-License-Identifier: Apache-2.0
#include "plugins/node_resource_topology_match/node_resource_topology_match.h"

#include <algorithm>
#include <span>

#include "plugins/shared/spend_on_nodes.h"

namespace berth::plugins {
namespace {

// Whether it asks for nothing but what each node has.
bool AreUsual(const api::ResourceList& requests) {
  return std::ranges::all_of(requests, [](const auto& request) {
    return request.first == "cpu" || request.first == "memory" ||
           request.first == "ephemeral-storage" || request.second.IsZero();
  });
}

bool AsksForUsualResources(const api::Pod& pod) {
  const auto usual = [](const api::Container& container) {
    return AreUsual(container.resources.requests);
  };
  return AreUsual(pod.spec.overhead) && std::ranges::all_of(pod.spec.containers, usual) &&
         std::ranges::all_of(pod.spec.init_containers, usual);
}

}  // namespace

NodeResourceTopologyMatch::NodeResourceTopologyMatch(const NodeResourceTopologyMatchArgs& args,
                                                     Handle& handle)
    : handle_(handle),
      strategy_(args.strategy),
      weights_(args.weights),
      topologies_(args, handle.scheduler_name()),
      not_known_(handle.reasons().Make(Code::kUnschedulable, "invalid node topology data")),
      pod_(handle.reasons().Make(Code::kUnschedulable, "cannot align pod")),
      container_(handle.reasons().Make(Code::kUnschedulable, "cannot align container")),
      init_container_(handle.reasons().Make(Code::kUnschedulable, "cannot align init container")),
      sidecar_container_(
          handle.reasons().Make(Code::kUnschedulable, "cannot align sidecar container")) {}

NodeTopologies::Known NodeResourceTopologyMatch::KnownOf(const NodeView& node) const {
  return topologies_.Of(node, pre_filters_ ? nullptr : &handle_.listers());
}

PreFilterResult NodeResourceTopologyMatch::PreFilter(CycleState& state, const PodInfo& pod,
                                                     const Snapshot& snapshot) {
  Update(snapshot);
  if (topologies_.empty()) return {Status::Skip()};
  // Most pods are such: what they ask for is not worked out.
  const QosClass qos = QosClassOf(*pod.pod);
  if (qos == QosClass::kBurstable && topologies_.TakesPlainPods() &&
      AsksForUsualResources(*pod.pod)) {
    return {Status::Skip()};
  }
  if (qos == QosClass::kBestEffort && !AsksForDevices(*pod.pod)) return {Status::Skip()};
  state.Write(NumaRequestsOf(*pod.pod));
  return {Status::Success()};
}

Status NodeResourceTopologyMatch::Filter(const CycleState& state, const PodInfo& pod,
                                         const NodeView& node) const {
  const auto requests = state.ReadOr<NumaRequests>([&] { return NumaRequestsOf(*pod.pod); });
  if (requests->qos == QosClass::kBestEffort && !requests->devices) return Status::Success();
  const NodeTopologies::Known known = KnownOf(node);
  if (!known.fresh) return not_known_;
  if (known.node == nullptr || !known.node->manager.single_numa_node()) return Status::Success();
  const std::span<const NumaNode> numa_nodes = known.node->numa_nodes;
  if (!SpendOnNodes(state, requests->count, numa_nodes.size())) return OutOfBudget(state);
  switch (FindMisfit(*pod.pod, *requests, known.node->manager.scope, node.node(), numa_nodes)) {
    case Misfit::kNone:
      break;
    case Misfit::kInitContainer:
      return init_container_;
    case Misfit::kSidecarContainer:
      return sidecar_container_;
    case Misfit::kContainer:
      return container_;
    case Misfit::kPod:
      return pod_;
  }
  return Status::Success();
}

Status NodeResourceTopologyMatch::PreScore(CycleState& state, const PodInfo& pod, const Snapshot&,
                                           const NodeSet&) {
  if (pre_filters_ && topologies_.empty()) return Status::Skip();
  const auto* requests = state.Find<NumaRequests>();
  // PreFilter skipped it, and skips no Guaranteed pod; one whose resize is deferred it is not asked
  // about.
  if (pre_filters_ && requests == nullptr && !pod.resize_deferred) return Status::Skip();
  const QosClass qos = requests == nullptr ? QosClassOf(*pod.pod) : requests->qos;
  return qos == QosClass::kGuaranteed ? Status::Success() : Status::Skip();
}

ScoreResult NodeResourceTopologyMatch::Score(const CycleState& state, const PodInfo& pod,
                                             const NodeView& node) const {
  const auto requests = state.ReadOr<NumaRequests>([&] { return NumaRequestsOf(*pod.pod); });
  if (requests->qos != QosClass::kGuaranteed) return {kMaxNodeScore};
  const NodeTopologies::Known known = KnownOf(node);
  if (!known.fresh || known.node == nullptr) return {kMinNodeScore};
  const std::span<const NumaNode> numa_nodes = known.node->numa_nodes;
  const uint64_t sets = strategy_ == NumaStrategy::kLeastNumaNodes
                            ? uint64_t{1} << std::min(numa_nodes.size(), kMostZonesToCombine)
                            : 1;
  if (!SpendOnNodes(state, requests->count, numa_nodes.size() * sets)) {
    return {kMinNodeScore, OutOfBudget(state)};
  }
  return {NumaScore(*pod.pod, *requests, strategy_, weights_, known.node->manager, numa_nodes)};
}

Status NodeResourceTopologyMatch::Reserve(CycleState&, const PodInfo& pod,
                                          std::string_view node_name) {
  if (!pre_filters_) Update(handle_.snapshot());
  topologies_.Reserve(*pod.pod, node_name);
  return Status::Success();
}

void NodeResourceTopologyMatch::Unreserve(CycleState&, const PodInfo& pod,
                                          std::string_view node_name) {
  topologies_.Unreserve(*pod.pod, node_name);
}

std::string NodeResourceTopologyMatch::InTheWayOf(const api::Pod& pod, const NodeView& node) const {
  const NodeTopologies::Known known = KnownOf(node);
  if (known.node == nullptr) return "";
  // Which of several containers is too large depends on where those before it are.
  const bool one = pod.spec.containers.size() == 1 && pod.spec.init_containers.empty();
  if (!one && known.node->manager.scope == TopologyManager::Scope::kContainer) return "";
  return LackOf(NumaRequestsOf(pod), known.node->numa_nodes);
}

std::vector<ClusterEventWithHint> NodeResourceTopologyMatch::EventsToRegister() const {
  return {
      {{EventResource::kAssignedPod, action::kDelete}},
      {{EventResource::kNode, action::kAdd | action::kUpdateNodeAllocatable}},
      {{EventResource::kNodeResourceTopology, action::kAdd | action::kUpdate}},
  };
}

}  // namespace berth::plugins
