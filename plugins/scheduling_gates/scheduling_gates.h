// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "berth/handle.h"
#include "berth/plugin.h"

namespace berth::plugins {

// Keeps a pod with scheduling gates (spec.schedulingGates) out of the queue until the last gate is
// taken away.
//
// Thread safety: the scheduling thread.
class SchedulingGates final : public PreEnqueuePlugin, public EnqueueExtensions {
 public:
  static constexpr std::string_view kName = "SchedulingGates";

  explicit SchedulingGates(Handle& handle) { (void)handle; }
  static Result<std::unique_ptr<Plugin>> Make(const ConfigValue& args, Handle& handle);

  std::string_view Name() const override { return kName; }
  // Filters and scores nothing.
  Inputs DeclaredInputs() const override { return Inputs::Of(0, {}); }
  // The reasons name the gates, which are the pod's own: they last until the next call.
  Status PreEnqueue(const PodInfo& pod) override;
  std::vector<ClusterEventWithHint> EventsToRegister() const override;

 private:
  std::optional<ReasonTable> reasons_;
};

}  // namespace berth::plugins
