// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "berth/result.h"
#include "src/simulator/simulation.h"

namespace berth::what_if {

// More are no question any more.
inline constexpr size_t kMostReplicas = 100'000;

// How many pods a controller is to have.
struct Scale {
  std::string namespace_;
  std::string kind;  // Deployment, ReplicaSet, StatefulSet, Job, ...
  std::string name;
  size_t replicas = 0;

  // "shop/Deployment/web=5". Errors: text of another form, more than 100,000 replicas.
  static Result<Scale> Parse(std::string_view text);
};

// More pods are copies of one that is there, without a node; fewer are those without a node first,
// then the youngest, and of a StatefulSet those with the highest ordinals. The pods of a Deployment
// are those of its ReplicaSets, which must be in the picture. Settles the simulation, which has
// started.
//
// Errors: the controller has no pod to make copies of.
Result<void> Carry(const Scale& scale, simulator::Simulation& simulation);

}  // namespace berth::what_if
