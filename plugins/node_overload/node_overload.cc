// SPDX-License-Identifier: Apache-2.0
#include "plugins/node_overload/node_overload.h"

#include <algorithm>
#include <optional>

namespace berth::plugins {
namespace {

bool IsAbove(const MeasuredResource& measured, std::optional<int64_t> threshold) {
  return measured.known && threshold && measured.average > static_cast<double>(*threshold);
}

}  // namespace

NodeOverload::NodeOverload(const NodeOverloadArgs& args, Handle& handle)
    : args_(args),
      measured_(handle.WatchNodeMetrics(args.source)),
      cpu_(handle.reasons().Make(Code::kUnschedulableAndUnresolvable,
                                 "node(s) were measured to use too much cpu")),
      memory_(handle.reasons().Make(Code::kUnschedulableAndUnresolvable,
                                    "node(s) were measured to use too much memory")) {}

Inputs NodeOverload::DeclaredInputs() const {
  return Inputs::Of(pod_part::kOwner, {{Reach::kNode}, {Reach::kMeasured}});
}

PreFilterResult NodeOverload::PreFilter(CycleState&, const PodInfo& pod, const Snapshot&) {
  const auto& owners = pod.pod->metadata.owner_references;
  const bool of_daemon_set = std::ranges::any_of(owners, [](const api::OwnerReference& owner) {
    return owner.controller && owner.kind == "DaemonSet";
  });
  return {of_daemon_set ? Status::Skip() : Status::Success()};
}

Status NodeOverload::VerdictOn(const Snapshot& snapshot, NodeRow row) const {
  const NodeMetrics* measured = measured_.FindOnRow(row, snapshot.node(row).metadata.name);
  if (measured == nullptr) return Status::Success();
  if (IsAbove(measured->cpu, args_.cpu_threshold)) return cpu_;
  if (IsAbove(measured->memory, args_.memory_threshold)) return memory_;
  return Status::Success();
}

Status NodeOverload::Filter(const CycleState&, const PodInfo&, const NodeView& node) const {
  return VerdictOn(node.snapshot(), node.row());
}

Status NodeOverload::FilterNodes(const CycleState&, const PodInfo&, const Snapshot& snapshot,
                                 NodeSet& nodes) const {
  nodes.Filter([&](NodeRow row) { return VerdictOn(snapshot, row).ok(); });
  return Status::Success();
}

std::vector<ClusterEventWithHint> NodeOverload::EventsToRegister() const {
  return {{{EventResource::kNodeMetrics, action::kUpdate}}, {{EventResource::kNode, action::kAdd}}};
}

}  // namespace berth::plugins
