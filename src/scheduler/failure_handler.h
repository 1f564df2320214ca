// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "src/queue/scheduling_queue.h"
#include "src/scheduler/attempt.h"
#include "src/scheduler/state.h"

namespace berth::scheduler {

// Where attempts end that did not bind their pod: the pod goes back to the queue, and an event,
// FailedScheduling, and the condition PodScheduled say why.
//
// Thread safety: the scheduling thread.
class FailureHandler {
 public:
  // Both must outlive the handler.
  FailureHandler(SchedulerState& state, queue::SchedulingQueue& queue)
      : state_(state), queue_(queue) {}

  // The pod is compared with its newest version. One that is gone or has a node by now is reported,
  // but not queued; where another pod has its name, nothing is said at all.
  void Handle(Attempt attempt, Failure failure, Time now);

 private:
  void PutBack(std::unique_ptr<queue::QueuedPod> queued, PodInfoPtr newest, Failure& failure,
               Time now);
  void Report(const PodInfoPtr& info, const framework::Profile& profile, Failure failure);

  SchedulerState& state_;
  queue::SchedulingQueue& queue_;
};

// The condition PodScheduled of a pod without a node.
api::PodCondition UnscheduledCondition(std::string_view reason, std::string message);

}  // namespace berth::scheduler
