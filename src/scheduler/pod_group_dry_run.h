// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "berth/in_tree/pod_group_points.h"
#include "src/base/string_map.h"
#include "src/framework/runtime.h"
#include "src/scheduler/composite_trial.h"
#include "src/scheduler/pod_group_tree.h"
#include "src/scheduler/state.h"

namespace berth::scheduler {

// A dry run of preemption for one pod group or composite one, in a trial of the cache that ends
// with it.
//
// As in kube-scheduler the filters know what PreFilter found while all victims were away, and are
// told of each that comes back. A pod that is put back is looked at together with the group's pods
// on its node; those on other nodes are looked at, too, where a filter of theirs looks beyond the
// node.
//
// Thread safety: the scheduling thread. All references must outlive it.
class GroupPreemptionDryRun final : public PodGroupDryRun {
 public:
  // `cycle` is that of the PodGroupPostFilter. The group's members are as they were, once a call
  // has returned.
  GroupPreemptionDryRun(SchedulerState& state, CompositeTrial& trial, framework::Cycle& cycle,
                        PodGroupTree& tree);
  ~GroupPreemptionDryRun() override;

  void RemovePods(std::span<const PodInfo* const> pods) override;
  Status Schedule() override;
  std::span<const ProposedAssignment> assignments() const override { return assignments_; }
  Result<bool> Reprieve(std::span<const PodInfo* const> pods) override;

 private:
  // A member that got a node, of a group that starts.
  struct Assigned {
    PodInfoPtr info;
    NodeRow row = kNoRow;
    std::string node_name;
    std::string nominated_node;  // before the dry run; a pod on its node is nominated no more
    // What its filters know: PreFilter was asked while all victims were away, and AddPod of those
    // that came back. As in kube-scheduler filters that had nothing to say then are not asked
    // later.
    framework::Cycle cycle;
    bool hears_of_pods = false;
  };
  class Together;
  enum class Comes { kBack, kAway };
  // Tries the tree without what the cycle found of its members, which is still to be told.
  GroupVerdict TryApart();
  // Asks the members' PreFilter, each with those before it in place.
  Status PreFilter();
  // Tells the members' filters of a victim that is on the row again, or no longer.
  Status Tell(const PodInfo& pod, NodeRow row, Comes comes);
  // Why the member cannot run on its node, an Error included; Success: it can.
  Status Judge(const Assigned& assigned);
  // Whether a filter of the member looks at pods of other nodes.
  bool LooksBeyondItsNode(const Assigned& assigned) const;
  // The same status with reasons that live as long as the dry run.
  Status Keep(const Status& status) const {
    return cycle_.state.reasons().Make(status.code(), status.message());
  }
  // Success, or the first Judge() that is not, of the members on `rows`, or of all.
  Status JudgeTogether(const NodeSet* rows);

  SchedulerState& state_;
  CompositeTrial& trial_;
  framework::Cycle& cycle_;
  PodGroupTree& tree_;
  cache::Trial cache_trial_;
  base::StringMap<cache::CachedPod> removed_;  // by UID
  std::vector<Assigned> assigned_;             // in the order in which they were tried
  std::vector<ProposedAssignment> assignments_;
  bool looks_beyond_ = false;
};

}  // namespace berth::scheduler
