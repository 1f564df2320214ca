// SPDX-License-Identifier: Apache-2.0
#include "plugins/scheduling_gates/scheduling_gates.h"

namespace berth::plugins {

Status SchedulingGates::PreEnqueue(const PodInfo& pod) {
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

std::vector<ClusterEventWithHint> SchedulingGates::EventsToRegister() const {
  return {{{EventResource::kTargetPod, action::kUpdatePodSchedulingGatesEliminated}, nullptr}};
}

}  // namespace berth::plugins
