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
  Status PreEnqueue(const PodInfo& pod) override;
  std::vector<ClusterEventWithHint> EventsToRegister() const override;

 private:
  std::optional<ReasonTable> reasons_;
};

}  // namespace berth::plugins
