// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include "berth/in_tree/handle.h"
#include "berth/in_tree/points.h"

namespace berth::plugins {

// Binds a pod to its node by the API server's binding subresource.
//
// Thread safety: Bind runs on the binding thread.
class DefaultBinder final : public BindPlugin {
 public:
  static constexpr std::string_view kName = "DefaultBinder";

  // `handle` outlives the plugin.
  explicit DefaultBinder(Handle& handle) : handle_(&handle) {}

  // Filters and scores nothing.
  Inputs DeclaredInputs() const { return Inputs::Of(0, {}); }
  void Bind(CycleState&, const PodInfo& pod, std::string_view node_name, Cancellation& cancellation,
            AsyncDone done) override {
    handle_->BindPod(pod, node_name, cancellation, std::move(done));
  }

 private:
  Handle* handle_;
};

}  // namespace berth::plugins
