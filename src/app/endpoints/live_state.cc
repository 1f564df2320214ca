// SPDX-License-Identifier: Apache-2.0
#include "src/app/endpoints/live_state.h"

#include <algorithm>
#include <vector>

#include "src/base/json.h"
#include "src/cache/cache.h"
#include "src/queue/scheduling_queue.h"
#include "src/scheduler/binding_cycles.h"

namespace berth::app {
namespace {

using base::JsonList;
using base::JsonObject;

// cpu in milli-cores, all else in whole units; what is zero is left out.
template <typename ColumnOf>
void AppendAmounts(const cache::Cache& cache, NodeRow row, const std::vector<ResourceId>& resources,
                   ColumnOf column_of, std::string& out) {
  JsonObject amounts(out);
  for (const ResourceId id : resources) {
    const int64_t amount = column_of(id)[row];
    if (amount == 0) continue;
    amounts.Add(id == kCpu ? "milliCPU" : cache.resource_names().Name(id), amount);
  }
}

void AppendNode(cache::Cache& cache, NodeRow row, const std::vector<const cache::CachedPod*>& pods,
                std::string& out) {
  const std::vector<ResourceId> resources = cache.ResourcesOn(row);
  JsonObject node(out);
  node.Add("name", cache.node_name(row));
  if (!cache.nodes().Test(row)) node.Add("deleted", true);
  AppendAmounts(
      cache, row, resources, [&](ResourceId id) { return cache.allocatable(id); },
      node.Key("allocatable"));
  node.Add("allowedPods", cache.allowed_pods()[row]);
  AppendAmounts(
      cache, row, resources, [&](ResourceId id) { return cache.requested(id); },
      node.Key("requested"));
  JsonList list(node.Key("pods"));
  for (const cache::CachedPod* cached : pods) {
    JsonObject pod(list.Next());
    pod.Add("pod", cached->info->pod->metadata.Key());
    pod.Add("uid", cached->info->pod->metadata.uid);
    if (cached->assumed) pod.Add("assumed", true);
  }
}

std::string_view PlaceName(queue::Place place, const queue::QueuedPod& pod) {
  switch (place) {
    case queue::Place::kActive:
      return "activeQ";
    case queue::Place::kBackoff:
      return "backoffQ";
    case queue::Place::kUnschedulable:
      return pod.gating_plugin.empty() ? "unschedulable" : "gated";
    case queue::Place::kNowhere:
      break;
  }
  return "";
}

std::optional<Duration> BackoffLeft(const scheduler::Scheduler& scheduler, std::string_view key,
                                    Time now) {
  const std::optional<Time> ends = scheduler.queue().BackoffEnds(key);
  if (!ends) return std::nullopt;
  return std::max(*ends - now, Duration::zero());
}

std::string_view StepName(scheduler::BindingCycles::View::Step step) {
  using Step = scheduler::BindingCycles::View::Step;
  switch (step) {
    case Step::kPermit:
      return "Permit";
    case Step::kPreBind:
      return "PreBind";
    case Step::kBind:
      return "Bind";
    case Step::kUnconfirmed:
      break;
  }
  return "BindUnconfirmed";
}

// What is known of a pod's attempts.
explain::PodPosition PositionOf(const queue::QueuedPod& pod, std::string_view place, Time now) {
  explain::PodPosition position{.place = place,
                                .attempts = pod.attempts,
                                .gating_plugin = pod.gating_plugin,
                                .unschedulable_plugins = pod.unschedulable_plugins,
                                .pending_plugins = pod.pending_plugins,
                                .woken_by = pod.woken_by};
  if (!pod.woken_by.empty()) position.woken_ago = std::max(now - pod.woken_at, Duration::zero());
  return position;
}

void AppendPending(const scheduler::Scheduler& scheduler,
                   const queue::SchedulingQueue::PendingPod& pending, Time now, std::string& out) {
  const api::ObjectMeta& metadata = pending.pod->pod().metadata;
  const std::string key = metadata.Key();
  explain::PodPosition position =
      PositionOf(*pending.pod, PlaceName(pending.place, *pending.pod), now);
  position.backoff_left = BackoffLeft(scheduler, key, now);
  JsonObject pod(out);
  pod.Add("pod", key);
  pod.Add("uid", metadata.uid);
  explain::AddPosition(position, pod);
}

}  // namespace

Result<std::string> CacheJson(scheduler::Scheduler& scheduler, std::string_view node_name) {
  cache::Cache& cache = scheduler.cache();
  std::vector<NodeRow> rows;
  std::vector<std::vector<const cache::CachedPod*>> pods(cache.num_rows());
  cache.ForEachPod([&](const cache::CachedPod& pod) { pods[pod.row].push_back(&pod); });
  for (NodeRow row = 0; row < cache.num_rows(); ++row) {
    const std::string_view name = cache.node_name(row);
    if (!name.empty() && (node_name.empty() || name == node_name)) rows.push_back(row);
  }
  if (rows.empty() && !node_name.empty()) return Fail("no node " + std::string(node_name));
  std::sort(rows.begin(), rows.end(),
            [&](NodeRow a, NodeRow b) { return cache.node_name(a) < cache.node_name(b); });
  std::string out;
  JsonObject document(out);
  JsonList list(document.Key("nodes"));
  for (const NodeRow row : rows) AppendNode(cache, row, pods[row], list.Next());
  list.Close();
  document.Close();
  return out + "\n";
}

std::string QueueJson(scheduler::Scheduler& scheduler) {
  const queue::QueueCounts counts = scheduler.queue().counts();
  std::string out;
  JsonObject document(out);
  JsonObject numbers(document.Key("counts"));
  numbers.Add("activeQ", counts.active);
  numbers.Add("backoffQ", counts.backoff);
  numbers.Add("unschedulable", counts.unschedulable);
  numbers.Add("gated", counts.gated);
  numbers.Add("inFlight", counts.in_flight);
  numbers.Add("awaitingBind", scheduler.binding_cycles().awaiting_bind());
  numbers.Close();
  JsonList list(document.Key("pods"));
  const Time now = scheduler.now();
  for (const auto& pending : scheduler.queue().PendingPods()) {
    AppendPending(scheduler, pending, now, list.Next());
  }
  list.Close();
  document.Close();
  return out + "\n";
}

std::optional<explain::PodPosition> PositionOf(scheduler::Scheduler& scheduler,
                                               std::string_view pod_key) {
  const auto pod = scheduler.FindPendingPod(pod_key);
  if (pod == nullptr) return std::nullopt;
  const Time now = scheduler.now();
  explain::PodPosition position;
  if (const auto view = scheduler.binding_cycles().Find(pod->metadata.uid)) {
    position = PositionOf(*view->pod, StepName(view->step), now);
    // Of an attempt that went well.
    position.unschedulable_plugins.clear();
    position.pending_plugins.clear();
    position.node = view->node_name;
    position.objectors = view->objectors;
  } else if (const queue::QueuedPod* queued = scheduler.queue().Find(pod_key)) {
    position = PositionOf(*queued, PlaceName(scheduler.queue().WhereIs(pod_key), *queued), now);
    position.backoff_left = BackoffLeft(scheduler, pod_key, now);
  }
  position.nominated_node = scheduler.nominator().NominatedNode(pod->metadata.uid);
  return position;
}

}  // namespace berth::app
