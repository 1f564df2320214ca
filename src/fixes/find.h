// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "berth/time.h"
#include "src/explain/fix.h"
#include "src/simulator/simulation.h"

namespace berth::fixes {

// What a search may take, and how much it gives.
struct FindOptions {
  // Judgements: of 5,000 nodes one takes less than a millisecond.
  size_t max_trials = 1000;
  Duration max_time = std::chrono::seconds(5);
  size_t max_fixes = 10;
  // Asked between two trials: the search ends, as if its time were over.
  std::function<bool()> interrupted = nullptr;
  // Fixes that differ only in node, taint or amount; combinations count together.
  size_t max_alike = 3;
};

// Looks for the smallest changes of a pending pod, or of the cluster, that let the pod schedule.
// Each was tried: the changed pod, in the changed cluster, was judged by the engine with the
// profile's plugins, and a node takes it. None asks for more than it must: with a request that is
// lower by less no node does. Empty for a pod that is not unschedulable.
//
//   judge --reasons--> Propose --changes--> TrialCluster --judge--> tighten --> rank
//
// `simulation` has its objects and has not started; it is afterwards as it was. `clock` bounds the
// search only.
//
// Thread safety: as the simulation's.
explain::Fixes FindFixes(simulator::Simulation& simulation,
                         const std::shared_ptr<const api::Pod>& pod, const Clock& clock,
                         const FindOptions& options = {});

// Whether the fixes of one pod are those of the other, as of two replicas that wait.
bool HaveSameFixes(const api::Pod& a, const api::Pod& b);

}  // namespace berth::fixes
