// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "src/explain/near_misses.h"
#include "src/questions/changes.h"

namespace berth::questions {

// What a generator is asked about: nodes that a plugin rejected for the same reasons. What it
// proposes comes into `out`, nothing twice, and no more than is worth trying.
struct Refusal {
  const explain::RejectedGroup& group;
  const engine::Judgement& judgement;  // that of the trial as it is now
  const TrialCluster& trial;
  std::vector<explain::Change>& out;

  const api::Pod& pod() const { return trial.pod(); }
  const api::Node& node(NodeRow row) const { return judgement.snapshot().node(row); }
  // The first few nodes of the group by name: where a change is one of a node, they stand for all.
  std::vector<NodeRow> Examples() const;
  void Add(explain::Change change) const;
};

// Changes that may cure what the refusal's plugin has against its nodes: each is worth a trial,
// none is sure to do.
void Propose(const Refusal& refusal);

// One more node of each of the first few shapes that the rejected nodes have: what they offer,
// their taints, and their labels but the hostname. Where a pool's nodes are too small, also one of
// its labels and taints with what nodes of another shape offer.
void ProposeNodes(const std::vector<explain::RejectedGroup>& groups,
                  const engine::Judgement& judgement, std::vector<explain::Change>& out);

// The evictions that preemption would see to, and would if it were allowed to the pod: those of the
// best node first, then of those with the fewest broken budgets and pods. Only on `node`, unless
// that is "".
void ProposeEvictions(TrialCluster& trial, std::string_view node,
                      std::vector<explain::Change>& out);

// The moves of a plan that lets the pod in, found with up to `most` judgements; none for a pod that
// waits for its pod group. No change is made on the simulation meanwhile. Returns how often the
// search judged.
size_t ProposeMoves(simulator::Simulation& simulation, const api::Pod& pod, size_t most,
                    std::vector<explain::Change>& out);

}  // namespace berth::questions
