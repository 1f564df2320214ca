// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "berth/api/object.h"
#include "src/cache/cache.h"
#include "src/cache/nominator.h"
#include "src/queue/scheduling_queue.h"

// What SIGUSR2 asks for: the scheduler's state as text, and a comparison of it with what the API
// server reported, as kube-scheduler's cache debugger does.
//
// Thread safety: the scheduling thread, since that is where the state lives.
namespace berth::scheduler {

class Scheduler;

// All objects of one kind that the informers hold: what the API server reported last. The caller
// takes them on the executor's thread and brings them along in a message: all events up to then
// have been applied when that is handled, and none after, so the two sides must agree, without
// asking the API server.
using KnownObjects = std::vector<api::ObjectPtr>;

// What is on one side only; sorted.
struct Mismatch {
  std::vector<std::string> missed;     // the informers have it, the scheduler does not
  std::vector<std::string> redundant;  // the other way round

  bool none() const { return missed.empty() && redundant.empty(); }
};

// By name. Ghost rows, which hold pods of nodes that are gone, are no nodes.
Mismatch CompareNodes(const KnownObjects& nodes, const cache::Cache& cache);
// By UID: pods on nodes with those of the cache, the others with those that wait in the queue, on
// Permit or for their Bind (which the cache holds as assumed). Pods without a node that no profile
// is for, as `is_ours` tells, do not concern us; kube-scheduler calls them missed.
Mismatch ComparePods(const KnownObjects& pods, const cache::Cache& cache,
                     const queue::SchedulingQueue& queue,
                     const std::function<bool(std::string_view)>& is_ours);

// Every node with what it has, what is requested of it, its pods and those nominated for it, blank
// lines between nodes.
std::string DumpNodes(const cache::Cache& cache, const cache::Nominator& nominator);
// "activeQ:2; backoffQ:0; unschedulableEntities:1", and where pods are tried by groups
// "; pendingPodGroupMemberPods:0; incompletePodGroupPods:3".
std::string QueueSummary(const queue::SchedulingQueue& queue);
// A line for each pod in the queue, in the order in which they would leave.
std::string DumpQueue(const queue::SchedulingQueue& queue);

// Log where the scheduler's cache and queue differ from what the informers hold.
void LogNodeMismatch(const Scheduler& scheduler, const KnownObjects& nodes);
void LogPodMismatch(const Scheduler& scheduler, const KnownObjects& pods);
// Logs a dump of cache and queue.
void LogDump(const Scheduler& scheduler);

}  // namespace berth::scheduler
