// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "berth/in_tree/handle.h"
#include "berth/in_tree/points.h"

namespace berth::plugins {

// Prefers nodes that already have the pod's container images, the larger the better. An image
// counts with its size times the share of nodes that have it, so that a few nodes do not draw
// every pod.
//
// Thread safety: stateless; every method may run concurrently.
class ImageLocality final : public ColumnScorePlugin {
 public:
  static constexpr std::string_view kName = "ImageLocality";

  // A node that comes, goes or pulls an image changes the spread, and so the score, of all others.
  Inputs DeclaredInputs() const { return Inputs::Of(pod_part::kImages, {{Reach::kAllNodes}}); }

  // From 0 (below 23 MiB in all) to 100 (1000 MiB an image); needs no normalising.
  ScoreResult Score(const CycleState& state, const PodInfo& pod,
                    const NodeView& node) const override;
  void ScoreNodes(const CycleState& state, const PodInfo& pod, const Snapshot& snapshot,
                  std::span<const NodeRow> nodes, std::span<int64_t> scores) const override;
};

}  // namespace berth::plugins
