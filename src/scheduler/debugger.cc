// SPDX-License-Identifier: Apache-2.0
#include "src/scheduler/debugger.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "src/base/logging.h"
#include "src/scheduler/profiles.h"
#include "src/scheduler/scheduler.h"

namespace berth::scheduler {
namespace {

Mismatch Compare(std::vector<std::string> wanted, std::vector<std::string> found) {
  std::sort(wanted.begin(), wanted.end());
  std::sort(found.begin(), found.end());
  Mismatch mismatch;
  std::set_difference(wanted.begin(), wanted.end(), found.begin(), found.end(),
                      std::back_inserter(mismatch.missed));
  std::set_difference(found.begin(), found.end(), wanted.begin(), wanted.end(),
                      std::back_inserter(mismatch.redundant));
  return mismatch;
}

std::string Listed(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : " ") + name;
  return "[" + text + "]";
}

std::string PodLine(const api::Pod& pod) {
  return "name: " + pod.metadata.name + ", namespace: " + pod.metadata.namespace_ +
         ", uid: " + pod.metadata.uid + ", phase: " + pod.status.phase +
         ", nominated node: " + pod.status.nominated_node_name + "\n";
}

// "cpu: 100m, memory: 4096, ..."; what is 0 is left out.
template <typename ColumnOf>
std::string Amounts(const cache::Cache& cache, NodeRow row, int64_t pods, ColumnOf column_of) {
  std::string text = "pods: " + std::to_string(pods);
  for (const ResourceId id : cache.ResourcesOn(row)) {
    const auto column = column_of(id);
    if (column[row] == 0) continue;
    text += ", " + std::string(cache.resource_names().Name(id)) + ": " +
            std::to_string(column[row]) + (id == kCpu ? "m" : "");
  }
  return text;
}

std::string DumpNode(const cache::Cache& cache, NodeRow row, const cache::Nominator& nominator) {
  const std::string_view name = cache.node_name(row);
  const auto pods = cache.pods(row);
  std::string text = "Node name: " + std::string(name) +
                     "\nDeleted: " + (cache.nodes().Test(row) ? "false" : "true") +
                     "\nRequested Resources: " +
                     Amounts(cache, row, cache.pod_count()[row],
                             [&](ResourceId id) { return cache.requested(id); }) +
                     "\nAllocatable Resources: " +
                     Amounts(cache, row, cache.allowed_pods()[row],
                             [&](ResourceId id) { return cache.allocatable(id); }) +
                     "\nScheduled Pods(number: " + std::to_string(pods.size()) + "):\n";
  for (const PodInfo* pod : pods) text += PodLine(*pod->pod);
  const auto nominated = nominator.NominatedPodsForNode(name);
  if (nominated.empty()) return text;
  text += "Nominated Pods(number: " + std::to_string(nominated.size()) + "):\n";
  for (const PodInfoPtr& pod : nominated) text += PodLine(*pod->pod);
  return text;
}

}  // namespace

Mismatch CompareNodes(const KnownObjects& nodes, const cache::Cache& cache) {
  std::vector<std::string> wanted;
  for (const api::ObjectPtr& object : nodes) {
    if (const auto* node = api::As<api::Node>(object)) wanted.push_back(node->metadata.name);
  }
  std::vector<std::string> found;
  cache.nodes().ForEach([&](NodeRow row) { found.emplace_back(cache.node_name(row)); });
  return Compare(std::move(wanted), std::move(found));
}

Mismatch ComparePods(const KnownObjects& pods, const cache::Cache& cache,
                     const queue::SchedulingQueue& queue,
                     const std::function<bool(std::string_view)>& is_ours) {
  std::vector<std::string> wanted;
  for (const api::ObjectPtr& object : pods) {
    const auto* pod = api::As<api::Pod>(object);
    if (pod == nullptr) continue;
    if (!pod->spec.node_name.empty() || is_ours(pod->spec.scheduler_name)) {
      wanted.push_back(pod->metadata.uid);
    }
  }
  std::vector<std::string> found;
  cache.ForEachPod(
      [&](const cache::CachedPod& pod) { found.push_back(pod.info->pod->metadata.uid); });
  for (const auto& pending : queue.PendingPods()) {
    // One that waits for its resize is in the cache, too.
    if (!pending.pod->info->resize_deferred) found.push_back(pending.pod->pod().metadata.uid);
  }
  return Compare(std::move(wanted), std::move(found));
}

std::string DumpNodes(const cache::Cache& cache, const cache::Nominator& nominator) {
  std::string text;
  for (NodeRow row = 0; row < cache.num_rows(); ++row) {
    if (cache.node_name(row).empty()) continue;
    if (!text.empty()) text += '\n';
    text += DumpNode(cache, row, nominator);
  }
  return text;
}

std::string QueueSummary(const queue::SchedulingQueue& queue) {
  const queue::QueueCounts counts = queue.counts();
  std::string text =
      "activeQ:" + std::to_string(counts.active) + "; backoffQ:" + std::to_string(counts.backoff) +
      "; unschedulableEntities:" + std::to_string(counts.unschedulable + counts.gated);
  if (!counts.has_groups) return text;
  return text + "; pendingPodGroupMemberPods:" + std::to_string(counts.pending) +
         "; incompletePodGroupPods:" + std::to_string(counts.incomplete);
}

std::string DumpQueue(const queue::SchedulingQueue& queue) {
  std::string text;
  for (const auto& pending : queue.PendingPods()) text += PodLine(pending.pod->pod());
  return text;
}

void LogNodeMismatch(const Scheduler& scheduler, const KnownObjects& nodes) {
  const Mismatch found = CompareNodes(nodes, scheduler.cache());
  if (found.none()) return;
  base::LogInfo("Cache mismatch", {{"missedNodes", Listed(found.missed)},
                                   {"redundantNodes", Listed(found.redundant)}});
}

void LogPodMismatch(const Scheduler& scheduler, const KnownObjects& pods) {
  const Mismatch found = ComparePods(
      pods, scheduler.cache(), scheduler.queue(),
      [&scheduler](std::string_view name) { return scheduler.profiles().Find(name) != nullptr; });
  if (found.none()) return;
  base::LogInfo("Cache mismatch",
                {{"missedPods", Listed(found.missed)}, {"redundantPods", Listed(found.redundant)}});
}

void LogDump(const Scheduler& scheduler) {
  base::LogInfo("Dump of cached NodeInfo",
                {{"nodes", DumpNodes(scheduler.cache(), scheduler.nominator())}});
  base::LogInfo("Dump of scheduling queue", {{"summary", QueueSummary(scheduler.queue())},
                                             {"pods", DumpQueue(scheduler.queue())}});
}

}  // namespace berth::scheduler
