// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "berth/api/workloads.h"
#include "src/questions/node_changes.h"
#include "src/simulator/simulation.h"

namespace berth::questions {

// Brings PodDisruptionBudgets up to date once workloads have fewer pods, as the disruption
// controller does: fewer are healthy and, where the budget goes by the scale of those who make the
// pods (maxUnavailable, or a percentage), fewer need be. A controller counts with the pods that it
// has here. Pods that came make no difference: they are not ready yet.
//
// Thread safety: as the simulation's.
class ScaledBudgets {
 public:
  // The budgets of the namespace and what they select now.
  ScaledBudgets(std::string namespace_name, const simulator::Simulation& simulation);

  // Applies those that select fewer pods than then; `disruptions` goes by them from now on.
  void Update(simulator::Simulation& simulation, Disruptions& disruptions) const;

 private:
  struct Selected {
    int64_t pods = 0;
    int64_t controlled = 0;  // by someone who makes them again, and not being deleted
    int64_t healthy = 0;
  };
  static Selected Count(const api::PodDisruptionBudget& budget, const std::vector<PodPtr>& pods);
  // Those of the namespace.
  std::vector<PodPtr> Pods(const simulator::Simulation& simulation) const;
  // As the controller leaves it; the budget had `before`.
  static api::PodDisruptionBudget Scaled(api::PodDisruptionBudget budget, const Selected& before,
                                         const Selected& now);

  const std::string namespace_;
  std::map<std::string, Selected> before_;  // by name
};

}  // namespace berth::questions
