// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "berth/in_tree/handle.h"
#include "berth/in_tree/pod_group_points.h"
#include "berth/in_tree/points.h"
#include "berth/in_tree/preemption.h"
#include "plugins/default_preemption/candidates.h"
#include "plugins/default_preemption/evictions.h"
#include "plugins/shared/args_kind.h"

namespace berth::plugins {

// DefaultPreemptionArgs of kubescheduler.config.k8s.io/v1.
struct DefaultPreemptionArgs {
  // How many candidate nodes a search looks for: this percentage of the nodes where preemption may
  // help, but at least the absolute number.
  int32_t min_candidate_nodes_percentage = 10;
  int32_t min_candidate_nodes_absolute = 100;

  friend bool operator==(const DefaultPreemptionArgs&, const DefaultPreemptionArgs&) = default;
};

// Errors: a percentage outside [0, 100], a negative number, both 0.
extern const ArgsKind<DefaultPreemptionArgs> kDefaultPreemptionArgs;

// Makes room for a pod that fits nowhere by evicting pods of lower priority from one node, which
// the pod is then nominated for.
//
// Other plugins derive theirs from it, with rules of their own for who may evict whom.
//
// Thread safety: the scheduling thread.
class DefaultPreemption : public PreemptionPlugin,
                          public PodGroupPostFilterPlugin,
                          public PreEnqueuePlugin,
                          public MovedGates,
                          public EnqueueExtensions {
 public:
  static constexpr std::string_view kName = "DefaultPreemption";

  // `handle` outlives the plugin.
  DefaultPreemption(const DefaultPreemptionArgs& args, Handle& handle);

  Inputs DeclaredInputs() const { return Inputs::Of(pod_part::kPriority, {}); }

  // Success with a nomination when victims were found; their eviction goes on meanwhile.
  // Unschedulable when preemption does not help, with kube-scheduler's account of why.
  PostFilterResult PostFilter(CycleState& state, const PodInfo& pod, const Snapshot& snapshot,
                              const NodeToStatus& statuses) override;
  PreemptionPreview Preview(CycleState& state, const PodInfo& pod, const Snapshot& snapshot,
                            const NodeToStatus& statuses) override;
  void TakeOver(PreemptionPlugin& predecessor) override;
  bool TakeAnswer(const EvictionAnswered& answered) override {
    return evictions_->TakeAnswer(answered);
  }
  void TakeMovedGates(std::vector<std::string>& pod_keys) override;
  // The same for a pod group, on all nodes at once: the fewest victims with which the whole group
  // fits where it would go if all of lower priority were gone.
  PodGroupPostFilterResult PodGroupPostFilter(CycleState& state, const PodGroupInfo& group,
                                              const Snapshot& snapshot,
                                              PodGroupDryRun& dry_run) override;

  // Holds a pod back while its victims, or those of its group, are being evicted.
  Status PreEnqueue(const PodInfo& pod) override;

  // Deletions of assigned pods, so that a pod that is held back is looked at again; by itself none
  // of them makes a pod schedulable.
  std::vector<ClusterEventWithHint> EventsToRegister() const override;

 protected:
  // All that a selection of victims is made of.
  struct SelectionInput {
    const PodInfo& pod;
    const Snapshot& snapshot;
    Victims& victims;
    DryRun& dry_run;
    DisruptionBudgets& budgets;
    Time now;
    KnownVictims* known;
  };
  // A random part of the nodes, as many as the args ask for, or all of them.
  enum class Nodes : uint8_t { kSome, kAll };

  // `plugin` evicts.
  DefaultPreemption(const DefaultPreemptionArgs& args, Handle& handle, std::string_view plugin,
                    Nodes nodes);

  virtual std::unique_ptr<VictimSelection> MakeSelection(const SelectionInput& input);
  // Whether a pod on the node that `pod` is nominated for is going so that `pod` has room.
  virtual bool GoesFor(const api::Pod& pod, const PodInfo& placed, const Snapshot& snapshot) const;
  const Evictions& evictions() const { return *evictions_; }

 private:
  PostFilterResult Preempt(CycleState& state, const PodInfo& pod, const Snapshot& snapshot,
                           const NodeToStatus& statuses);
  struct Search {
    std::vector<Candidate> candidates;  // those that break no disruption budget first
    // Why nodes on which preemption was tried are none.
    std::vector<std::pair<NodeRow, Status>> rejected;
  };
  Search FindCandidates(CycleState& state, const PodInfo& pod, const Snapshot& snapshot,
                        const NodeToStatus& statuses, Nodes nodes);
  // Success, or why the pod may not preempt at all.
  Status MayPreempt(const CycleState& state, const PodInfo& pod, const Snapshot& snapshot,
                    const NodeToStatus& statuses) const;
  std::string_view NotEligible(const api::Pod& pod, const Snapshot& snapshot,
                               const NodeToStatus& statuses) const;
  PostFilterResult Unhelpful(CycleState& state, const Snapshot& snapshot, const Search& search);
  void Execute(const PodInfo& pod, const Snapshot& snapshot, const Candidate& candidate);
  PodGroupPostFilterResult PreemptFor(CycleState& state, const PodGroupInfo& group,
                                      const Snapshot& snapshot, PodGroupDryRun& dry_run);
  // Whether victims of the group are still going, on a node that a pod of it is nominated for.
  bool PreemptionGoesOn(const PodGroupInfo& group, const Snapshot& snapshot) const;
  // Success: `evicted`, good as long as `victims`, is what must go.
  Status SelectVictims(CycleState& state, const PodGroupInfo& group, Victims& victims,
                       PodGroupDryRun& dry_run, std::vector<RankedVictim>& evicted);
  void Execute(const PodGroupInfo& group, const Snapshot& snapshot,
               const std::vector<RankedVictim>& evicted);
  // What a pod that goes takes along although its own node is gone: see Victims::OnGoneNodes().
  std::vector<EvictedPod> OnGoneNodes(const Snapshot& snapshot,
                                      const std::vector<const PodInfo*>& evicted) const;
  size_t NumCandidates(size_t nodes) const;
  Status Reject(const CycleState& state, std::string_view message) const;

  Handle& handle_;
  const DefaultPreemptionArgs args_;
  const Nodes nodes_;
  std::shared_ptr<Evictions> evictions_;  // shared with its predecessors
  Status no_victims_;
  Status waiting_;
  Status group_waiting_;
};

}  // namespace berth::plugins
