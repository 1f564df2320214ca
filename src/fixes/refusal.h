// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "src/explain/near_misses.h"
#include "src/fixes/trial_cluster.h"

namespace berth::fixes {

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

// One generator for each kind of refusal. Amounts are the largest that make sense: Tighten() makes
// them small.
void OfResources(const Refusal& refusal);
void OfTaints(const Refusal& refusal);
void OfCordons(const Refusal& refusal);
void OfNodeSelectors(const Refusal& refusal);
void OfNodeAffinity(const Refusal& refusal);
void OfPodAffinity(const Refusal& refusal);
void OfSpread(const Refusal& refusal);
void OfHostPorts(const Refusal& refusal);
void OfClaims(const Refusal& refusal);

}  // namespace berth::fixes
