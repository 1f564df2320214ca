// SPDX-License-Identifier: Apache-2.0
#include "src/engine/kept_rejections.h"

#include <limits>
#include <utility>

#include "berth/check.h"
#include "berth/in_tree/pod_groups.h"
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

// Whether what was found in `cycle` can be kept by row: by filters that read the row alone, about
// every node.
bool MayBeKeptByRow(const EvaluationPlan& plan, const framework::Cycle& cycle,
                    const Diagnosis& diagnosis) {
  return diagnosis.statuses.num_explicit() == diagnosis.num_all_nodes &&
         diagnosis.statuses.verdicts().size() <= kMaxVerdicts &&
         ReadOnlyTheRow(plan, cycle.skip_filter);
}

constexpr size_t kMaxStatuses = 1024;
// So many places may be of no use before all answers are dropped to get rid of them.
constexpr size_t kMinForgotten = 4096;

}  // namespace

KeptRejections::KeptRejections(const EvaluationPlan& plan, const framework::Cycle& cycle,
                               const PodInfo& pod, const ClusterState& cluster,
                               const Diagnosis& diagnosis, Changes& changes, size_t& kept_bytes)
    : plan_(plan),
      changes_(changes),
      priority_(pod.priority()),
      skipped_(cycle.skip_filter),
      by_row_(MayBeKeptByRow(plan, cycle, diagnosis)),
      generation_(changes.cache().generation()),
      starts_generation_(changes.cache().start_changes().generation()),
      nominations_generation_(cluster.nominated.generation()),
      objects_generation_(cluster.objects_generation),
      victims_generation_(cluster.victims_generation),
      victims_(kept_bytes),
      bytes_(kept_bytes) {
  if (by_row_) {
    statuses_ = diagnosis.statuses;
    statuses_.Intern(reasons_);
    stale_.Assign(cluster.snapshot.num_rows(), false);
    FindOwnRows(pod, cluster);
    for (const OwnVerdict& own : own_) stale_.Set(own.row);
  }
  CountBytes();
}

KeptRejections::Outcome KeptRejections::Refresh(const framework::Cycle& cycle, const PodInfo& pod,
                                                const ClusterState& cluster) {
  if (pod.priority() != priority_ || cycle.skip_filter != skipped_ || !NoteChanges(cluster)) {
    return Outcome::kEnded;
  }
  ForgetVictims(cluster);
  FindOwnRows(pod, cluster);
  if (refusal_ && refusal_->generation != generation_ && plan_.post_filter_reads_cluster()) {
    refusal_.reset();
  }
  expects_rejection_ = JudgeStale(cycle, pod, cluster) && JudgeOwn(cycle, pod, cluster);
  if (refusal_ && stale_.Empty()) refusal_->generation = generation_;
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
  if (plan_.filters_read_measured()) {
    for (const NodeRow row : changes_.measured()) stale_.Set(row);
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
                            victims_generation_ == cluster.victims_generation;
  objects_generation_ = cluster.objects_generation;
  victims_generation_ = cluster.victims_generation;
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

// Own rows stay stale: the next pod gets another verdict on them. So does a row that takes the pod:
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
      if (statuses_.explicit_nodes().Test(row)) refusal_.reset();
      stale_.Clear(row);
      statuses_.Clear(row);
      return;
    }
    const auto [status, plugin] = JudgeNode(plan_.profile(), cycle, pod, cluster, row);
    const Status kept(status.code(), reasons_.Intern(status.reasons()));
    if (refusal_ && !IsAsBefore(row, {kept, plugin}, pod, cluster)) refusal_.reset();
    all_reject = status.rejected();
    if (!all_reject) return;
    stale_.Clear(row);
    statuses_.Set(row, kept, plugin);
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

// Whether this verdict on a row that has changed leaves the refusal what it is.
bool KeptRejections::IsAsBefore(NodeRow row, const framework::PluginStatus& verdict,
                                const PodInfo& pod, const ClusterState& cluster) const {
  if (!statuses_.explicit_nodes().Test(row) || statuses_.Get(row) != verdict.status ||
      statuses_.plugin(row) != verdict.plugin) {
    return false;
  }
  return verdict.status.code() != Code::kUnschedulable ||
         (!refusal_->with_victims.Test(row) && !HasVictims(row, pod, cluster));
}

// Preemption evicts pods of lower priority, from nodes whose verdict is Unschedulable.
bool KeptRejections::HasVictims(NodeRow row, const PodInfo& pod,
                                const ClusterState& cluster) const {
  if (plan_.profile().plugins().post_filter.empty()) return false;
  return std::ranges::any_of(cluster.snapshot.pods(row), [&pod](const PodInfo* placed) {
    // Of a pod group's pod the group's priority counts, which preemption looks up.
    return placed->priority() < pod.priority() || PodGroupNameOf(*placed->pod) != nullptr;
  });
}

const KeptRejections::KnownRefusal* KeptRejections::FindRefusal(const PodInfo& pod,
                                                                const ClusterState& cluster) const {
  if (!refusal_ || refusal_->generation != changes_.cache().generation() ||
      refusal_->objects_generation != cluster.objects_generation ||
      refusal_->victims_generation != cluster.victims_generation) {
    return nullptr;
  }
  if (cluster.nominated.Matter(pod) != refusal_->nominations_matter ||
      (refusal_->nominations_matter &&
       (cluster.nominated.generation() != refusal_->nominations_generation ||
        pod.priority() != priority_))) {
    return nullptr;
  }
  return plan_.SkipsOwnFilters(pod, cluster.snapshot) ? &refusal_->known : nullptr;
}

void KeptRejections::KeepRefusal(const PodInfo& pod, const ClusterState& cluster,
                                 KnownRefusal refusal) {
  if (!plan_.SkipsOwnFilters(pod, cluster.snapshot)) return;
  refusal_ = {.known = std::move(refusal),
              .generation = generation_,
              .objects_generation = cluster.objects_generation,
              .victims_generation = cluster.victims_generation,
              .nominations_matter = cluster.nominated.Matter(pod),
              .nominations_generation = cluster.nominated.generation(),
              .with_victims = {}};
  if (by_row_) {
    refusal_->with_victims.Assign(cluster.snapshot.num_rows(), false);
    statuses_.explicit_nodes().ForEach([&](NodeRow row) {
      if (statuses_.Get(row).code() == Code::kUnschedulable && HasVictims(row, pod, cluster)) {
        refusal_->with_victims.Set(row);
      }
    });
  }
  CountBytes();
}

void KeptRejections::Fill(Diagnosis& diagnosis) const {
  diagnosis.statuses = statuses_;
  for (const auto& [row, verdict] : own_) {
    diagnosis.statuses.Set(row, verdict.status, verdict.plugin);
  }
  for (const NodeStatuses::Verdict& verdict : diagnosis.statuses.verdicts()) {
    if (verdict.num_nodes > 0) diagnosis.AddPlugin(verdict.plugin, verdict.status);
  }
}

void KeptRejections::CountBytes() {
  bytes_.Set(sizeof(*this) + statuses_.bytes() + stale_.words().size_bytes() +
             (refusal_ ? refusal_->known.refusal.message.size() +
                             refusal_->with_victims.words().size_bytes()
                       : 0));
}

void KeptVictims::Forget(NodeRow row) {
  if (row >= answers_.size()) return;
  num_forgotten_ += answers_[row].num_victims;
  answers_[row] = {};
}

void KeptVictims::ForgetAll() {
  ForgetAnswers();
  statuses_.clear();
  reasons_ = std::make_unique<ReasonTable>();
}

void KeptVictims::ForgetAnswers() {
  answers_.assign(answers_.size(), {});
  places_.clear();
  num_forgotten_ = 0;
}

bool KeptVictims::Recall(const Snapshot& snapshot, NodeRow row, Time now,
                         PreemptionCandidate& candidate, Status& status) {
  if (row >= answers_.size() || IsApart(row)) return false;
  const Answer& answer = answers_[row];
  if (answer.status == 0 || answer.after >= now) return false;
  ++num_recalled_;
  status = statuses_[answer.status - 1u];
  candidate.row = row;
  candidate.num_pdb_violations = answer.num_pdb_violations;
  candidate.victims.clear();
  candidate.victims.reserve(answer.num_victims);
  const auto pods = snapshot.pods(row);
  for (size_t i = answer.first; i < answer.first + answer.num_victims; ++i) {
    candidate.victims.push_back(pods[places_[i]]);
  }
  return true;
}

void KeptVictims::Remember(const Snapshot& snapshot, const PreemptionCandidate& candidate,
                           const Status& status, Time after, Time now) {
  const NodeRow row = candidate.row;
  const auto pods = snapshot.pods(row);
  if (IsApart(row) || after >= now || status.code() == Code::kError ||
      pods.size() > std::numeric_limits<Place>::max()) {
    return;
  }
  const uint16_t id = IdOf(status);
  if (id == 0) return;
  if (row >= answers_.size()) answers_.resize(snapshot.num_rows());
  Forget(row);
  if (num_forgotten_ > std::max(kMinForgotten, places_.size() / 2)) ForgetAnswers();
  const auto first = static_cast<uint32_t>(places_.size());
  for (const PodInfo* victim : candidate.victims) {
    places_.push_back(static_cast<Place>(std::ranges::find(pods, victim) - pods.begin()));
    BERTH_CHECK(places_.back() < pods.size(), "a victim that is not on the node is remembered");
  }
  answers_[row] = {after, first, static_cast<uint16_t>(candidate.victims.size()), id,
                   candidate.num_pdb_violations};
  CountBytes();
}

uint16_t KeptVictims::IdOf(const Status& status) {
  if (statuses_.size() >= kMaxStatuses) return 0;
  const Status kept(status.code(), reasons_->Intern(status.reasons()));
  const auto known = std::ranges::find(statuses_, kept);
  if (known != statuses_.end()) return static_cast<uint16_t>(known - statuses_.begin() + 1);
  statuses_.push_back(kept);
  return static_cast<uint16_t>(statuses_.size());
}

void KeptVictims::CountBytes() {
  bytes_.Set(answers_.capacity() * sizeof(Answer) + places_.capacity() * sizeof(Place) +
             statuses_.capacity() * sizeof(Status));
}

}  // namespace berth::engine
