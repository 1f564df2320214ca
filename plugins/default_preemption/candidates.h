// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "berth/in_tree/dry_run.h"
#include "berth/in_tree/known_victims.h"
#include "berth/in_tree/preemption.h"
#include "berth/pod_info.h"
#include "berth/random.h"
#include "berth/snapshot.h"
#include "berth/time.h"
#include "plugins/default_preemption/disruption_budgets.h"
#include "plugins/default_preemption/victims.h"

// Which pods would have to go for a pod to fit, and which of several ways to choose.
namespace berth::plugins {

using Candidate = PreemptionCandidate;

struct RankedVictim {
  Victim victim;
  int64_t broken_budgets = 0;  // pods whose eviction breaks one
  size_t position = 0;         // in the list as it was found
};
// Puts victims in the order in which they may be spared: first those whose eviction breaks a
// disruption budget, of these and of the others the most important first.
void OrderForReprieve(std::vector<RankedVictim>& victims, DisruptionBudgets& budgets, Time now);
// Most important first, once it is known which are evicted.
void SortEvicted(std::vector<RankedVictim>& victims, Time now);

// Finds the fewest victims on one node after another, as kube-scheduler's SelectVictimsOnNode does:
// all victims of lower priority go, then those that can stay are brought back in the order of
// OrderForReprieve(). A pod group that is evicted whole goes with its pods on other nodes.
//
// Thread safety: one owner.
class VictimSelection {
 public:
  // All of it must outlive the selection. `known`: nullptr where nothing is kept.
  VictimSelection(const PodInfo& pod, const Snapshot& snapshot, Victims& victims, DryRun& dry_run,
                  DisruptionBudgets& budgets, Time now, KnownVictims* known)
      : pod_(pod),
        snapshot_(snapshot),
        victims_(victims),
        dry_run_(dry_run),
        budgets_(budgets),
        now_(now),
        known_(known) {}

  // Sets the candidate's victims. A status other than Success tells why there are none. What is
  // known is not sought again.
  Status Select(NodeRow row, Candidate& candidate, const Status& no_victims);

 private:
  Status Seek(NodeRow row, Candidate& candidate, const Status& no_victims);
  // Keeps what was found, where that holds for as long as nothing happens to the node.
  void Remember(const Candidate& candidate, const Status& status);
  Status Remove(const Victim& victim);
  // Brings the victim back if it can stay; else adds it to `evicted_`.
  Status Reprieve(const RankedVictim& victim);

  const PodInfo& pod_;
  const Snapshot& snapshot_;
  Victims& victims_;
  DryRun& dry_run_;
  DisruptionBudgets& budgets_;
  const Time now_;
  KnownVictims* const known_;
  std::vector<Victim> on_node_;  // scratch
  std::vector<RankedVictim> potential_;
  std::vector<RankedVictim> evicted_;
};

// The best candidates, ascending, by kube-scheduler's criteria in turn: fewest broken budgets,
// lowest priority of the most important victim, lowest sum of priorities, fewest victims, latest
// start of the earliest started among the most important victims.
std::vector<size_t> BestCandidates(std::span<const Candidate> candidates, Time now);

// One of the best, drawn in the order given. There must be a candidate.
size_t PickCandidate(std::span<const Candidate> candidates, Time now, Random& random);

}  // namespace berth::plugins
