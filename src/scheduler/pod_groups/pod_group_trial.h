// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "berth/in_tree/placement_points.h"
#include "src/scheduler/pod_groups/members_trial.h"

namespace berth::scheduler {

// Finds nodes for the pods of a group in a trial of the cache: what came of it is kept whole, or
// nothing is.
//
// A gang of unequal pods that does not fit in the order of the queue is given to a GangSearch.
//
// With the gate TopologyAwareWorkloadScheduling the group is tried on the placements that a plugin
// finds for it, one after another, and the one that scores best is taken; else on all nodes.
//
// Of a group that is part of a composite one it is one step of the trial of that, within whose
// placement it stays, and there is no search.
//
// Thread safety: the scheduling thread.
class PodGroupTrial {
 public:
  // All must outlive the trial. Of the options it takes what times decisions.
  PodGroupTrial(SchedulerState& state, const Profiles& profiles, engine::Engine& engine,
                const SchedulerOptions& options)
      : state_(state), members_(state, profiles, engine, options) {}

  enum class Keep { kPlacements, kNothing };
  // Success: the members that are placed are assumed and reserved, unless nothing is to be kept.
  // Else the cluster is as before, though members may say that they were placed.
  GroupVerdict Run(PodGroupAttempt& group, Keep keep, Tries tries);
  // Within a trial of the cache that the caller has open. Success: the members that are placed stay
  // so; there may be none, where enough were before. Else nothing of it is left.
  GroupVerdict RunWithin(PodGroupAttempt& group, const Placement& parent, Tries tries);
  // Places the members again that have a row. Error: one cannot be placed there.
  GroupVerdict PlaceAgain(PodGroupAttempt& group, std::span<const NodeRow> rows) {
    return members_.PlaceAgain(group, rows);
  }
  // Takes back what the last try left, in reverse.
  void TakeBack(PodGroupAttempt& group) { members_.TakeBack(group); }

  // What came of the members, and what plugins left of them.
  struct Results {
    std::vector<MemberResult> members;
    std::vector<framework::Cycle> cycles;
  };
  static Results Take(PodGroupAttempt& group);
  static void Restore(PodGroupAttempt& group, Results results);
  // The node of each member, or kNoRow.
  std::vector<NodeRow> RowsOf(const PodGroupAttempt& group) const;

 private:
  // A placement that the group fits into: the node of each member, or kNoRow.
  struct Fit {
    const Placement* placement = nullptr;
    std::vector<NodeRow> rows;
  };
  // The message about a group that fits nowhere: of the members where most of them did.
  struct NearMiss {
    Results results;
    GroupVerdict verdict;
    size_t placed = 0;
  };

  // On those within `parent`.
  GroupVerdict TryPlacements(PodGroupAttempt& group, const Placement& parent, Tries tries,
                             std::vector<Placement>& placements);
  // Tries the group on one of several, and takes it back.
  GroupVerdict TryAside(PodGroupAttempt& group, const MembersPlan& plan);
  // Takes the best, as it was found.
  GroupVerdict TakeBest(PodGroupAttempt& group, framework::Cycle& cycle, const PodGroupInfo& info,
                        const std::vector<Fit>& fits);
  // Looks for another way to place a group that fits into none of the placements; `verdict` is what
  // is known of it so far.
  GroupVerdict Search(PodGroupAttempt& group, std::span<const Placement> placements,
                      GroupVerdict verdict);
  // nullptr where the placement is all nodes.
  const NodeSet* NodesOf(const Placement& placement) const;

  SchedulerState& state_;
  MembersTrial members_;
};

}  // namespace berth::scheduler
