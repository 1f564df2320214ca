// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "src/simulator/simulation.h"

// Pods and those who make them, as far as a picture of a cluster tells.
namespace berth::what_if {

using PodPtr = std::shared_ptr<const api::Pod>;

// The owner that controls the pod; nullptr: none.
const api::OwnerReference* ControllerOf(const api::Pod& pod);
// Of a DaemonSet: it stays with its node.
bool IsDaemon(const api::Pod& pod);
// Made by a kubelet from a file: evictions do not touch it.
bool IsMirror(const api::Pod& pod);
// Whether another takes its place elsewhere when it goes.
bool ComesBack(const api::Pod& pod);

// What the controller makes: the pod before a scheduler saw it.
PodPtr PendingCopy(const api::Pod& pod, const std::string& name);

// Those on the node, by key.
std::vector<PodPtr> PodsOn(const simulator::Simulation& simulation, std::string_view node);

// What a pod's PodScheduled condition says.
std::string WhyPending(const api::Pod& pod);

// All pods that come back are pending at once, the oldest first, and scheduled. Settles the
// simulation, which has started.
void Reschedule(simulator::Simulation& simulation);

// Lets the scheduler decide until all is quiet; see Simulation.
void Settle(simulator::Simulation& simulation);

}  // namespace berth::what_if
