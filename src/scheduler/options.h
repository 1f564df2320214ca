// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "berth/in_tree/handle.h"
#include "src/config/types.h"
#include "src/extender/extender.h"

namespace berth::scheduler {

class BackgroundWork;
class ShadowListener;
class Tape;

// How a scheduling cycle ended.
struct CycleOutcome {
  const api::Pod& pod;
  Code code = Code::kSuccess;  // kSuccess or kWait: the pod goes to the node
  std::string_view node_name;  // "" where it goes to none
  std::string_view message;    // why not, as the FailedScheduling event says it
  // Of a pod that goes to none: where it would have gone had its pod group fitted; and the node
  // that it is nominated for from now on. "" where there is none.
  std::string_view tried_node;
  std::string_view nominated_node;
  // The decision itself, preemption included, by SchedulerOptions::stopwatch.
  Duration took{};
};

// How the scheduling cycle of a pod group ended, after those of its pods.
struct PodGroupOutcome {
  const api::PodGroup& pod_group;
  // The composite one with which it was tried; nullptr: it was tried by itself.
  const api::CompositePodGroup* composite_pod_group = nullptr;
  // Of the condition PodGroupInitiallyScheduled, whether it was written or not.
  std::string_view status;
  std::string_view reason;
  std::string_view message;
};

// What a preview may do to the cluster. To try a group is to reserve for its pods, and to take that
// back: a reservation of a claim, too, that was there before.
enum class Effects { kOnClaims, kNone };

// A pod has got a node, or, where `node_name` is empty, has lost it again.
struct PodAssignment {
  std::shared_ptr<const api::Pod> pod;
  std::string node_name;
};
using AssignmentSink = std::function<void(const PodAssignment&)>;

struct SchedulerOptions {
  config::SchedulerConfiguration configuration;
  Features features;
  // In the order in which they are asked. Without them the configuration's extenders are not asked,
  // but the resources that those keep from the scheduler are.
  extender::ExtenderList extenders;
  Duration pod_max_in_unschedulable_pods_duration = std::chrono::minutes(5);
  uint64_t seed = 0;
  // What plugins answered, and that no node takes a class, is kept for the next pods of the class,
  // in so much memory. 0: every pod is evaluated by itself. The slow twin.
  size_t max_kept_bytes = 128u << 20;
  std::string hostname;  // ends the reportingInstance of events
  // Off: cache and queue fill, but no cycle begins before LeadingBegan arrives.
  bool leading = true;
  // Called at the end of every scheduling cycle, on the thread that runs the loop; may be empty.
  std::function<void(const CycleOutcome&)> on_cycle;
  // Likewise of pod groups.
  std::function<void(const PodGroupOutcome&)> on_pod_group;
  // What decisions are timed with for `on_cycle`; empty: they are not.
  std::function<Duration()> stopwatch;
  // When it counts as made, for what happens at intervals; nullopt: the clock says.
  std::optional<Time> start = std::nullopt;
  // Records or replays; must outlive the scheduler. nullptr: neither.
  Tape* tape = nullptr;
  // Decides in the shadow of another scheduler: nothing is bound, and the listener gets what the
  // other does with the same pods. What else is written goes to the API client, which must not let
  // it through. Must outlive the scheduler. nullptr: binds.
  ShadowListener* shadow = nullptr;
  // Gets the sources of node metrics that the profiles' plugins read, when they are made and after
  // each reload, on the thread that does so; what is read of them comes as messages. Empty: they
  // are not read.
  std::function<void(std::vector<NodeMetricsSource>)> watch_node_metrics;
  // What is done in small parts between cycles; must outlive the scheduler. nullptr: nothing is.
  BackgroundWork* background = nullptr;
};

}  // namespace berth::scheduler
