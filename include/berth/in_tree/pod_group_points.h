// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "berth/api/scheduling.h"
#include "berth/in_tree/cycle_state.h"
#include "berth/in_tree/pod_groups.h"
#include "berth/pod_info.h"
#include "berth/result.h"
#include "berth/snapshot.h"
#include "berth/status.h"

// What plugins are asked about a pod group, in the cycle that tries all of its pods. Scheduling
// thread.
namespace berth::inline in_tree {

// A pod group or a composite one in its cycle.
struct PodGroupInfo {
  AnyPodGroup object;
  // Its pods without a node, in the order in which they are tried; good for the running cycle.
  std::vector<const PodInfo*> unscheduled_pods;
  // What plugins left of each of them when the group was tried last, in the same order.
  std::vector<const CycleState*> states = {};
  // Of a composite group: the pod groups below it.
  std::vector<std::shared_ptr<const api::PodGroup>> pod_groups = {};

  // Calls visit(const api::PodGroup&) for the pod group, or those below the composite one.
  template <typename Visit>
  void ForEachPodGroup(Visit visit) const {
    if (object.pod_group != nullptr) visit(*object.pod_group);
    for (const auto& group : pod_groups) visit(*group);
  }
};

// How far the cycle has come with the pods of one pod group, or with the children of a composite
// one.
struct PlacementProgress {
  size_t scheduled = 0;  // in this cycle and before
  size_t remaining = 0;  // still to be tried
};

// Has a say about pod groups as a whole.
class PlacementFeasiblePlugin {
 public:
  virtual ~PlacementFeasiblePlugin() = default;
  // Whether the group may start with what has been found for it; asked before the first pod, or
  // child, and after each. Success: what is scheduled is enough. Wait: it may become enough.
  // Unschedulable: it cannot. `state` belongs to this try of the group.
  virtual Status PlacementFeasible(CycleState& state, const AnyPodGroup& group,
                                   const PlacementProgress& progress) = 0;
  // How many more decisions may be spent on a gang of unequal pods that does not fit in the order
  // of the queue, to find a place in another way.
  virtual size_t search_steps() const { return 0; }
};

// A pod of the group and the node that it got.
struct ProposedAssignment {
  const PodInfo* pod = nullptr;
  std::string_view node_name;
};

// What would be if pods left the cluster: for a PodGroupPostFilter. Nothing that others see
// changes.
class PodGroupDryRun {
 public:
  virtual ~PodGroupDryRun() = default;

  // All pods are in place again, and the group may be tried once more.
  virtual void Reset() = 0;
  // Imagines pods of the snapshot away from their nodes; they stay readable.
  virtual void RemovePods(std::span<const PodInfo* const> pods) = 0;
  // Tries the group as its cycle does, once. A MovesTrial that began after the last removal may be
  // open meanwhile. Success: each of assignments() has its node.
  virtual Status Schedule() = 0;
  virtual std::span<const ProposedAssignment> assignments() const = 0;
  // Puts removed pods back, if every assigned pod then still passes the filters on its node, each
  // with those before it in place. False: they stay removed.
  virtual Result<bool> Reprieve(std::span<const PodInfo* const> pods) = 0;
};

struct PodGroupPostFilterResult {
  Status status;
  // With Success: the nodes that pods of the group are nominated for.
  struct Nomination {
    std::string pod_uid;
    std::string node_name;
  };
  std::vector<Nomination> nominations = {};
};

// Tries to make room after a pod group did not fit.
class PodGroupPostFilterPlugin {
 public:
  virtual ~PodGroupPostFilterPlugin() = default;
  virtual PodGroupPostFilterResult PodGroupPostFilter(CycleState& state, const PodGroupInfo& group,
                                                      const Snapshot& snapshot,
                                                      PodGroupDryRun& dry_run) = 0;
  // Whether it is asked although a plugin before it has said that no evictions help
  // (UnschedulableAndUnresolvable), as it needs no pods of lower priority.
  virtual bool needs_no_victims() const { return false; }
};

}  // namespace berth::inline in_tree
