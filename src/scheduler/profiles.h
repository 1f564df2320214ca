// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "berth/in_tree/handle.h"
#include "berth/in_tree/preemption.h"
#include "berth/time.h"
#include "src/config/types.h"
#include "src/framework/profile.h"
#include "src/queue/queued_pod.h"
#include "src/scheduler/state.h"

namespace berth::scheduler {

// The profiles that pods are scheduled by, and the configuration that they were made from.
//
// A reload puts others in their place. Those that served once are kept all the same: pods in
// binding cycles go on with the profile they have, and a plugin may have asked for something, such
// as an eviction, whose answer comes back to it at any time. They are small, and reloads are rare.
//
// Thread safety: the scheduling thread.
class Profiles {
 public:
  // `state` must outlive the profiles. Errors: one cannot be built, or sorts unlike the first.
  static Result<Profiles> Make(config::SchedulerConfiguration configuration,
                               std::vector<PluginRegistration> registry, SchedulerState& state);

  // nullptr: pods of that schedulerName are not ours.
  const framework::Profile* Find(std::string_view scheduler_name) const;
  // Whether the profile of that schedulerName has the plugin Coscheduling.
  bool HasCoscheduling(std::string_view scheduler_name) const;
  // Its arg podGroupBackoffSeconds there, a year at most; 0 without the plugin.
  Duration PodGroupBackoff(std::string_view scheduler_name) const;
  // Of one of the profiles, which all sort alike.
  const framework::Entry<QueueSortPlugin>& queue_sort() const;
  // The parts of a pod that declared plugins of any profile read.
  PodParts signature_parts() const;
  // The labels of pods that they test; may repeat.
  std::vector<std::string> tested_label_keys() const;
  // Where their plugins read what nodes are measured to use; may repeat.
  const std::vector<NodeMetricsSource>& node_metrics_sources() const {
    return current_.node_metrics_sources;
  }
  // What the plugins of each profile registered for, and the extenders, where there are any.
  std::vector<queue::ProfileHints> Hints() const;
  // Passes it to the plugin that asked for the eviction, also one that has been replaced.
  void TakeAnswer(const EvictionAnswered& answered) const;
  // MovedGates::TakeMovedGates of all profiles.
  void TakeMovedGates(std::vector<std::string>& pod_keys) const;
  int32_t PercentageOfNodesToScore(const framework::Profile& profile) const;
  // What is in use.
  const config::SchedulerConfiguration& configuration() const { return configuration_; }

  // Makes the profiles of `next` and puts them in the place of the present ones; false: it says
  // what the present configuration says. `count_pods` tells how many pods wait for, or are being
  // bound by, the profile of a schedulerName. Errors, and nothing has changed: another field
  // differs (with its path), a profile is gone that pods wait for, a profile cannot be built.
  Result<bool> Replace(config::SchedulerConfiguration next,
                       const std::function<size_t(std::string_view)>& count_pods);

 private:
  // What one configuration made. Profiles refer to their handles.
  struct Made {
    std::vector<std::unique_ptr<Handle>> handles;
    std::map<std::string, std::unique_ptr<framework::Profile>, std::less<>> profiles;
    std::vector<MovedGates*> moved_gates;                             // plugins of all profiles
    std::map<std::string, Duration, std::less<>> pod_group_backoffs;  // those above 0
    std::vector<NodeMetricsSource> node_metrics_sources;
  };

  Profiles(std::vector<PluginRegistration> registry, SchedulerState& state)
      : registry_(std::move(registry)), state_(&state) {}
  Result<Made> MakeAll(const config::SchedulerConfiguration& configuration) const;
  Result<void> CheckQueueSort(const Made& made, const config::SchedulerConfiguration& next) const;

  std::vector<PluginRegistration> registry_;
  SchedulerState* state_;
  config::SchedulerConfiguration configuration_;
  std::vector<Made> retired_;
  Made current_;
};

}  // namespace berth::scheduler
