// SPDX-License-Identifier: Apache-2.0
#include "src/engine/kept_refusal.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "src/engine/filter.h"
#include "src/framework/guarded.h"

namespace berth::engine {

KeptRefusal::KeptRefusal(const EvaluationPlan& plan, framework::Cycle cycle, const PodInfo& pod,
                         const ClusterState& cluster, const Diagnosis& diagnosis, size_t looked_at,
                         Refusal refusal, uint64_t generation, size_t& kept_bytes)
    : plan_(plan),
      cycle_(std::move(cycle)),
      looked_at_(looked_at),
      refusal_(std::move(refusal)),
      generation_(generation),
      objects_generation_(cluster.objects_generation),
      budgets_generation_(cluster.budgets_generation),
      nominations_matter_(cluster.nominated.Matter(pod)),
      nominations_generation_(cluster.nominated.generation()),
      priority_(pod.priority()),
      bytes_(kept_bytes) {
  cycle_.observer = nullptr;
  cycle_.observe_plugins = false;
  by_row_ = !plan_.post_filter_reads_cluster() && KeepVerdicts(pod, cluster, diagnosis);
  bytes_.Set(sizeof(*this) + cycle_.state.bytes() + refusal_.message.size() +
             verdicts_.size() * sizeof(Verdict) + verdict_of_.size() * sizeof(VerdictId) +
             nodes_.words().size_bytes() + with_victims_.words().size_bytes());
}

// False where the refusal depends on more than the verdict on each row.
bool KeptRefusal::KeepVerdicts(const PodInfo& pod, const ClusterState& cluster,
                               const Diagnosis& diagnosis) {
  const NodeStatuses& statuses = diagnosis.statuses;
  if (statuses.num_explicit() != diagnosis.num_all_nodes) return false;
  for (const FilterStep& step : plan_.filters()) {
    if (step.each_pod) continue;
    if (!step.scope.local() && !cycle_.skip_filter.test(step.index)) return false;
  }
  nodes_ = statuses.explicit_nodes();
  verdict_of_.resize(nodes_.size());
  with_victims_.Assign(nodes_.size(), false);
  // Many rows in a row have the same verdict.
  Status last;
  std::string_view last_plugin;
  VerdictId last_id = 0;
  nodes_.ForEach([&](NodeRow row) {
    const Status status = statuses.Get(row);
    const std::string_view plugin = statuses.plugin(row);
    if (verdicts_.empty() || status != last || plugin.data() != last_plugin.data()) {
      last = status;
      last_plugin = plugin;
      last_id = IdOf(status, plugin);
    }
    verdict_of_[row] = last_id;
    if (status.code() == Code::kUnschedulable)
      with_victims_.Put(row, HasVictims(pod, cluster, row));
  });
  return verdicts_.size() < std::numeric_limits<VerdictId>::max();
}

KeptRefusal::VerdictId KeptRefusal::IdOf(const Status& status, std::string_view plugin) {
  const auto known = std::ranges::find_if(verdicts_, [&](const Verdict& verdict) {
    return verdict.code == status.code() && verdict.plugin == plugin &&
           verdict.reasons == status.reasons();
  });
  if (known == verdicts_.end()) {
    verdicts_.push_back({plugin, status.code(), status.reasons()});
    return static_cast<VerdictId>(verdicts_.size() - 1);
  }
  return static_cast<VerdictId>(known - verdicts_.begin());
}

// Preemption evicts pods of lower priority, from nodes whose verdict is Unschedulable.
bool KeptRefusal::HasVictims(const PodInfo& pod, const ClusterState& cluster, NodeRow row) const {
  if (plan_.profile().plugins().post_filter.empty()) return false;
  const auto pods = cluster.snapshot.pods(row);
  return std::any_of(pods.begin(), pods.end(),
                     [&pod](const PodInfo* placed) { return placed->priority() < pod.priority(); });
}

bool KeptRefusal::Holds(const PodInfo& pod, const ClusterState& cluster, Changes& changes) {
  if (objects_generation_ != cluster.objects_generation ||
      budgets_generation_ != cluster.budgets_generation || !SameNominations(pod, cluster) ||
      !plan_.SkipsOwnFilters(pod, cluster.snapshot)) {
    return false;
  }
  if (generation_ == changes.cache().generation()) return true;
  if (!by_row_) return false;
  changes.Read(generation_);
  if (!changes.complete() || !WideFiltersAreSkipped(pod, cluster) ||
      !SameVerdicts(pod, cluster, changes)) {
    return false;
  }
  generation_ = changes.generation();
  return true;
}

bool KeptRefusal::SameNominations(const PodInfo& pod, const ClusterState& cluster) const {
  if (cluster.nominated.Matter(pod) != nominations_matter_) return false;
  return !nominations_matter_ ||
         (cluster.nominated.generation() == nominations_generation_ && pod.priority() == priority_);
}

bool KeptRefusal::WideFiltersAreSkipped(const PodInfo& pod, const ClusterState& cluster) const {
  return std::ranges::all_of(plan_.filters(), [&](const FilterStep& step) {
    if (step.scope.local() || step.each_pod) return true;
    CycleState state;
    return framework::Guarded(
               state,
               [&] { return step.pre_filter->PreFilter(state, pod, cluster.snapshot).status; })
        .skip();
  });
}

bool KeptRefusal::SameVerdicts(const PodInfo& pod, const ClusterState& cluster,
                               const Changes& changes) {
  if (!changes.AreFew(cluster.snapshot.num_nodes())) return false;
  NodeSet rows(cluster.snapshot.num_rows());
  for (const auto* changed_rows : {&changes.pods(), &changes.nodes()}) {
    for (const NodeRow row : *changed_rows) {
      const bool is_node = cluster.snapshot.nodes().Test(row);
      if (is_node != nodes_.Test(row)) return false;
      if (is_node) rows.Set(row);
    }
  }
  if (rows.Empty()) return true;
  NodeSet passed = rows;
  FilterPass pass(plan_.profile(), cycle_, pod, cluster);
  if (!pass.Run(passed).ok() || !passed.Empty()) return false;
  bool same = true;
  const auto compare = [&](NodeRow row, const Status& status, std::string_view plugin) {
    const Verdict& verdict = verdicts_[verdict_of_[row]];
    same = same && verdict.code == status.code() && verdict.plugin == plugin &&
           verdict.reasons == status.reasons() &&
           (status.code() != Code::kUnschedulable ||
            (!with_victims_.Test(row) && !HasVictims(pod, cluster, row)));
  };
  return pass.ForEachRejected(rows, compare).ok() && same;
}

}  // namespace berth::engine
