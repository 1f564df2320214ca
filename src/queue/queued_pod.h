// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "berth/cluster_event.h"
#include "berth/in_tree/pod_groups.h"
#include "berth/in_tree/points.h"
#include "berth/pod_info.h"
#include "berth/time.h"

namespace berth::cache {
class PodGroupForest;
}  // namespace berth::cache

namespace berth::queue {

struct QueuedPod;

// The queued pods of a pod group that is part of no other, or of all groups below a composite one.
// They are tried together.
struct QueuedGroup {
  AnyPodGroup object;
  // Ordered by priority, attempts (both descending), timestamp and name.
  std::vector<std::unique_ptr<QueuedPod>> members;
};

// A pod without a node, or with one on which its resize is deferred, and what its earlier attempts
// left behind. Or a pod group: its books, and a
// pod that stands for it, with its namespace, name and priority.
struct QueuedPod {
  PodInfoPtr info;
  std::unique_ptr<QueuedGroup> group;  // nullptr: a pod
  // When it was added or last came back from an attempt. Moves between queues keep it.
  Time timestamp;
  // When it first entered activeQ; the time it was gated before that does not count.
  std::optional<Time> initial_attempt_timestamp;
  int attempts = 0;  // how often Pop() returned it
  // Attempts that ended in a rejection.
  int unschedulable_count = 0;
  // Attempts that ended in an error, since the last rejection.
  int consecutive_errors_count = 0;
  // How long it backs off at least after such an attempt, whatever its counts say.
  Duration least_backoff{};
  // Who rejected the last attempt or gated the pod; sorted, unique. Pop() leaves them in place, so
  // what returns the pod after a failure sets both again.
  std::vector<std::string> unschedulable_plugins;
  // Those whose code was Pending: their event skips the backoff.
  std::vector<std::string> pending_plugins;
  // The last attempt sent a PodScheduled condition that the watch has not shown yet.
  bool condition_unshown = false;
  // The PreEnqueue plugin that holds the pod back, or "".
  std::string gating_plugin;
  // The event that last took it from the unschedulable pods, and when; "": none has.
  std::string woken_by;
  Time woken_at;
  // Whether it left the unschedulable pods only because it had been there too long.
  bool was_flushed_from_unschedulable = false;
  std::optional<Time> flush_timestamp;

  const api::Pod& pod() const { return *info->pod; }
  bool gated() const { return !gating_plugin.empty(); }
  void ClearRejectorPlugins() {
    unschedulable_plugins.clear();
    pending_plugins.clear();
    gating_plugin.clear();
  }
};

struct QueueOptions {
  Duration pod_initial_backoff = std::chrono::seconds(1);
  Duration pod_max_backoff = std::chrono::seconds(10);  // 0 switches backoff off
  Duration pod_max_in_unschedulable_pods_duration = std::chrono::minutes(5);
  // Feature gate SchedulerPopFromBackoffQ: an empty activeQ takes from backoffQ.
  bool pop_from_backoff_q = true;
  // Feature gate GenericWorkload: the pods of a pod group are queued as one. The queue keeps the
  // forest, which must outlive it. nullptr: the gate is off.
  cache::PodGroupForest* pod_groups = nullptr;
  // Feature gate InPlacePodVerticalScalingSchedulerPreemption: pods whose resize is deferred are
  // queued too, each alone.
  bool deferred_resizes = false;
  // Feature gate InPlacePodLevelResourcesVerticalScaling: see PodUpdateEvents().
  bool pod_level_status = true;
};

using QueueLess = std::function<bool(const QueueSortKey&, const QueueSortKey&)>;

struct PreEnqueueResult {
  // The first plugin that did not answer Success, or "".
  std::string gating_plugin;
};

// One registration of a plugin in a profile.
struct PluginHint {
  std::string plugin;
  ClusterEventWithHint registration;
  // What the hint says to a pod depends on the pod's class alone.
  bool by_class = false;
  // QueueHooks::take_moved_gates tells of all pods that the plugin may hold back no more.
  bool tells_of_gates = false;
};

struct ProfileHints {
  std::string scheduler_name;
  std::vector<PluginHint> hints;
};

// What the queue knows of the profiles.
struct QueueHooks {
  // QueueSort's Less. Ties go to the pod that entered the queue first. nullptr: PrioritySort's
  // order, for which the queue calls nothing.
  QueueLess less;
  // Runs the PreEnqueue plugins of the pod's profile, `last_gating_plugin` (or "") first. nullptr:
  // every pod may enter.
  std::function<PreEnqueueResult(const PodInfo& pod, std::string_view last_gating_plugin)>
      pre_enqueue;
  // Adds the keys of pods about which a plugin that tells of its gates may have changed its mind
  // since the last call, or since it held them back, whichever came later. nullptr: no plugin does.
  std::function<void(std::vector<std::string>& pod_keys)> take_moved_gates;
  // The pod in its class of now: pods are parked by it. nullptr: classes never change.
  std::function<PodInfoPtr(PodInfoPtr)> reclass;
  std::vector<ProfileHints> profiles;
};

}  // namespace berth::queue
