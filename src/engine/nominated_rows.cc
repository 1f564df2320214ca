// SPDX-License-Identifier: Apache-2.0
#include "src/engine/nominated_rows.h"

#include <algorithm>
#include <string>
#include <string_view>

namespace berth::engine {

std::vector<const PodInfo*> NominatedPodsOn(NodeRow row, const PodInfo& pod,
                                            const ClusterState& cluster) {
  std::vector<const PodInfo*> pods;
  const std::string& node_name = cluster.snapshot.node(row).metadata.name;
  for (const PodInfoPtr& nominated : cluster.nominated.NominatedPodsForNode(node_name)) {
    if (cluster.nominated.Counts(pod, *nominated)) pods.push_back(nominated.get());
  }
  return pods;
}

std::vector<NominatedRow> NominatedRowsFor(const NodeSet& nodes, const PodInfo& pod,
                                           const ClusterState& cluster) {
  std::vector<NominatedRow> rows;
  // A pod that is nominated itself is tried on that node first.
  if (nodes.Count() == 1) {
    nodes.ForEach([&](NodeRow row) { rows.push_back({row, NominatedPodsOn(row, pod, cluster)}); });
    if (rows.front().pods.empty()) rows.clear();
    return rows;
  }
  // Visited by node name.
  std::string_view last_name;
  NodeRow last_row = kNoRow;
  cluster.nominated.ForEach([&](std::string_view node_name, const PodInfoPtr& nominated) {
    if (!cluster.nominated.Counts(pod, *nominated)) return;
    if (node_name != last_name) {
      last_name = node_name;
      last_row = cluster.snapshot.FindNode(node_name);
      if (last_row != kNoRow && !nodes.Test(last_row)) last_row = kNoRow;
      if (last_row != kNoRow) rows.push_back({last_row, {}});
    }
    if (last_row != kNoRow) rows.back().pods.push_back(nominated.get());
  });
  std::ranges::sort(rows, {}, &NominatedRow::row);
  return rows;
}

Status ImagineNominated(const framework::Profile& profile, const framework::Cycle& cycle,
                        const PodInfo& pod, const Snapshot& snapshot, NodeRow row,
                        const std::vector<const PodInfo*>& nominated, CycleState* state,
                        Overlay& overlay) {
  const NodeView node(snapshot, row, &overlay);
  for (const PodInfo* other : nominated) {
    overlay.AddPod(*other);
    if (state == nullptr) continue;
    const Status status = framework::RunAddPod(profile, cycle, *state, pod, *other, node);
    if (!status.ok()) return status;
  }
  return Status::Success();
}

}  // namespace berth::engine
