// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "berth/in_tree/handle.h"
#include "berth/in_tree/points.h"

namespace berth::plugins {

// Keeps a pod that names its node (spec.nodeName) off every other node.
//
// The rejection is UnschedulableAndUnresolvable: evicting pods cannot rename a node, so preemption
// must not try.
//
// Thread safety: immutable; every method may run concurrently.
class NodeName final : public PreFilterPlugin, public ColumnFilterPlugin, public EnqueueExtensions {
 public:
  static constexpr std::string_view kName = "NodeName";
  static constexpr std::string_view kReason = "node(s) didn't match the requested node name";

  explicit NodeName(Handle& handle)
      : rejection_(handle.reasons().Make(Code::kUnschedulableAndUnresolvable, kReason)) {}

  Inputs DeclaredInputs() const { return Inputs::Of(pod_part::kNodeName, {{Reach::kNode}}); }

  // Narrows the search to the node the pod names.
  PreFilterResult PreFilter(CycleState&, const PodInfo& pod, const Snapshot&) override {
    const std::string& wanted = pod.pod->spec.node_name;
    if (wanted.empty()) return {};
    return {.status = {}, .node_names = std::vector<std::string>{wanted}};
  }
  Status Filter(const CycleState&, const PodInfo& pod, const NodeView& node) const override {
    const std::string& wanted = pod.pod->spec.node_name;
    if (wanted.empty() || wanted == node.node().metadata.name) return Status::Success();
    return rejection_;
  }
  Status FilterNodes(const CycleState&, const PodInfo& pod, const Snapshot& snapshot,
                     NodeSet& nodes) const override {
    const std::string& wanted = pod.pod->spec.node_name;
    if (wanted.empty()) return {};
    const NodeRow row = snapshot.FindNode(wanted);
    const bool keep = row != kNoRow && nodes.Test(row);
    nodes.Assign(nodes.size(), false);
    if (keep) nodes.Set(row);
    return {};
  }

  // Only a new node can carry the wanted name.
  std::vector<ClusterEventWithHint> EventsToRegister() const override {
    return {{{EventResource::kNode, action::kAdd}, nullptr}};
  }

 private:
  Status rejection_;
};

}  // namespace berth::plugins
