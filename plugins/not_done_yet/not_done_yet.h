// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include "berth/in_tree/handle.h"
#include "berth/in_tree/plugin.h"
#include "berth/in_tree/points.h"

namespace berth::plugins {

// Stands for a plugin of kube-scheduler that is not done yet, under its name: a pod that needs it
// stays pending, where binding it unjudged could put it where it cannot run. All other pods are
// skipped.
//
// Nothing in the cluster helps such a pod, so the rejection is UnschedulableAndUnresolvable and no
// event is registered.
//
// Thread safety: immutable; every method may run concurrently.
class NotDoneYet final : public PreFilterPlugin, public EnqueueExtensions {
 public:
  // A plugin that this class stands for.
  struct Missing {
    std::string_view name;
    std::string_view reason;
    PodParts reads = 0;
    bool (*needed_by)(const api::PodSpec& spec) = nullptr;
  };

  // `missing` must outlive the plugin.
  NotDoneYet(const Missing& missing, Handle& handle)
      : missing_(missing),
        rejection_(handle.reasons().Make(Code::kUnschedulableAndUnresolvable, missing.reason)) {}

  Inputs DeclaredInputs() const { return Inputs::Of(missing_.reads, {}); }
  PreFilterResult PreFilter(CycleState& state, const PodInfo& pod,
                            const Snapshot& snapshot) override;
  std::vector<ClusterEventWithHint> EventsToRegister() const override { return {}; }

 private:
  const Missing& missing_;
  const Status rejection_;
};

// GangScheduling.
std::vector<PluginRegistration> PluginsNotDoneYet();

}  // namespace berth::plugins
