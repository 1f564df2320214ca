// SPDX-License-Identifier: Apache-2.0
#include "src/engine/kept_rejections.h"

#include <algorithm>

#include "src/engine/filter.h"

namespace berth::engine {
namespace {

// More are a sign of reasons that never come again.
constexpr size_t kMaxVerdicts = 1024;

// Whether the filters that were not skipped read nothing but the row.
bool ReadOnlyTheRow(const EvaluationPlan& plan, const framework::PluginMask& skipped) {
  return std::ranges::all_of(plan.filters(), [&](const FilterStep& step) {
    return skipped.test(step.index) || (step.scope.local() && !step.each_pod);
  });
}

}  // namespace

bool KeptRejections::MayBeKept(const EvaluationPlan& plan, const framework::Cycle& cycle,
                               const Diagnosis& diagnosis) {
  return diagnosis.statuses.num_explicit() == diagnosis.num_all_nodes &&
         diagnosis.statuses.verdicts().size() <= kMaxVerdicts &&
         ReadOnlyTheRow(plan, cycle.skip_filter);
}

KeptRejections::KeptRejections(const EvaluationPlan& plan, const framework::Cycle& cycle,
                               const PodInfo& pod, const ClusterState& cluster,
                               const Diagnosis& diagnosis, Changes& changes, size_t& kept_bytes)
    : plan_(plan),
      changes_(changes),
      priority_(pod.priority()),
      skipped_(cycle.skip_filter),
      generation_(changes.cache().generation()),
      starts_generation_(changes.cache().start_changes().generation()),
      nominations_generation_(cluster.nominated.generation()),
      objects_generation_(cluster.objects_generation),
      budgets_generation_(cluster.budgets_generation),
      statuses_(diagnosis.statuses),
      victims_(kept_bytes),
      bytes_(kept_bytes) {
  statuses_.Intern(reasons_);
  stale_.Assign(cluster.snapshot.num_rows(), false);
  FindOwnRows(pod, cluster);
  for (const OwnVerdict& own : own_) stale_.Set(own.row);
  CountBytes();
}

KeptRejections::Outcome KeptRejections::Refresh(const framework::Cycle& cycle, const PodInfo& pod,
                                                const ClusterState& cluster) {
  if (pod.priority() != priority_ || cycle.skip_filter != skipped_ || !NoteChanges(cluster)) {
    return Outcome::kEnded;
  }
  ForgetVictims(cluster);
  FindOwnRows(pod, cluster);
  expects_rejection_ = JudgeStale(cycle, pod, cluster) && JudgeOwn(cycle, pod, cluster);
  CountBytes();
  if (statuses_.verdicts().size() > kMaxVerdicts) return Outcome::kEnded;
  return expects_rejection_ ? Outcome::kAllReject : Outcome::kNotAll;
}

// Adds to stale_ the rows whose verdict may be another. False: that is not known, or too many.
bool KeptRejections::NoteChanges(const ClusterState& cluster) {
  const size_t num_rows = cluster.snapshot.num_rows();
  stale_.Resize(num_rows);
  statuses_.Grow(num_rows);
  changes_.Read(generation_);
  if (!changes_.complete() || !changes_.AreFew(cluster.snapshot.num_nodes())) return false;
  generation_ = changes_.generation();
  for (const auto* rows : {&changes_.pods(), &changes_.nodes()}) {
    for (const NodeRow row : *rows) stale_.Set(row);
  }
  names_.clear();
  if (!cluster.nominated.NodesChangedSince(nominations_generation_, names_)) return false;
  nominations_generation_ = cluster.nominated.generation();
  for (const std::string& name : names_) {
    const NodeRow row = cluster.snapshot.FindNode(name);
    if (row != kNoRow) stale_.Set(row);
  }
  return true;
}

void KeptRejections::ForgetVictims(const ClusterState& cluster) {
  const bool same_objects = objects_generation_ == cluster.objects_generation &&
                            budgets_generation_ == cluster.budgets_generation;
  objects_generation_ = cluster.objects_generation;
  budgets_generation_ = cluster.budgets_generation;
  rows_.clear();
  const cache::ChangeLog& starts = changes_.cache().start_changes();
  if (!starts.RowsSince(starts_generation_, rows_) || !same_objects) {
    victims_.ForgetAll();
  } else {
    for (const NodeRow row : rows_) victims_.Forget(row);
    stale_.ForEach([this](NodeRow row) { victims_.Forget(row); });
  }
  starts_generation_ = starts.generation();
}

void KeptRejections::FindOwnRows(const PodInfo& pod, const ClusterState& cluster) {
  own_.clear();
  const auto add = [&](std::string_view name) {
    const NodeRow row = name.empty() ? kNoRow : cluster.snapshot.FindNode(name);
    if (row == kNoRow || (!own_.empty() && own_.front().row == row)) return;
    own_.push_back({row, {}});
  };
  add(pod.pod->status.nominated_node_name);
  add(cluster.nominated.NominatedNode(pod.pod->metadata.uid));
  rows_.clear();
  for (const OwnVerdict& own : own_) rows_.push_back(own.row);
  victims_.SetApart(rows_);
}

// Own rows stay stale: the next pod hears something else of them. So does a row that takes the pod:
// it has no verdict to keep.
bool KeptRejections::JudgeStale(const framework::Cycle& cycle, const PodInfo& pod,
                                const ClusterState& cluster) {
  const auto is_own = [this](NodeRow row) {
    return std::ranges::find(own_, row, &OwnVerdict::row) != own_.end();
  };
  bool all_reject = true;
  stale_.ForEach([&](NodeRow row) {
    if (!all_reject || is_own(row)) return;
    if (!cluster.snapshot.nodes().Test(row)) {
      stale_.Clear(row);
      statuses_.Clear(row);
      return;
    }
    const auto [status, plugin] = JudgeNode(plan_.profile(), cycle, pod, cluster, row);
    all_reject = status.rejected();
    if (!all_reject) return;
    stale_.Clear(row);
    statuses_.Set(row, Status(status.code(), reasons_.Intern(status.reasons())), plugin);
  });
  return all_reject;
}

bool KeptRejections::JudgeOwn(const framework::Cycle& cycle, const PodInfo& pod,
                              const ClusterState& cluster) {
  return std::ranges::all_of(own_, [&](OwnVerdict& own) {
    own.verdict = JudgeNode(plan_.profile(), cycle, pod, cluster, own.row);
    return own.verdict.status.rejected();
  });
}

void KeptRejections::Tell(Diagnosis& diagnosis) const {
  diagnosis.statuses = statuses_;
  for (const auto& [row, verdict] : own_) {
    diagnosis.statuses.Set(row, verdict.status, verdict.plugin);
  }
  for (const NodeStatuses::Verdict& verdict : diagnosis.statuses.verdicts()) {
    if (verdict.num_nodes > 0) diagnosis.AddPlugin(verdict.plugin, verdict.status);
  }
}

void KeptRejections::CountBytes() {
  bytes_.Set(sizeof(*this) + statuses_.bytes() + stale_.words().size_bytes());
}

}  // namespace berth::engine
