// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "berth/random.h"
#include "src/engine/decision.h"
#include "src/engine/evaluation.h"
#include "src/framework/runtime.h"

namespace berth::cache {
class Cache;
}  // namespace berth::cache

namespace berth::engine {

class KeptEvaluations;
class KeptRejections;

// The message to a pod when there are no nodes at all.
inline constexpr std::string_view kNoNodesMessage = "no nodes available to schedule pods";

// Decides where a pod goes: an Evaluation and the choice, or what is kept of earlier ones. Changes
// nothing but its own rotating start, its random source and the pod's Cycle.
//
// All nodes are considered unless a percentage was asked for, or an extender takes part: then
// kube-scheduler's default, and a search goes through the nodes zone by zone in turn
// (cache::NodeOrder) from where the last one ended. Nodes with nominated pods of equal or higher
// priority must pass twice: with those pods and without. Ties are broken by a draw, in row order.
//
// With a cache, what plugins answered for earlier pods of a class, and that no node took them, is
// kept and brought up to date (KeptEvaluations); an evaluation is then for the first pod of a
// class, and for whatever cannot be kept. Without, it is all there is: the slow twin.
//
// Thread safety: the scheduling thread.
class Engine {
 public:
  // Evaluates every pod by itself.
  explicit Engine(Random random);
  // Keeps answers about `cache`, which must outlive the engine and be the snapshot of every cluster
  // state, in up to `max_kept_bytes` (0: none); decides the same.
  Engine(Random random, const cache::Cache& cache, size_t max_kept_bytes);
  Engine(Engine&&) noexcept;
  Engine& operator=(Engine&&) noexcept;
  ~Engine();

  // `cycle` is new: nothing is in its state. `percentage_of_nodes_to_score`: 1..100 looks for only
  // so many feasible nodes, as kube-scheduler does; 0 for all.
  Decision Schedule(const framework::Profile& profile, framework::Cycle& cycle, const PodInfo& pod,
                    const ClusterState& cluster, int32_t percentage_of_nodes_to_score,
                    RefuseAlike refuse_alike = RefuseAlike::kYes);
  // How the pod of the last call, which came out unfit without a refusal, was refused in the end.
  // Where it can be kept, others of its class are refused alike.
  void KeepRefusal(const framework::Profile& profile, const PodInfo& pod,
                   const ClusterState& cluster, Refusal refusal);

  // What the next decision draws from and where it begins to look.
  struct RandomState {
    Random random;
    size_t next_start_node_index = 0;
  };
  RandomState random_state() const { return {random_, next_start_node_index_}; }
  void SetRandomState(const RandomState& state) {
    random_ = state.random;
    next_start_node_index_ = state.next_start_node_index;
  }

  // Drops what is kept; to be called before a profile ends.
  void ForgetKept();
  // To be called at even intervals: drops what was not used for KeptEvaluations::kMaxAge of them.
  void AgeKept();
  // nullptr: nothing is kept.
  const KeptEvaluations* kept() const { return kept_.get(); }

  // Why the last pod was rejected; valid until the next call of Schedule.
  Diagnosis& diagnosis() { return result_.diagnosis; }

 private:
  // As others of its class were; nullopt where that is not known to stand.
  std::optional<Decision> RefuseAsBefore(const PodInfo& pod, const ClusterState& cluster,
                                         int32_t percentage, const KeptRejections& known);
  // By what is known of why nodes reject the pod's class; nullopt where that does not decide.
  std::optional<Decision> DecideFromKnown(const framework::Profile& profile,
                                          framework::Cycle& cycle, const PodInfo& pod,
                                          const ClusterState& cluster, int32_t percentage,
                                          KeptRejections& known);
  std::optional<Decision> DecideFromKept(const framework::Profile& profile, framework::Cycle& cycle,
                                         const PodInfo& pod, const ClusterState& cluster,
                                         int32_t percentage);
  Decision Conclude(const framework::Profile& profile, framework::Cycle& cycle, const PodInfo& pod,
                    const ClusterState& cluster, Evaluation& evaluation,
                    Evaluation::Outcome outcome);
  Decision Unfit(const framework::Profile& profile, framework::Cycle& cycle, const PodInfo& pod,
                 const ClusterState& cluster, bool from_known);
  // nullptr: nothing is known.
  KeptRejections* FindRejections(const framework::Profile& profile, const PodInfo& pod);
  // Keeps what the diagnosis says of the pod; nullptr: it cannot be kept.
  KeptRejections* KeepRejections(const framework::Profile& profile, const framework::Cycle& cycle,
                                 const PodInfo& pod, const ClusterState& cluster);
  // About the last pod.
  bool HasAskedExtenders(const ClusterState& cluster) const;
  void MoveOn(size_t looked_at, const ClusterState& cluster);
  Decision Choose(Evaluation& evaluation);

  Random random_;
  std::unique_ptr<KeptEvaluations> kept_;
  size_t next_start_node_index_ = 0;
  size_t looked_at_ = 0;         // nodes, for the last pod that was evaluated by itself
  uint64_t extender_calls_ = 0;  // before the last pod
  EvaluationResult result_;
};

}  // namespace berth::engine
