// SPDX-License-Identifier: Apache-2.0
#include "src/engine/nominated_rows.h"

namespace berth::engine {

NominatedRows NominatedRowsFor(const PodInfo& pod, const ClusterState& cluster) {
  NominatedRows rows;
  cluster.nominated.ForEach([&](std::string_view node_name, const PodInfoPtr& nominated) {
    if (!cluster.nominated.Counts(pod, *nominated)) return;
    const NodeRow row = cluster.snapshot.FindNode(node_name);
    if (row != kNoRow) rows[row].push_back(nominated.get());
  });
  return rows;
}

Status ImagineNominated(const framework::Profile& profile, const framework::Cycle& cycle,
                        const PodInfo& pod, const Snapshot& snapshot, NodeRow row,
                        const std::vector<const PodInfo*>& nominated, CycleState& state,
                        Overlay& overlay) {
  const NodeView node(snapshot, row, &overlay);
  for (const PodInfo* other : nominated) {
    overlay.AddPod(*other);
    const Status status = framework::RunAddPod(profile, cycle, state, pod, *other, node);
    if (!status.ok()) return status;
  }
  return Status::Success();
}

}  // namespace berth::engine
