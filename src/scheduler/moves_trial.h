// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "berth/in_tree/cycle_budget.h"
#include "berth/in_tree/dry_run.h"
#include "src/cache/trial.h"
#include "src/engine/evaluation.h"
#include "src/framework/profile.h"
#include "src/scheduler/state.h"

namespace berth::scheduler {

// Moves on trial in the cache. Where places are held for pods to come, these are on their nodes.
//
// Thread safety: the scheduling thread.
class CacheMovesTrial final : public MovesTrial {
 public:
  // `budget` is that of the cycle. Both must outlive the trial.
  CacheMovesTrial(SchedulerState& state, CycleBudget& budget);
  ~CacheMovesTrial() override { state_.cluster.nominator.SetHeldAside(false); }
  CacheMovesTrial(const CacheMovesTrial&) = delete;
  CacheMovesTrial& operator=(const CacheMovesTrial&) = delete;

  void Remove(const PodInfo& pod) override { trial_.Remove(pod.pod->metadata.uid); }
  PodInfoPtr Successor(const api::Pod& pod) override;
  bool Fits(const PodInfo& pod, NodeRow row) override;
  NodeRow BestNode(const PodInfo& pod, NodeRow but) override;
  bool Place(const PodInfo& pod, NodeRow row) override;

 private:
  enum class Scores : uint8_t { kNo, kYes };
  // Whether some of `rows` take the pod; then `result` tells which, and what they score.
  bool Judge(const PodInfo& pod, const NodeSet& rows, Scores scores,
             engine::EvaluationResult& result);

  SchedulerState& state_;
  CycleBudget& budget_;
  cache::Trial trial_;
};

}  // namespace berth::scheduler
