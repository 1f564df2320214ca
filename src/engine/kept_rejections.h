// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "berth/in_tree/preemption.h"
#include "berth/node_set.h"
#include "berth/pod_info.h"
#include "berth/snapshot.h"
#include "berth/status.h"
#include "berth/time.h"
#include "src/engine/changes.h"
#include "src/engine/counted_bytes.h"
#include "src/engine/decision.h"
#include "src/engine/diagnosis.h"
#include "src/engine/evaluation_plan.h"
#include "src/framework/runtime.h"

namespace berth::engine {

// Which pods would make room on which node, as preemption found for pods of one class and one
// priority, or why none would. When that ends KeptRejections says, but for the time: a pod that has
// not started counts as started now, so what is known of a node holds from when all others have.
//
// Thread safety: the scheduling thread.
class KeptVictims final : public KnownVictims {
 public:
  // It adds what it takes to `kept_bytes`, which must outlive it.
  explicit KeptVictims(size_t& kept_bytes) : bytes_(kept_bytes) {}

  void Forget(NodeRow row);
  // Not while preemption uses what it recalled.
  void ForgetAll();

  // Of these rows nothing is recalled and nothing remembered, until the next call.
  void SetApart(const std::vector<NodeRow>& rows) { apart_ = rows; }

  bool Recall(const Snapshot& snapshot, NodeRow row, Time now, PreemptionCandidate& candidate,
              Status& status) override;
  void Remember(const Snapshot& snapshot, const PreemptionCandidate& candidate,
                const Status& status, Time after, Time now) override;

  // Nodes that were recalled.
  uint64_t num_recalled() const { return num_recalled_; }

 private:
  void ForgetAnswers();
  void CountBytes();
  bool IsApart(NodeRow row) const { return std::ranges::find(apart_, row) != apart_.end(); }

  // A pod's place in the row's list, which it keeps until the row changes.
  using Place = uint16_t;
  struct Answer {
    Time after;          // the last of the pods started then
    uint32_t first = 0;  // of its places_
    uint16_t num_victims = 0;
    uint16_t status = 0;  // by place in statuses_, from 1; 0: nothing is known
    int64_t num_pdb_violations = 0;
  };

  // 0: there are too many.
  uint16_t IdOf(const Status& status);

  std::vector<Answer> answers_;  // by row, up to the last of which something was known
  std::vector<Place> places_;    // of the victims of all answers, and of some that were forgotten
  size_t num_forgotten_ = 0;     // of these
  std::vector<Status> statuses_;
  std::vector<NodeRow> apart_;
  CountedBytes bytes_;
  uint64_t num_recalled_ = 0;
  std::unique_ptr<ReasonTable> reasons_ = std::make_unique<ReasonTable>();
};

// What the last pod of a class that no node took leaves for the next ones: the refusal, so that
// they are refused alike; why each node rejects them, so that an evaluation judges again only the
// rows for which something changed; and what preemption found there.
//
// One rule says when it ends. While neither the cluster nor a nomination that counts for the pods
// has changed, the refusal stands (FindRefusal). Where something has, Refresh() judges again:
//   - a row, when the row itself, its pods, or which pods are nominated there has changed. The
//     refusal ends with a verdict that is another, and where preemption had pods to evict on such a
//     row or has some now;
//   - victims on a row, the same, and when one of its pods started; those on all rows when a
//     PodDisruptionBudget, a pod group or any other object that is neither pod nor node changes, as
//     does the refusal.
// Rows are known only where every filter that was not skipped reads no more than the row, and hold
// only for pods of the same priority for which the same filters are skipped; elsewhere, and where a
// PostFilter other than preemption reads the cluster, a refusal ends with any change. What a pod
// learns of the node that it is nominated for is its own affair, and not kept.
//
// Thread safety: the scheduling thread.
class KeptRejections {
 public:
  // What an evaluation of `pod` in `cycle`, in which no extender was asked, has just found about
  // all nodes. `plan`, `changes` and `kept_bytes`, to which it adds what it takes, must outlive it.
  KeptRejections(const EvaluationPlan& plan, const framework::Cycle& cycle, const PodInfo& pod,
                 const ClusterState& cluster, const Diagnosis& diagnosis, Changes& changes,
                 size_t& kept_bytes);

  // Whether it is known why each node rejects the pods: what follows up to victims() needs that.
  bool by_row() const { return by_row_; }
  enum class Outcome {
    kAllReject,
    kNotAll,  // some node takes the pod, or a filter failed
    kEnded,   // only an evaluation can tell, and this is of no use any more
  };
  // Makes it what an evaluation of `pod`, which is of the same class, would find; its PreFilter has
  // run in `cycle` and left all nodes.
  Outcome Refresh(const framework::Cycle& cycle, const PodInfo& pod, const ClusterState& cluster);
  // After kAllReject: writes to `diagnosis` why they do.
  void Fill(Diagnosis& diagnosis) const;
  // Whether the last pod of the class was rejected by all nodes, so that the next one probably is,
  // too: since Refresh() said so, until NoteTaken().
  bool expects_rejection() const { return expects_rejection_; }
  void NoteTaken() { expects_rejection_ = false; }
  // What preemption may recall for that pod.
  KeptVictims& victims() { return victims_; }

  struct KnownRefusal {
    Refusal refusal;
    size_t looked_at = 0;  // nodes that an evaluation which ends in it looks at
  };
  // How `pod`, which is of the same class and not nominated itself, is refused; nullptr where an
  // evaluation, or Refresh(), must tell.
  const KnownRefusal* FindRefusal(const PodInfo& pod, const ClusterState& cluster) const;
  // Keeps how the last pod was refused, which is not nominated itself.
  void KeepRefusal(const PodInfo& pod, const ClusterState& cluster, KnownRefusal refusal);
  // Some node takes a pod of the class.
  void DropRefusal() { refusal_.reset(); }

 private:
  struct StandingRefusal {
    KnownRefusal known;
    uint64_t generation = 0;  // of the cache, when it was last known to stand
    uint64_t objects_generation = 0;
    uint64_t victims_generation = 0;
    // Set where nominations count for the pods of this priority.
    bool nominations_matter = false;
    uint64_t nominations_generation = 0;
    NodeSet with_victims;  // rows where preemption looked at pods
  };
  struct OwnVerdict {
    NodeRow row = kNoRow;
    framework::PluginStatus verdict;
  };

  bool NoteChanges(const ClusterState& cluster);
  void ForgetVictims(const ClusterState& cluster);
  void FindOwnRows(const PodInfo& pod, const ClusterState& cluster);
  bool JudgeStale(const framework::Cycle& cycle, const PodInfo& pod, const ClusterState& cluster);
  bool JudgeOwn(const framework::Cycle& cycle, const PodInfo& pod, const ClusterState& cluster);
  bool IsAsBefore(NodeRow row, const framework::PluginStatus& verdict, const PodInfo& pod,
                  const ClusterState& cluster) const;
  bool HasVictims(NodeRow row, const PodInfo& pod, const ClusterState& cluster) const;
  void CountBytes();

  const EvaluationPlan& plan_;
  Changes& changes_;
  const int32_t priority_;
  const framework::PluginMask skipped_;  // filters
  const bool by_row_;
  uint64_t generation_;  // of the cache, when changes were last noted
  uint64_t starts_generation_;
  uint64_t nominations_generation_;
  uint64_t objects_generation_;
  uint64_t victims_generation_;
  NodeStatuses statuses_;
  ReasonTable reasons_;
  KeptVictims victims_;
  NodeSet stale_;  // rows to be judged again
  bool expects_rejection_ = true;
  std::optional<StandingRefusal> refusal_;
  std::vector<OwnVerdict> own_;     // of the nodes that the last pod is nominated for
  std::vector<std::string> names_;  // room for one refresh
  std::vector<NodeRow> rows_;
  CountedBytes bytes_;
};

}  // namespace berth::engine
