// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "berth/node_set.h"
#include "berth/pod_info.h"
#include "src/engine/changes.h"
#include "src/engine/cluster_state.h"
#include "src/engine/counted_bytes.h"
#include "src/engine/diagnosis.h"
#include "src/engine/evaluation_plan.h"
#include "src/engine/kept_victims.h"
#include "src/framework/runtime.h"

namespace berth::engine {

// Why each node rejects the pods of a class, and what preemption found there: what one of a crowd
// of preemptors leaves for the next. An evaluation then judges again only the rows for which
// something changed, and so does preemption.
//
// What is known of a row holds until one of these changes; Refresh() has the rule:
//   - the row itself, or its pods; for preemption also when one of them started;
//   - which pods are nominated there;
//   - for preemption, a PodDisruptionBudget or any other object that is neither pod nor node.
// It is known only where every filter that was not skipped reads no more than the row, and holds
// only for pods of the same priority for which the same filters are skipped. What a pod hears of
// the node that it is nominated for is its own affair, and not kept.
//
// Thread safety: the scheduling thread.
class KeptRejections {
 public:
  // Whether what was found for a pod in `cycle` can be kept: by filters that read the row alone,
  // about every node.
  static bool MayBeKept(const EvaluationPlan& plan, const framework::Cycle& cycle,
                        const Diagnosis& diagnosis);

  // What was found for `pod` in `cycle`. `plan`, `changes` and
  // `kept_bytes`, to which it adds what it takes, must outlive it.
  KeptRejections(const EvaluationPlan& plan, const framework::Cycle& cycle, const PodInfo& pod,
                 const ClusterState& cluster, const Diagnosis& diagnosis, Changes& changes,
                 size_t& kept_bytes);

  enum class Outcome {
    kAllReject,
    kNotAll,  // some node takes the pod, or a filter failed
    kEnded,   // only an evaluation can tell, and this is of no use any more
  };
  // Makes it what an evaluation of `pod`, which is of the same class, would find; its PreFilter has
  // run in `cycle` and left all nodes.
  Outcome Refresh(const framework::Cycle& cycle, const PodInfo& pod, const ClusterState& cluster);
  // After kAllReject: why they do.
  void Tell(Diagnosis& diagnosis) const;
  // Whether the last pod of the class was rejected by all nodes, so that the next one probably is,
  // too: since Refresh() said so, until NoteTaken().
  bool expects_rejection() const { return expects_rejection_; }
  void NoteTaken() { expects_rejection_ = false; }
  // What preemption may recall for that pod.
  KeptVictims& victims() { return victims_; }

 private:
  struct OwnVerdict {
    NodeRow row = kNoRow;
    framework::PluginStatus verdict;
  };

  bool NoteChanges(const ClusterState& cluster);
  void ForgetVictims(const ClusterState& cluster);
  void FindOwnRows(const PodInfo& pod, const ClusterState& cluster);
  bool JudgeStale(const framework::Cycle& cycle, const PodInfo& pod, const ClusterState& cluster);
  bool JudgeOwn(const framework::Cycle& cycle, const PodInfo& pod, const ClusterState& cluster);
  void CountBytes();

  const EvaluationPlan& plan_;
  Changes& changes_;
  const int32_t priority_;
  const framework::PluginMask skipped_;  // filters
  uint64_t generation_;                  // of the cache, when changes were last noted
  uint64_t starts_generation_;
  uint64_t nominations_generation_;
  uint64_t objects_generation_;
  uint64_t budgets_generation_;
  NodeStatuses statuses_;
  ReasonTable reasons_;
  KeptVictims victims_;
  NodeSet stale_;  // rows to be judged again
  bool expects_rejection_ = true;
  std::vector<OwnVerdict> own_;     // of the nodes that the last pod is nominated for
  std::vector<std::string> names_;  // room for one refresh
  std::vector<NodeRow> rows_;
  CountedBytes bytes_;
};

}  // namespace berth::engine
