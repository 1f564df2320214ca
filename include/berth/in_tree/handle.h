// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "berth/api/pod.h"
#include "berth/in_tree/assumed_volumes.h"
#include "berth/in_tree/async.h"
#include "berth/in_tree/claim_tracker.h"
#include "berth/in_tree/dry_run.h"
#include "berth/in_tree/features.h"
#include "berth/in_tree/node_metrics.h"
#include "berth/in_tree/plugin_message.h"
#include "berth/in_tree/plugin_metrics.h"
#include "berth/in_tree/pod_groups.h"
#include "berth/in_tree/preemption.h"
#include "berth/listers.h"
#include "berth/pod_info.h"
#include "berth/random.h"
#include "berth/snapshot.h"
#include "berth/time.h"

namespace berth::inline in_tree {

// The type of an event in the API.
enum class PodEventType : uint8_t { kNormal, kWarning };

// A pod held back by Permit. Scheduling thread only.
class WaitingPod {
 public:
  virtual ~WaitingPod() = default;
  virtual const PodInfo& pod() const = 0;
  virtual std::string_view node_name() const = 0;
  // `plugin` no longer objects; the pod goes on once none does.
  virtual void Allow(std::string_view plugin) = 0;
  // The pod is rejected in the name of `plugin`.
  virtual void Reject(std::string_view plugin, std::string_view reason) = 0;
  // The pod gives up its place, in the name of `plugin`, and is tried again after a backoff.
  virtual void Preempt(std::string_view plugin, std::string_view reason) = 0;
};

// What the scheduler offers its plugins. Each profile has its own; it outlives its plugins.
//
// Thread safety: the scheduling thread only, except what says "any thread", clock(), stopwatch()
// and EvictPod(), and WriteAssumed(), which is for the binding thread.
class Handle {
 public:
  virtual ~Handle() = default;

  virtual const Clock& clock() const = 0;
  virtual Random& random() = 0;
  virtual const Features& features() const = 0;
  virtual std::string_view scheduler_name() const = 0;

  // The cluster as the running cycle sees it.
  virtual const Snapshot& snapshot() const = 0;
  // The objects of other kinds.
  virtual const Listers& listers() const = 0;
  // Of these kinds, what pods that are on their way to a node have been given, too.
  virtual AssumedVolumes& assumed_volumes() = 0;
  virtual ClaimTracker& claims() = 0;
  // What the source says that nodes use. It is asked again and again, by another thread, while a
  // profile that runs has a plugin that called this; never in commands that read a file, where
  // nothing is known of any node. In a plugin's constructor only. Lives as long as the scheduler.
  virtual const MeasuredNodes& WatchNodeMetrics(const NodeMetricsSource& source) = 0;
  virtual const PodGroupStates& pod_groups() const = 0;
  virtual const PodGroupForest& pod_group_forest() const = 0;
  // Any thread.
  virtual ClaimWriter& claim_writer() = 0;
  virtual ResourceNames& resource_names() = 0;
  // For reasons that live as long as the plugin.
  virtual ReasonTable& reasons() = 0;

  // nullptr when no such pod waits.
  virtual WaitingPod* FindWaitingPod(std::string_view uid) = 0;
  virtual void ForEachWaitingPod(const std::function<void(WaitingPod&)>& visit) = 0;

  // Moves the pods named by "namespace/name" to activeQ at the end of the running cycle, if they
  // are parked or backing off.
  virtual void Activate(const std::vector<std::string>& pod_keys) = 0;

  // For a PostFilter: imagines pods away from nodes. `state` is what PostFilter was given.
  virtual std::unique_ptr<DryRun> StartDryRun(CycleState& state, const PodInfo& pod) = 0;
  // For a PostFilter or a PodGroupPostFilter: moves pods on trial. `state` is what that was given.
  virtual std::unique_ptr<MovesTrial> StartMovesTrial(CycleState& state) = 0;
  // For a PostFilter: the candidates that the extenders leave, ascending by row, with the victims
  // they want; `candidates` itself where no extender knows preemption or cares about the pod.
  // Blocks while they are asked. Error: one failed that scheduling must not go on without.
  virtual Result<std::vector<PreemptionCandidate>> ProcessPreemption(
      const PodInfo& /*pod*/, std::vector<PreemptionCandidate> candidates) {
    return candidates;
  }
  // Calls visit(pod) for every pod that is nominated for the node.
  virtual void ForEachNominatedPod(std::string_view node_name,
                                   const std::function<void(const PodInfoPtr&)>& visit) = 0;
  // The same for every node.
  virtual void ForEachNominatedPod(const std::function<void(const PodInfoPtr&)>& visit) = 0;
  // Takes the nomination out of the pod's status. The answer is not waited for.
  virtual void ClearNominatedNode(const PodInfo& pod) = 0;
  // The newest version of a pending pod of one of the profiles, or nullptr.
  virtual std::shared_ptr<const api::Pod> FindPendingPod(std::string_view namespace_,
                                                         std::string_view name) const = 0;

  // Marks the pod as a target of disruption (DisruptionTarget, PreemptionByScheduler) with this
  // message, then deletes it. `done` gets Success when it is going by this, Skip when there is no
  // such pod any more.
  virtual void EvictPod(std::shared_ptr<const api::Pod> pod, std::string message,
                        AsyncDone done) = 0;
  // Asks for the pod's eviction (policy/v1), which the API server grants where the pod's
  // PodDisruptionBudgets allow it. `done` gets Success when the pod is going by this, Skip when
  // there is no such pod any more, Unschedulable where a budget allows it not now.
  virtual void AskForEviction(std::shared_ptr<const api::Pod> pod, AsyncDone done) = 0;
  // Keeps room on the node for the next pod that the controller of `leaving` makes, as for a pod
  // that is nominated there; that pod is tried there first when it comes. The place is given back
  // some minutes after the pod that leaves has gone.
  virtual void HoldPlace(std::shared_ptr<const api::Pod> leaving, std::string_view node_name) = 0;
  virtual void GiveBackPlace(std::string_view leaving_uid) = 0;
  // Ends the pod's PreBind, and with it its binding cycle. False: it is in none.
  virtual bool CancelPreBind(std::string_view uid, std::string cause) = 0;
  // An event about `pod`, in the name of this profile. `related`: what else it is about, or
  // nothing. Any thread.
  virtual void RecordEvent(const api::Pod& pod, PodEventType type, std::string_view reason,
                           std::string_view action, std::string note,
                           api::Boxed<api::ObjectReference> related) = 0;
  // Writes what is assumed of the object: the volume's claimRef, with the annotation
  // pv.kubernetes.io/bound-by-controller where it has one, or the claim's annotation
  // volume.kubernetes.io/selected-node. Error, with the API server's words, where the object is no
  // longer of the same resourceVersion, or the write failed otherwise. Within PreBind, or what that
  // is answered with.
  virtual void WriteAssumed(const api::PersistentVolume& volume, Cancellation& cancellation,
                            AsyncDone done) = 0;
  virtual void WriteAssumed(const api::PersistentVolumeClaim& claim, Cancellation& cancellation,
                            AsyncDone done) = 0;
  // Asks wait.check at the next opportunity and after each change that it names, until it gives a
  // verdict, time is up or the wait is cancelled. No thread is held meanwhile. Any thread.
  virtual void WaitFor(ObjectWait wait, Cancellation& cancellation, AsyncDone done) = 0;
  // The scheduling thread carries the message out between two cycles, in the order of arrival. Any
  // thread.
  virtual void Post(PluginMessage message) = 0;

  // The scheduler's own metrics, by name, as kube-scheduler calls them, without the prefix
  // "scheduler_". Labels in the metric's order. An unknown name is a bug. Any thread.
  virtual void CountMetric(std::string_view name, std::initializer_list<std::string_view> labels,
                           double by) = 0;
  virtual void ObserveMetric(std::string_view name, std::initializer_list<std::string_view> labels,
                             double value) = 0;
  // What such a metric of a duration goes by: time goes on here while a decision is made, and does
  // not by clock(). No decision may depend on it.
  virtual const Clock& stopwatch() const = 0;
  // Metrics that plugins define themselves. Any thread.
  virtual PluginMetrics& plugin_metrics() = 0;

  // Binds the pod by the API server's binding subresource. `done` gets Success once the pod is
  // known to be on the node and Error once it is known not to be; an answer that never came is
  // replaced by a read of the pod. Any thread.
  virtual void BindPod(const PodInfo& pod, std::string_view node_name, Cancellation& cancellation,
                       AsyncDone done) = 0;

  // Runs `work` on the scheduling thread, between two cycles; what is asked for within a cycle, at
  // its end. For plugin libraries, whose interface has functions only: a recording holds of it no
  // more than which pods it activates. Any thread.
  virtual void RunLater(std::function<void()> work) = 0;
};

}  // namespace berth::inline in_tree
