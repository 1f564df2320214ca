// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "berth/in_tree/points.h"
#include "berth/node_set.h"
#include "berth/pod_info.h"
#include "src/engine/changes.h"
#include "src/engine/cluster_state.h"
#include "src/engine/counted_bytes.h"
#include "src/engine/decision.h"
#include "src/engine/diagnosis.h"
#include "src/engine/evaluation_plan.h"
#include "src/framework/runtime.h"

namespace berth::engine {

// That no node takes the pods of a class, as the one that was evaluated last heard it.
//
// It holds until an answer that went into it may be another:
//   - a row that changed since is judged again, by itself. Its verdict must be the same, and
//     preemption must have had no pod to evict there and have none now;
//   - filters that read more than a row must have been skipped, and be skipped again, those that
//     are asked about each pod for every pod that hears it;
//   - no object that is neither pod nor node, and no nomination that counts for the pod, has
//     changed;
//   - where PreFilter spoke for all nodes, nothing at all has changed.
//
// Thread safety: the scheduling thread.
class KeptRefusal {
 public:
  // What was found for `pod` in `cycle`, which looked at so many nodes of the cluster as it is.
  // `plan`, which must keep refusals and skip its own filters for the pod, and `kept_bytes`, to
  // which it adds what it takes, must outlive it.
  KeptRefusal(const EvaluationPlan& plan, framework::Cycle cycle, const PodInfo& pod,
              const ClusterState& cluster, const Diagnosis& diagnosis, size_t looked_at,
              Refusal refusal, uint64_t generation, size_t& kept_bytes);

  // Whether an evaluation of `pod`, which is of the same class, would come to the same.
  bool Holds(const PodInfo& pod, const ClusterState& cluster, Changes& changes);
  const Refusal& refusal() const { return refusal_; }
  // How many nodes an evaluation would look at.
  size_t looked_at() const { return looked_at_; }

 private:
  // What is said of a row: by its place in verdicts_.
  using VerdictId = uint16_t;
  struct Verdict {
    std::string_view plugin;
    Code code = Code::kSuccess;
    ReasonSet reasons;
  };

  bool KeepVerdicts(const PodInfo& pod, const ClusterState& cluster, const Diagnosis& diagnosis);
  VerdictId IdOf(const Status& status, std::string_view plugin);
  bool SameNominations(const PodInfo& pod, const ClusterState& cluster) const;
  bool WideFiltersAreSkipped(const PodInfo& pod, const ClusterState& cluster) const;
  bool SameVerdicts(const PodInfo& pod, const ClusterState& cluster, const Changes& changes);
  bool HasVictims(const PodInfo& pod, const ClusterState& cluster, NodeRow row) const;

  const EvaluationPlan& plan_;
  framework::Cycle cycle_;
  const size_t looked_at_;
  const Refusal refusal_;
  uint64_t generation_;  // of the cache, when it was last known to hold
  const uint64_t objects_generation_;
  const uint64_t budgets_generation_;
  // Set where nominations count for the pods of this priority.
  const bool nominations_matter_;
  const uint64_t nominations_generation_;
  const int32_t priority_;
  // Holds for this very cluster only; then nothing is known by row.
  bool by_row_;
  std::vector<Verdict> verdicts_;
  std::vector<VerdictId> verdict_of_;  // by row
  NodeSet nodes_;                      // that have a verdict
  NodeSet with_victims_;               // rows where preemption looked at pods
  CountedBytes bytes_;
};

}  // namespace berth::engine
