// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "berth/in_tree/dry_run.h"
#include "berth/in_tree/preemption.h"
#include "berth/pod_info.h"
#include "berth/random.h"
#include "berth/snapshot.h"
#include "berth/time.h"
#include "plugins/default_preemption/disruption_budgets.h"

// Which pods would have to go for a pod to fit, and which of several ways to choose.
namespace berth::plugins {

// Whether `a` is the one to spare: higher priority, then started earlier. A pod that has not
// started counts as started at `now`.
bool MoreImportant(const PodInfo& a, const PodInfo& b, Time now);

using Candidate = PreemptionCandidate;

// Finds the fewest victims on one node after another, as kube-scheduler's SelectVictimsOnNode does:
// all pods of lower priority go, then those that can stay are brought back, first those whose
// eviction breaks a disruption budget, the most important first.
//
// Thread safety: one owner.
class VictimSelection {
 public:
  // All of it must outlive the selection.
  VictimSelection(const PodInfo& pod, const Snapshot& snapshot, DryRun& dry_run,
                  DisruptionBudgets& budgets, Time now)
      : pod_(pod), snapshot_(snapshot), dry_run_(dry_run), budgets_(budgets), now_(now) {}

  // Sets the candidate's victims. A status other than Success tells why there are none.
  Status Select(NodeRow row, Candidate& candidate, const Status& no_victims);

 private:
  struct Victim {
    const PodInfo* pod = nullptr;
    bool violates = false;
    size_t position = 0;  // in the node's list of pods
  };
  enum class Budget : uint8_t { kBroken, kKept };
  // Of the pods whose eviction breaks a disruption budget, or of the others, brings back those that
  // can stay and adds the rest to `victims_`.
  Status Reprieve(Budget budget);

  const PodInfo& pod_;
  const Snapshot& snapshot_;
  DryRun& dry_run_;
  DisruptionBudgets& budgets_;
  const Time now_;
  std::vector<Victim> potential_;  // scratch
  std::vector<Victim> victims_;
};

// The best candidates, ascending, by kube-scheduler's criteria in turn: fewest broken budgets,
// lowest priority of the most important victim, lowest sum of priorities, fewest victims, latest
// start of the earliest started among the most important victims.
std::vector<size_t> BestCandidates(std::span<const Candidate> candidates, Time now);

// One of the best, drawn in the order given. There must be a candidate.
size_t PickCandidate(std::span<const Candidate> candidates, Time now, Random& random);

}  // namespace berth::plugins
