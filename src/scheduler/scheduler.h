// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "berth/in_tree/plugin.h"
#include "src/engine/judgement.h"
#include "src/engine/pod_group_preview.h"
#include "src/scheduler/messages.h"
#include "src/scheduler/options.h"

namespace berth::cache {
class Cache;
class Nominator;
class ObjectTables;
}  // namespace berth::cache
namespace berth::client {
class ApiClient;
}  // namespace berth::client
namespace berth::metrics {
class Registry;
}  // namespace berth::metrics
namespace berth::queue {
class SchedulingQueue;
}  // namespace berth::queue

namespace berth::scheduler {

class BindingCycles;
class PodStore;
class Profiles;
class UnfinishedPods;

// The story of every pod: from the informers into the cache and the queue, through one scheduling
// cycle at a time, into binding, and back when that fails. docs/life_of_a_pod.md tells it whole.
//
//   inbox -> Loop -> EventHandlers -> cache, queue -> SchedulingCycle -> BindingCycles -> binder
//    ^                                  ^                  |                  |             |
//    |                                  +-- FailureHandler <------------------+             |
//    +------------------------------------- outcome ----------------------------------------+
//
// This class owns the parts and is the door to them; who wants one of them includes its header. The
// scheduling thread owns all of their state; everything reaches it as a Message.
//
// Thread safety: Post(), PostFromExecutor(), Stop(), BusyPlugin(), last_turn() and has_synced()
// from any thread; all else on the thread that runs the loop.
class Scheduler {
 public:
  // All references must outlive the scheduler. `clock` is read once a turn and times the metrics.
  // Errors: the profiles cannot be built.
  static Result<std::unique_ptr<Scheduler>> Make(const SchedulerOptions& options,
                                                 const std::vector<PluginRegistration>& registry,
                                                 const Clock& clock, client::ApiClient& api,
                                                 metrics::Registry& registry_of_metrics);

  ~Scheduler();

  void Post(Message&& message);
  void PostFromExecutor(Message&& message);
  // Starts no further cycle, waits up to `patience` for the bindings under way, ends Run().
  void Stop(Duration patience) { Post(StopRequested{patience}); }

  // Turns until stopped.
  void Run();
  // See Loop.
  std::optional<Time> Turn(Time now);
  // Whether something has arrived that the next turn takes in.
  bool has_messages() const;
  bool stopped() const;
  // Once Run() has ended: calls `done` on the executor's thread when the events that are still
  // unsent have been answered, after `patience` at the latest. Any thread.
  void FlushEvents(Duration patience, std::function<void()> done);

  // The feature gates with what the profiles' plugins add to them.
  const Features& features() const;
  // The pod as it counts: see counted_objects.h. What follows takes either.
  std::shared_ptr<const api::Pod> Counted(const std::shared_ptr<const api::Pod>& pod) const;
  // What the pod's profile makes of it as things stand, judged alone. Changes nothing and does not
  // count in the metrics. Of use until the next turn.
  std::unique_ptr<engine::Judgement> Judge(const std::shared_ptr<const api::Pod>& pod);
  // The same of the pod group that the pod belongs to; nullopt: it belongs to none.
  std::optional<engine::PodGroupPreview> PreviewPodGroup(const api::Pod& pod,
                                                         Effects effects = Effects::kNone);

  // The plugin that the loop is busy with, and where, or "". Any thread.
  std::string BusyPlugin() const;
  // See UnfinishedPods. Any thread.
  const UnfinishedPods& unfinished() const;
  // See BindingCycles.
  void WatchAssignments(AssignmentSink sink);

  // When the loop last began a turn, or until when it may wait for an extender; for liveness.
  Time last_turn() const;
  // Whether all that was there at the start has been taken in; for readiness.
  bool has_synced() const;

  // By the clock that the loop reads.
  Time now() const;

  cache::Cache& cache();
  const cache::Cache& cache() const;
  const cache::ObjectTables& objects() const;
  const ClaimTracker& claims() const;
  const cache::Nominator& nominator() const;
  queue::SchedulingQueue& queue();
  const queue::SchedulingQueue& queue() const;
  const Profiles& profiles() const;
  const BindingCycles& binding_cycles() const;
  // Attempts that failed as another pod of the class had.
  uint64_t num_reused_refusals() const;
  const PodStore& pending_pods() const;
  // The newest version of a pod of ours that has no node, or waits on it for its resize, by
  // "namespace/name"; else nullptr.
  std::shared_ptr<const api::Pod> FindPendingPod(std::string_view key) const;

 private:
  struct Parts;
  explicit Scheduler(std::unique_ptr<Parts> parts);

  std::unique_ptr<Parts> parts_;
};

}  // namespace berth::scheduler
