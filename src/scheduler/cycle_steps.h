// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "src/engine/decision.h"
#include "src/engine/engine.h"
#include "src/framework/runtime.h"
#include "src/queue/scheduling_queue.h"
#include "src/scheduler/attempt.h"
#include "src/scheduler/binding_cycles.h"
#include "src/scheduler/failure_handler.h"
#include "src/scheduler/options.h"
#include "src/scheduler/profiles.h"
#include "src/scheduler/state.h"

// The steps that the cycle of a pod and that of a pod group share. Scheduling thread.

namespace berth::scheduler {

// What the cycle of a pod and that of a pod group work with. All of it outlives them.
struct CycleParts {
  SchedulerState& state;
  const Profiles& profiles;
  queue::SchedulingQueue& queue;
  engine::Engine& engine;
  BindingCycles& binding_cycles;
  FailureHandler& failures;
};

// How every attempt at a pod leaves its scheduling cycle: to its binding cycle, or with a failure.
//
// Thread safety: the scheduling thread.
class CycleEnd {
 public:
  // Of the options it takes what reports cycles.
  CycleEnd(const CycleParts& parts, const SchedulerOptions& options)
      : parts_(parts), on_cycle_(options.on_cycle) {}

  // The pod enters its binding cycle, where it first waits if Permit said so.
  void Bind(Attempt&& attempt, std::string&& node_name, framework::PermitVerdict&& permit);
  // `tried_node` is where the pod would have gone, but for its pod group.
  void Fail(Attempt attempt, Failure failure, std::string_view tried_node = {});

 private:
  void Report(const CycleOutcome& outcome) const;

  const CycleParts parts_;
  const std::function<void(const CycleOutcome&)> on_cycle_;
};

// What a pod is decided against.
engine::ClusterState ClusterOf(SchedulerState& state);

// Whether the pod needs no node any more: it is being deleted (which an event says), or has been
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
// Asks Permit about a pod that is assumed and reserved on the node. nullopt: it may be bound, or
// waits, as `permit` says. Else why not, and all of it is taken back.
std::optional<Failure> AskPermit(SchedulerState& state, Attempt& attempt,
                                 std::string_view node_name, framework::PermitVerdict& permit);
// Asks Permit about a pod that runs on the node, where its resize fits: it is not bound, whatever
// Permit says, but waits for the kubelet.
Failure ResizeFits(Attempt& attempt, std::string_view node_name);
// Takes an assumed pod away. False when it is unknown, or confirmed meanwhile: then it stays.
bool Forget(SchedulerState& state, const PodInfoPtr& pod);
// Asks Unreserve, and takes back what was written of the pod's claims.
void Unreserve(SchedulerState& state, Attempt& attempt, std::string_view node_name);
// Takes all of that back.
void UnreserveAndForget(SchedulerState& state, Attempt& attempt, std::string_view node_name);

// Of a pod that Reserve or Permit said no to.
Failure FailureOf(const framework::PluginStatus& verdict);

}  // namespace berth::scheduler
