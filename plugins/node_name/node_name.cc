// SPDX-License-Identifier: Apache-2.0
#include "plugins/node_name/node_name.h"

namespace berth::plugins {

Inputs NodeName::DeclaredInputs() const {
  return Inputs::Of(pod_part::kNodeName, {{Reach::kNode}});
}

PreFilterResult NodeName::PreFilter(CycleState&, const PodInfo& pod, const Snapshot&) {
  const std::string& wanted = pod.pod->spec.node_name;
  if (wanted.empty()) return {};
  return {.status = {}, .node_names = std::vector<std::string>{wanted}};
}

Status NodeName::Filter(const CycleState&, const PodInfo& pod, const NodeView& node) const {
  const std::string& wanted = pod.pod->spec.node_name;
  if (wanted.empty() || wanted == node.node().metadata.name) return Status::Success();
  return rejection_;
}

Status NodeName::FilterNodes(const CycleState&, const PodInfo& pod, const Snapshot& snapshot,
                             NodeSet& nodes) const {
  const std::string& wanted = pod.pod->spec.node_name;
  if (wanted.empty()) return {};
  const NodeRow row = snapshot.FindNode(wanted);
  const bool keep = row != kNoRow && nodes.Test(row);
  nodes.Assign(nodes.size(), false);
  if (keep) nodes.Set(row);
  return {};
}

std::vector<ClusterEventWithHint> NodeName::EventsToRegister() const {
  return {{{EventResource::kNode, action::kAdd}, nullptr}};
}

}  // namespace berth::plugins
