// SPDX-License-Identifier: Apache-2.0
#include "src/app/live_state.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "src/base/json.h"
#include "src/cache/cache.h"
#include "src/explain/verdict_json.h"
#include "src/queue/scheduling_queue.h"

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
  amounts.Close();
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
    pod.Close();
  }
  list.Close();
  node.Close();
}

std::string_view PlaceName(const queue::SchedulingQueue::PendingPod& pending) {
  switch (pending.place) {
    case queue::Place::kActive:
      return "activeQ";
    case queue::Place::kBackoff:
      return "backoffQ";
    case queue::Place::kUnschedulable:
      return pending.pod->gating_plugin.empty() ? "unschedulable" : "gated";
    case queue::Place::kNowhere:
      break;
  }
  return "";
}

void AppendPending(const queue::SchedulingQueue::PendingPod& pending, std::string& out) {
  const queue::QueuedPod& queued = *pending.pod;
  JsonObject pod(out);
  pod.Add("pod", queued.info->pod->metadata.Key());
  pod.Add("uid", queued.info->pod->metadata.uid);
  pod.Add("place", PlaceName(pending));
  pod.Add("attempts", queued.attempts);
  pod.AddIfNotEmpty("gatingPlugin", queued.gating_plugin);
  if (!queued.unschedulable_plugins.empty()) {
    base::AppendJsonList(queued.unschedulable_plugins, pod.Key("unschedulablePlugins"));
  }
  if (!queued.pending_plugins.empty()) {
    base::AppendJsonList(queued.pending_plugins, pod.Key("pendingPlugins"));
  }
  pod.Close();
}

// The node that the pod is on; "" for none.
std::string NodeOf(const cache::Cache& cache, std::string_view pod_key) {
  std::string node;
  cache.ForEachPod([&](const cache::CachedPod& pod) {
    if (node.empty() && pod.info->pod->metadata.Key() == pod_key) node = cache.node_name(pod.row);
  });
  return node;
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
  for (const auto& pending : scheduler.queue().PendingPods()) AppendPending(pending, list.Next());
  list.Close();
  document.Close();
  return out + "\n";
}

Result<std::string> ExplainJson(scheduler::Scheduler& scheduler, std::string_view pod_key,
                                const Previews& previews) {
  const auto pod = scheduler.FindPendingPod(pod_key);
  if (pod == nullptr) {
    const std::string node = NodeOf(scheduler.cache(), pod_key);
    if (node.empty()) return Fail("no pod " + std::string(pod_key) + " waits for this scheduler");
    return Fail(std::string(pod_key) + " is not pending: it is on node " + node);
  }
  const std::unique_ptr<engine::Judgement> judgement = scheduler.Judge(pod);
  judgement->Explain();
  if (previews.preemption) judgement->PreviewPreemption();
  if (previews.claims) judgement->PreviewClaims();
  const auto group = scheduler.PreviewPodGroup(*pod);
  std::string out;
  explain::VerdictWriter(scheduler.cache()).Append(*judgement, out, group ? &*group : nullptr);
  return out;
}

}  // namespace berth::app
