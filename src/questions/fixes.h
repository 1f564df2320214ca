// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "berth/time.h"
#include "src/explain/fix.h"
#include "src/simulator/simulation.h"

namespace berth::questions {

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

// Looks for the smallest changes of a pending pod, or of the cluster, that let
// the pod schedule. Each was tried: the changed pod, in the changed cluster,
// was judged by the engine with the profile's plugins, and a node takes it.
// None asks for more than it must: with a request that is lower by less no node
// does. Empty for a pod that is not unschedulable.
//
//   judge --reasons--> Propose --changes--> TrialCluster --judge--> tighten -->
//   rank
//
// `simulation` has its objects and has not started; it is afterwards as it was.
// `clock` bounds the search only. The fixes have their applications.
//
// Thread safety: as the simulation's.
explain::Fixes FindFixes(simulator::Simulation& simulation,
                         const std::shared_ptr<const api::Pod>& pod, const Clock& clock,
                         const FindOptions& options = {});

// Whether the fixes of one pod are those of the other, as of two replicas that wait; pods that
// differ only in what FixCache passes over may not be.
bool HaveSameFixes(const api::Pod& a, const api::Pod& b);

// The fixes of many pods of one cluster, searched for once for those that are alike, as replicas
// are.
//
// Thread safety: as the simulation's.
class FixCache {
 public:
  // Both outlive it; the simulation keeps the objects that it has.
  FixCache(simulator::Simulation& simulation, const Clock& clock);

  // As FindFixes().
  explain::Fixes Find(const std::shared_ptr<const api::Pod>& pod);
  // How often it searched.
  size_t searches() const { return searches_; }

 private:
  static constexpr size_t kMostFound = 256;
  struct Found {
    api::Pod essence;
    explain::Fixes fixes;
  };
  // The pod without what tells replicas apart.
  api::Pod Essence(const api::Pod& pod) const;

  simulator::Simulation& simulation_;
  const Clock& clock_;
  std::vector<std::string_view> unselected_;  // labels of replicas that no selector names
  std::vector<Found> found_;
  size_t searches_ = 0;
};

}  // namespace berth::questions
