// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "src/engine/cluster_state.h"
#include "src/framework/runtime.h"
#include "src/scheduler/attempt.h"
#include "src/scheduler/state.h"

// The steps that the cycle of a pod and that of a pod group share. Scheduling thread.
namespace berth::scheduler {

// What a pod is decided against.
engine::ClusterState ClusterOf(SchedulerState& state);

// Whether the pod needs no node any more: it is being deleted (of which it is told), or has been
// assumed since it was queued.
bool IsSettled(SchedulerState& state, const Attempt& attempt);

// Makes the pod ready to be decided: its class of now, and who measures.
void Prepare(SchedulerState& state, Attempt& attempt);

// The pod as it counts on the node with what Reserve, whose cycle state it is, has found that its
// claims take of the node, and no more with what its status says of an earlier attempt. nullptr: it
// counts as it is.
PodInfoPtr CountedWithClaims(SchedulerState& state, const CycleState& reserved, const api::Pod& pod,
                             NodeRow node);

// Assumes the pod on the node, takes its nomination away and asks Reserve. nullopt: done. Else why
// not, and nothing is left of it but that the nomination is gone.
std::optional<Failure> AssumeAndReserve(SchedulerState& state, Attempt& attempt, NodeRow node);
// Takes an assumed pod away. False when it is unknown, or confirmed meanwhile: then it stays.
bool Forget(SchedulerState& state, const PodInfoPtr& pod);
// Asks Unreserve, and takes back what was written of the pod's claims.
void Unreserve(SchedulerState& state, Attempt& attempt, std::string_view node_name);
// Takes all of that back.
void UnreserveAndForget(SchedulerState& state, Attempt& attempt, std::string_view node_name);

// Of a pod that Reserve or Permit said no to.
Failure FailureOf(const framework::PluginStatus& verdict);

}  // namespace berth::scheduler
