// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "berth/in_tree/points.h"
#include "src/base/string_map.h"
#include "src/binding/binder.h"
#include "src/framework/runtime.h"
#include "src/framework/waiting_pods.h"
#include "src/queue/scheduling_queue.h"
#include "src/scheduler/attempt.h"
#include "src/scheduler/failure_handler.h"
#include "src/scheduler/options.h"
#include "src/scheduler/state.h"

namespace berth::scheduler {

// The pods with a node that are not yet known to be bound: Permit holds them back, or the binder
// has them.
//
//   Begin --Permit waits--> waiting pods --allowed--> binder --outcome--> bound
//     |                          |                      ^  |
//     +--------------------------|----------------------+  | refused
//                                | rejected, timed out     v
//                                +-------------------> Unreserve, FailureHandler
//
// At most max(burst, 64) pods await the answer to their Bind: beyond that no further pod is to be
// decided, so that a late pod of high priority never stands behind stale decisions. Unconfirmed
// binds do not count, so that those of one namespace never keep the pods of all others waiting:
// those whose answer is late, and those that are confirmed by reads.
//
// In the shadow of another scheduler (SchedulerOptions::shadow) no pod goes to the binder: what it
// holds is released as soon as it would, so that the cache has only what was bound.
//
// Thread safety: the scheduling thread.
class BindingCycles {
 public:
  // All must outlive the binding cycles. `burst` is that of the client connection.
  BindingCycles(SchedulerState& state, queue::SchedulingQueue& queue, FailureHandler& failures,
                int32_t burst);

  // Takes over a pod that is assumed and reserved on the node, and which Permit lets go on or wait.
  void Begin(Attempt&& attempt, std::string&& node_name, framework::PermitVerdict permit, Time now);
  // Takes up what has become of the pods that wait at Permit.
  void HandlePermitOutcomes(Time now);
  // The pod's PreBind is over, its Bind has begun.
  void HandlePreBindDone(std::string_view uid);
  // The answer to the pod's bind is late, or what became of it has to be read.
  void HandleUnconfirmed(std::string_view uid);
  void HandleOutcome(binding::BindOutcome&& outcome, Time now);

  // Whether back-pressure lets another pod be decided.
  bool HasRoom() const { return awaiting_bind_ < bind_limit_; }
  // Pods that await the answer to their Bind; not those whose bind is unconfirmed.
  size_t awaiting_bind() const { return awaiting_bind_; }
  size_t size() const { return assumed_.size(); }
  // How far a pod has got.
  struct View {
    enum class Step { kPermit, kPreBind, kBind, kUnconfirmed };
    Step step = Step::kPermit;
    const queue::QueuedPod* pod = nullptr;
    std::string_view node_name;
    std::vector<std::string> objectors;  // kPermit: the plugins that hold it back
  };
  // Of use until the next turn. nullopt: the pod is not among them.
  std::optional<View> Find(std::string_view uid) const;
  // From now on `sink` (nullptr: none any more) gets each pod that has got a node, and each
  // that fails here, reported before or not; first of the pods that there are. It is not
  // called when a pod is bound, or deleted: the informers report that.
  void WatchAssignments(AssignmentSink sink);
  // Those with that schedulerName.
  size_t CountPodsOf(std::string_view scheduler_name) const;

 private:
  struct AssumedPod {
    Attempt attempt;
    std::string node_name;
    std::vector<framework::Entry<PreBindPlugin>> pre_bind;  // those with work
    bool awaiting_bind = false;
    bool unconfirmed = false;
  };
  using AssumedPods = base::StringMap<AssumedPod>;  // by UID

  void HandlePermitOutcome(framework::PermitOutcome& outcome, Time now);
  // Hands the pod to the binder.
  void StartBinding(AssumedPod& pod);
  // Whether the pod counts for back-pressure.
  void SetAwaitingBind(AssumedPod& pod, bool awaiting);
  AssumedPod Take(AssumedPods::iterator it);
  void ObserveTimings(const framework::Profile& profile, const binding::BindOutcome& outcome);
  void EndInShadow(AssumedPod pod);
  void FinishBound(const AssumedPod& pod, Time now);
  void Fail(AssumedPod pod, Failure failure, Time now);
  void ReportAssignment(const std::shared_ptr<const api::Pod>& pod,
                        std::string_view node_name) const {
    if (assignment_sink_) assignment_sink_({pod, std::string(node_name)});
  }

  SchedulerState& state_;
  queue::SchedulingQueue& queue_;
  FailureHandler& failures_;
  AssumedPods assumed_;
  AssignmentSink assignment_sink_;
  size_t awaiting_bind_ = 0;
  const size_t bind_limit_;
  const metrics::SeriesId attempts_series_;
  const metrics::SeriesId flushed_series_;
};

}  // namespace berth::scheduler
