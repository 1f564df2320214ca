// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "berth/in_tree/placement_points.h"
#include "src/scheduler/pod_groups/pod_group_tree.h"
#include "src/scheduler/pod_groups/pod_group_trial.h"

namespace berth::scheduler {

// Finds nodes for the pods of a tree of groups in a trial of the cache: what came of it is kept
// whole, or nothing is. A tree of one pod group goes to PodGroupTrial.
//
// A composite group is tried on each placement that a plugin finds for it within that of the group
// above it: its children one after another, each with those before it in place. A child that does
// not fit leaves nothing; whether the group may do without it the PlacementFeasible plugins say. Of
// the placements that the group fits into the one that scores best is taken.
//
// The number of tries is the product of the numbers of placements from the root to a pod group: of
// the values of one label on each level, of which there are at most three above the pod group's.
//
// Thread safety: the scheduling thread.
class CompositeTrial {
 public:
  // All must outlive the trial. Of the options it takes what times decisions.
  CompositeTrial(SchedulerState& state, const Profiles& profiles, engine::Engine& engine,
                 const SchedulerOptions& options)
      : state_(state), pod_groups_(state, profiles, engine, options) {}

  // The root's verdict. Success: the members that are placed are assumed and reserved, in the
  // groups that start (PodGroupTree::Starting). Else the cluster is as before, though members may
  // say that they were placed. Groups that were tried have their own verdict.
  GroupVerdict Run(PodGroupTree& tree) {
    return Run(tree, Keep::kPlacements, Tries::kAsLongAsItMayFit);
  }
  // The same, but nothing is kept of it.
  GroupVerdict Try(PodGroupTree& tree) {
    return Run(tree, Keep::kNothing, Tries::kAsLongAsItMayFit);
  }
  // The same, but all groups and pods are tried, also those that cannot save the tree any more.
  GroupVerdict TryEvery(PodGroupTree& tree) { return Run(tree, Keep::kNothing, Tries::kEvery); }

 private:
  using Keep = PodGroupTrial::Keep;
  // What came of one group below the one that was tried, or of itself.
  struct Kept {
    std::optional<GroupVerdict> verdict;
    std::vector<NodeRow> rows;  // of its members; empty: it does not start
    PodGroupTrial::Results results;
  };
  // What came of a group and all below it on one placement.
  struct Tried {
    const Placement* placement = nullptr;
    std::vector<Kept> groups;
    size_t placed = 0;
  };

  GroupVerdict Run(PodGroupTree& tree, Keep keep, Tries tries);
  // These place what fits and keep it within the caller's trial of the cache; without Success
  // nothing of the group is left.
  GroupVerdict TryGroup(PodGroupTree& tree, size_t group, const Placement& parent, Tries tries);
  GroupVerdict TryPlacements(PodGroupTree& tree, size_t group, const Placement& parent,
                             Tries tries);
  GroupVerdict TryChildren(PodGroupTree& tree, size_t group, const Placement& placement,
                           Tries tries);
  // The children one after another, until it is known that too few fit.
  GroupVerdict GoThroughChildren(PodGroupTree& tree, size_t group, const Placement& placement,
                                 Tries tries);
  // Takes the best, as it was found.
  GroupVerdict TakeBest(PodGroupTree& tree, size_t group, framework::Cycle& cycle,
                        const PodGroupInfo& info, std::vector<Tried> fits);

  // Moves out of the tree what came of the group and those below it.
  Tried Take(PodGroupTree& tree, size_t group, const Placement& placement) const;
  static void Restore(PodGroupTree& tree, size_t group, Tried tried);
  // The same, and places the members again that had a node.
  GroupVerdict PlaceAgain(PodGroupTree& tree, size_t group, Tried tried);
  // Those below the group are as if they had not been tried.
  static void StartOver(PodGroupTree& tree, size_t group);
  void TakeBack(PodGroupTree& tree, size_t group);

  SchedulerState& state_;
  PodGroupTrial pod_groups_;
};

}  // namespace berth::scheduler
