// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "berth/api/node.h"
#include "berth/api/pod.h"
#include "berth/in_tree/eviction.h"
#include "berth/result.h"
#include "src/simulator/simulation.h"

// What plans and questions read in a picture of a cluster before they change it.
namespace berth::simulator {

// The pods on the node, by key.
std::vector<std::shared_ptr<const api::Pod>> PodsOn(const Simulation& simulation,
                                                    std::string_view node);

// How many evictions the budgets of the simulation allow.
EvictionBudgets EvictionBudgetsOf(const Simulation& simulation);

// That the simulation has no such node, and which was probably meant.
Error NoNode(std::string_view name, const Simulation& simulation);

// Of the taint that a cordoned node has, which goes with spec.unschedulable.
inline constexpr std::string_view kUnschedulableTaint = "node.kubernetes.io/unschedulable";
// The node as kubectl cordons it, and as the node lifecycle controller then taints it.
std::shared_ptr<const api::Node> Cordoned(const api::Node& node);

}  // namespace berth::simulator
