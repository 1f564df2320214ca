// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "berth/random.h"
#include "berth/snapshot.h"
#include "src/engine/diagnosis.h"
#include "src/extender/extenders.h"
#include "src/framework/runtime.h"

namespace berth::cache {
class Cache;
class NodeOrder;
}  // namespace berth::cache

namespace berth::engine {

class KeptEvaluations;

// What a pod hears when there are no nodes at all.
inline constexpr std::string_view kNoNodesMessage = "no nodes available to schedule pods";

// Pods that are expected on nodes they are not yet assumed on.
class NominatedPods {
 public:
  virtual ~NominatedPods() = default;
  // Calls visit for every nomination, in a fixed order.
  virtual void ForEach(
      const std::function<void(std::string_view node_name, const PodInfo& pod)>& visit) const = 0;
  virtual bool empty() const = 0;
  // Changes whenever a nomination comes, goes or gets a newer pod.
  virtual uint64_t generation() const = 0;
  // The node that the pod is nominated for, or "".
  virtual std::string_view NodeOf(std::string_view uid) const = 0;
  // Whether `pod` was promised room on a node, and `other`, of the same priority, on the same node
  // only later: then `pod` need not leave room for `other`. See docs/decisions/0005.
  virtual bool GoesBefore(const PodInfo& pod, const PodInfo& other) const {
    (void)pod, (void)other;
    return false;
  }

  // Whether `pod` must fit on a node together with `nominated`, which is nominated for it: another
  // pod of higher priority, or of equal one unless that came later.
  bool Counts(const PodInfo& pod, const PodInfo& nominated) const {
    if (nominated.priority() != pod.priority()) return nominated.priority() > pod.priority();
    return nominated.pod->metadata.uid != pod.pod->metadata.uid && !GoesBefore(pod, nominated);
  }
  // Whether `pod` must leave room for any of them.
  bool Matter(const PodInfo& pod) const;
};

// The cluster a pod is decided against.
struct World {
  const Snapshot& snapshot;
  const NominatedPods& nominated;
  // Grows with every change of objects that are neither pods nor nodes.
  uint64_t objects_generation = 0;
  // The same for PodDisruptionBudgets, which only preemption reads.
  uint64_t budgets_generation = 0;
  // nullptr: there are none, or they are not to be asked.
  extender::Extenders* extenders = nullptr;
  const cache::NodeOrder* node_order = nullptr;  // nullptr: row order
};

// What a pod is told that no node takes, and what becomes of its nomination.
struct Refusal {
  std::string message;
  std::vector<std::string> unschedulable_plugins;
  std::vector<std::string> pending_plugins;
  NominatingInfo nominating;
};

// Whether a pod may be refused because others of its class were.
enum class RefuseAlike : uint8_t { kNo, kYes };

// What came out for one pod.
struct Decision {
  enum class Kind {
    kScheduled,  // node is set
    kUnfit,      // no node passed: refusal or, where that is nullptr, diagnosis() tells why
    kNoNodes,    // there are no nodes at all
    kError,      // error is set
  };
  Kind kind = Kind::kError;
  NodeRow node = kNoRow;
  size_t feasible_nodes = 0;
  size_t evaluated_nodes = 0;
  bool kept = false;  // by what was kept of earlier pods
  // What the last pod of the class was told that was evaluated; good until the next call of the
  // engine. PostFilter need not be asked again.
  const Refusal* refusal = nullptr;
  std::string error;
};

// Decides where a pod goes: PreFilter, Filter, PreScore, Score and the choice. Changes nothing but
// its own rotating start, its random source and the pod's Cycle.
//
// All nodes are considered unless a percentage was asked for, or an extender takes part: then
// kube-scheduler's default, and a search goes through the nodes zone by zone in turn
// (cache::NodeOrder) from where the last one ended. Nodes with nominated pods of equal or higher
// priority must pass twice: with those pods and without. Ties are broken by a draw, in row order.
//
// With a cache, what plugins answered for earlier pods of a class, and that no node took them, is
// kept and brought up to date (KeptEvaluations); the evaluation below is then for the first pod of
// a class, and for whatever cannot be kept. Without, it is all there is: the slow twin.
//
// Thread safety: the scheduling thread.
class Engine {
 public:
  // Evaluates every pod by itself.
  explicit Engine(Random random);
  // Keeps answers about `cache`, which must outlive the engine and be the snapshot of every world,
  // in up to `max_kept_bytes` (0: none); decides the same.
  Engine(Random random, const cache::Cache& cache, size_t max_kept_bytes);
  Engine(Engine&&) noexcept;
  Engine& operator=(Engine&&) noexcept;
  ~Engine();

  // `percentage_of_nodes_to_score`: 1..100 looks for only so many feasible nodes, as
  // kube-scheduler does; 0 for all.
  Decision Schedule(const framework::Profile& profile, framework::Cycle& cycle, const PodInfo& pod,
                    const World& world, int32_t percentage_of_nodes_to_score,
                    RefuseAlike refuse_alike = RefuseAlike::kYes);
  // What the pod of the last call, which came out unfit without a refusal, was told in the end;
  // `cycle` is the one it was evaluated in. Where it can be kept, others of its class hear the
  // same.
  void KeepRefusal(const framework::Profile& profile, framework::Cycle cycle, const PodInfo& pod,
                   const World& world, Refusal refusal);

  // Drops what is kept; to be called before a profile ends.
  void ForgetKept();
  // To be called at even intervals: drops what was not used for KeptEvaluations::kMaxAge of them.
  void AgeKept();
  // nullptr: nothing is kept.
  const KeptEvaluations* kept() const { return kept_.get(); }

  // Why the last pod was rejected; valid until the next call of Schedule.
  Diagnosis& diagnosis() { return diagnosis_; }

 private:
  Decision Choose(const framework::Profile& profile, framework::Cycle& cycle, const PodInfo& pod,
                  const World& world, const NodeSet& feasible);

  // The candidates in the order of a search, into order_.
  void FillOrder(const World& world);
  // Leaves of candidates_ and feasible_ what a search for `wanted` feasible nodes would have seen.
  void Sample(size_t wanted);
  // The nodes of order_ that passed the filters, less those that an extender drops.
  Status AskExtenders(const World& world, const framework::Cycle& cycle, const PodInfo& pod,
                      NodeSet& feasible);

  Random random_;
  std::unique_ptr<KeptEvaluations> kept_;
  size_t next_start_node_index_ = 0;
  uint64_t extender_calls_ = 0;  // before the last pod

  // Scratch, kept for its capacity.
  Diagnosis diagnosis_;
  NodeSet candidates_;
  NodeSet feasible_;
  std::vector<NodeRow> rows_;
  std::vector<NodeRow> order_;  // in which nodes are looked at, where that matters
  std::vector<int64_t> totals_;
};

// What part of the nodes kube-scheduler looks at by default, in percent: 50 less one for each 125
// nodes, at least 5.
int32_t AdaptivePercentageOfNodesToScore(size_t nodes);

// How many feasible nodes to look for among `nodes` when only `percentage` (1..100) of them are to
// be scored: at least 100, or all. kube-scheduler's numFeasibleNodesToFind.
size_t NumFeasibleNodesToFind(size_t nodes, int32_t percentage);

}  // namespace berth::engine
