// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "berth/in_tree/points.h"
#include "src/framework/profile.h"
#include "src/framework/runtime.h"
#include "src/queue/queued_pod.h"

namespace berth::scheduler {

// One attempt at a pod, with all that is known of it: the scheduling cycle begins it and hands it
// on, to the binding cycles or to the failure handler.
struct Attempt {
  std::unique_ptr<queue::QueuedPod> queued;
  const framework::Profile* profile = nullptr;  // kept for as long as the scheduler lives
  framework::Cycle cycle;                       // while the pod is bound, the binder has its state
  Time start;
  Duration stopwatch_start{};  // by SchedulerOptions::stopwatch
  Duration decision_took{};    // by the same; set once decided
  size_t feasible_nodes = 0;   // of the decision, as evaluated_nodes
  size_t evaluated_nodes = 0;

  const PodInfoPtr& info() const { return queued->info; }
  const api::Pod& pod() const { return queued->pod(); }
  const std::string& uid() const { return pod().metadata.uid; }
};

// Why an attempt failed and what is to become of the pod.
struct Failure {
  Code code = Code::kError;
  std::string message = {};
  std::vector<std::string> unschedulable_plugins = {};
  std::vector<std::string> pending_plugins = {};
  // As a rule the pod loses its nomination.
  NominatingInfo nominating = {NominatingMode::kOverride, ""};

  bool rejected() const { return code != Code::kError; }
  // Names a plugin that rejected the pod.
  void AddRejector(std::string plugin) {
    if (code == Code::kPending) pending_plugins.push_back(plugin);
    unschedulable_plugins.push_back(std::move(plugin));
  }
};

}  // namespace berth::scheduler
