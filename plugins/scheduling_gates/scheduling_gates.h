// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "berth/in_tree/handle.h"
#include "berth/in_tree/points.h"

namespace berth::plugins {

// Keeps a pod with scheduling gates (spec.schedulingGates) out of the queue until the last gate is
// taken away.
//
// Thread safety: the scheduling thread.
class SchedulingGates final : public PreEnqueuePlugin, public EnqueueExtensions {
 public:
  static constexpr std::string_view kName = "SchedulingGates";

  // Filters and scores nothing.
  Inputs DeclaredInputs() const { return Inputs::Of(0, {}); }
  // The reasons name the gates, which are the pod's own: they last until the next call.
  Status PreEnqueue(const PodInfo& pod) override {
    const auto& gates = pod.pod->spec.scheduling_gates;
    if (gates.empty()) return Status::Success();
    std::string text = "waiting for scheduling gates: [";
    for (size_t i = 0; i < gates.size(); ++i) {
      if (i > 0) text += ' ';
      text += gates[i].name;
    }
    reasons_.emplace();
    return reasons_->Make(Code::kUnschedulableAndUnresolvable, text + "]");
  }
  std::vector<ClusterEventWithHint> EventsToRegister() const override {
    return {{{EventResource::kTargetPod, action::kUpdatePodSchedulingGatesEliminated}, nullptr}};
  }

 private:
  std::optional<ReasonTable> reasons_;
};

}  // namespace berth::plugins
