// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "berth/in_tree/handle.h"
#include "berth/in_tree/placement_points.h"
#include "berth/result.h"

namespace berth::plugins {

// Keeps the pods of a group with a topology constraint together: one placement for each value of
// the label that the constraint names. Once pods of the group have a node, only theirs.
//
// Thread safety: the scheduling thread.
class TopologyPlacementGenerator final : public PlacementGeneratePlugin {
 public:
  static constexpr std::string_view kName = "TopologyPlacementGenerator";

  explicit TopologyPlacementGenerator(Handle& handle) : handle_(handle) {}

  // Filters and scores no node.
  Inputs DeclaredInputs() const { return Inputs::Of(0, {}); }

  // In the order of the values; `parent` itself for a group without a constraint. Error: the
  // group's scheduled pods are not in one domain.
  GeneratePlacementsResult GeneratePlacements(CycleState& state, const PodGroupInfo& group,
                                              const Snapshot& snapshot,
                                              const Placement& parent) override;

 private:
  // The domain of the group's pods that have a node; kNoDomain: none has.
  Result<DomainId> DomainOfScheduled(const PodGroupInfo& group, const Snapshot& snapshot,
                                     const Topology& topology) const;

  Handle& handle_;
};

}  // namespace berth::plugins
