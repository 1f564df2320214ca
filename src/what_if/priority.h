// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "berth/api/pod.h"
#include "berth/result.h"
#include "src/simulator/simulation.h"

namespace berth::what_if {

// What the PriorityClasses of a cluster mean, as far as its pods tell: no scheduler watches the
// classes themselves, since the API server writes what they mean into each pod.
//
// Thread safety: one owner.
class PriorityClasses {
 public:
  // `simulation` outlives this; its pods are looked at when the first class is asked for.
  explicit PriorityClasses(const simulator::Simulation& simulation) : simulation_(simulation) {}

  // The pod with the priority and, where it states none, the preemption policy of the class that it
  // names; itself where it states its priority, or names no class. Errors: the class is none of
  // Kubernetes' own two, and no pod has it.
  Result<std::shared_ptr<const api::Pod>> Resolve(std::shared_ptr<const api::Pod> pod);

 private:
  struct Class {
    int32_t priority = 0;
    std::optional<std::string> preemption_policy;
  };
  void Read();

  const simulator::Simulation& simulation_;
  std::map<std::string, Class, std::less<>> classes_;  // empty: not read
};

}  // namespace berth::what_if
