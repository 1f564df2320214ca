// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "berth/in_tree/cycle_state.h"
#include "berth/in_tree/pod_group_points.h"
#include "berth/in_tree/points.h"
#include "berth/node_set.h"
#include "berth/snapshot.h"
#include "berth/status.h"

// What plugins are asked where a pod group is tried on parts of the nodes, one after another.
// Scheduling thread.
namespace berth::inline in_tree {

// Nodes that all pods of a group may go to.
struct Placement {
  std::string name;  // the plugin's choice; "" for all nodes
  NodeSet nodes;
};

struct GeneratePlacementsResult {
  Status status;
  // With Success; in the order in which they are tried.
  std::vector<Placement> placements = {};
};

class PlacementGeneratePlugin {
 public:
  virtual ~PlacementGeneratePlugin() = default;
  // The parts of `parent` on which the group may be placed. `state` belongs to the group's cycle.
  virtual GeneratePlacementsResult GeneratePlacements(CycleState& state, const PodGroupInfo& group,
                                                      const Snapshot& snapshot,
                                                      const Placement& parent) = 0;
};

// A placement that the group fits into, and where its pods would go.
struct PodGroupAssignments {
  const Placement* placement = nullptr;
  std::vector<ProposedAssignment> assignments;
};

class PlacementScorePlugin {
 public:
  virtual ~PlacementScorePlugin() = default;
  // The higher, the better. The snapshot is without the assignments.
  virtual ScoreResult ScorePlacement(CycleState& state, const PodGroupInfo& group,
                                     const Snapshot& snapshot,
                                     const PodGroupAssignments& placement) = 0;
  // Brings the scores of all placements into the range of node scores; called once after all were
  // scored.
  virtual Status NormalizePlacementScores(CycleState& /*state*/, const PodGroupInfo& /*group*/,
                                          std::span<int64_t> /*scores*/) {
    return {};
  }
};

}  // namespace berth::inline in_tree
