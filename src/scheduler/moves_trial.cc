// SPDX-License-Identifier: Apache-2.0
#include "src/scheduler/moves_trial.h"

#include <algorithm>
#include <memory>
#include <string_view>

#include "berth/in_tree/eviction.h"
#include "src/cache/cache.h"
#include "src/framework/runtime.h"

namespace berth::scheduler {

CacheMovesTrial::CacheMovesTrial(SchedulerState& state, CycleBudget& budget)
    : state_(state), budget_(budget), trial_(state.cluster.cache.BeginTrial()) {
  if (state.held_places.empty()) return;
  state.cluster.nominator.SetHeldAside(true);
  state.held_places.ForEach([this](const PodInfoPtr& pod, std::string_view node_name) {
    const NodeRow row = state_.cluster.cache.FindNode(node_name);
    if (row != kNoRow) (void)trial_.Assume(pod, row);
  });
}

PodInfoPtr CacheMovesTrial::Successor(const api::Pod& pod) {
  return state_.cluster.cache.MakePodInfo(PendingCopy(pod, pod.metadata.name));
}

bool CacheMovesTrial::Place(const PodInfo& pod, NodeRow row) {
  return trial_.Assume(std::make_shared<const PodInfo>(pod), row).has_value();
}

// What a pod's plugins spend counts, and so does each question to one of them.
bool CacheMovesTrial::Judge(const PodInfo& pod, const NodeSet& rows, Scores scores,
                            engine::EvaluationResult& result) {
  const framework::Profile* profile = state_.find_profile(pod.pod->spec.scheduler_name);
  if (profile == nullptr || state_.extenders.Involved(*pod.pod)) return false;
  const auto& plugins = profile->plugins();
  const size_t questions = plugins.filter.size() + plugins.score.size();
  if (!budget_.Spend(rows.Count() * questions)) return false;
  const engine::ClusterState cluster{
      .snapshot = state_.cluster.cache, .nominated = state_.cluster.nominator, .placement = &rows};
  framework::Cycle cycle;
  // A pod whose spec asks too much of plugins finds no node, and takes no more than its part.
  const uint64_t steps = std::min(budget_.steps_left(), CycleBudget::kSteps / 10);
  cycle.state.RenewBudget(CycleBudget(steps, CycleBudget::kBytes));
  engine::Evaluation evaluation(*profile, cycle, pod, cluster, result);
  engine::Evaluation::Outcome outcome = evaluation.FilterAllNodes();
  if (scores == Scores::kYes && outcome == engine::Evaluation::Outcome::kFeasible) {
    outcome = evaluation.Score(nullptr);
  }
  return budget_.Spend(cycle.state.budget().steps()) &&
         outcome == engine::Evaluation::Outcome::kFeasible;
}

bool CacheMovesTrial::Fits(const PodInfo& pod, NodeRow row) {
  NodeSet rows(state_.cluster.cache.num_rows());
  rows.Set(row);
  engine::EvaluationResult result;
  return Judge(pod, rows, Scores::kNo, result);
}

NodeRow CacheMovesTrial::BestNode(const PodInfo& pod, NodeRow but) {
  const cache::Cache& cache = state_.cluster.cache;
  NodeSet rows = cache.nodes();
  if (but != kNoRow) rows.Clear(but);
  engine::EvaluationResult result;
  if (!Judge(pod, rows, Scores::kYes, result)) return kNoRow;
  size_t best = 0;
  for (size_t i = 1; i < result.rows.size(); ++i) {
    const int64_t more = result.totals[i] - result.totals[best];
    const bool first_by_name =
        more == 0 && cache.node_name(result.rows[i]) < cache.node_name(result.rows[best]);
    if (more > 0 || first_by_name) best = i;
  }
  return result.rows[best];
}

}  // namespace berth::scheduler
