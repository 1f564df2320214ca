// SPDX-License-Identifier: Apache-2.0
#include "src/engine/kept_class.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "src/framework/guarded.h"
#include "src/framework/timing.h"

namespace berth::engine {
namespace {

using framework::ExtensionPoint;

}  // namespace

KeptClass::KeptClass(const EvaluationPlan& plan, std::vector<SharedVerdicts> verdicts,
                     std::vector<SharedScores> scores, size_t pod_bytes, size_t& kept_bytes)
    : plan_(plan),
      verdicts_(std::move(verdicts)),
      scores_(std::move(scores)),
      touched_by_plugin_(scores_.size()),
      nominations_(kept_bytes),
      pod_bytes_(pod_bytes),
      bytes_(kept_bytes) {}

KeptClass::Outcome KeptClass::Decide(const DecisionInput& input, Random& random,
                                     Decision& decision) {
  const Outcome outcome = DecideAmongNodes(input, random, decision);
  CountBytes();
  return outcome;
}

KeptClass::Outcome KeptClass::DecideAmongNodes(const DecisionInput& input, Random& random,
                                               Decision& decision) {
  framework::PointTimer filter_timer(input.profile, input.cycle.observer, ExtensionPoint::kFilter);
  const cache::Cache& cache = input.changes.cache();
  NoteChanges(input.changes);
  on_board_ = input.sample != nullptr && !ScoresReadFeasible();
  if (!RefreshVerdicts(input)) return Outcome::kNotKept;
  FindPassed(cache);
  // Then nominations have nothing to take away, and there may be a crowd of them.
  if (passed_.Empty()) return Outcome::kByItself;
  if (!AskOwnFilters(input)) return Outcome::kByItself;
  if (feasible_.Empty() || !SkipsOwnScores(input)) return Outcome::kByItself;
  filter_timer.Finish(Code::kSuccess);

  framework::PointTimer score_timer(input.profile, input.cycle.observer, ExtensionPoint::kScore);
  if (!RefreshScores(input)) return Outcome::kNotKept;
  // They have come to, and have not heard of the sample.
  if (on_board_ && ScoresReadFeasible()) return Outcome::kByItself;
  SortScores();
  if (!UpdateBoard(input)) return Outcome::kNotKept;
  if (!UpdateWeighted(input)) return Outcome::kNotKept;
  if (!on_board_) {
    Choose(random, decision);
  } else if (!ChooseFromSample(input, random, decision)) {
    return Outcome::kNotKept;
  }
  decision.kind = Decision::Kind::kScheduled;
  decision.kept = true;
  decision.evaluated_nodes = looked_at_;
  score_timer.Finish(Code::kSuccess);
  return Outcome::kDecided;
}

// What the board has not yet seen stays in touched_: it is not asked where nothing is feasible.
void KeptClass::NoteChanges(Changes& changes) {
  const size_t rows = changes.cache().num_rows();
  changes.Read(generation_);
  generation_ = changes.generation();
  if (!changes.complete() || board_.num_rows() == 0) {
    ResetBoard(rows);
    return;
  }
  board_.Grow(rows);
  touched_.Resize(rows);
  touched_scores_.Resize(rows);
  const auto touch = [this](std::span<const NodeRow> changed) {
    for (const NodeRow row : changed) {
      touched_.Set(row);
      touched_scores_.Set(row);
    }
  };
  touch(changes.pods());
  touch(changes.nodes());
}

bool KeptClass::RefreshVerdicts(const DecisionInput& input) {
  for (const SharedVerdicts& verdicts : verdicts_) {
    if (!verdicts->Refresh(input, touched_)) return false;
    if (verdicts->num_asked() > 0) {
      framework::CountEvaluations(input.profile, input.cycle.observer, verdicts->step().name,
                                  ExtensionPoint::kFilter, verdicts->num_asked());
    }
  }
  return true;
}

void KeptClass::FindPassed(const cache::Cache& cache) {
  passed_.Resize(cache.num_rows());
  const std::span<uint64_t> passed = passed_.words();
  const std::span<const uint64_t> nodes = cache.nodes().words();
  const std::span<const uint64_t> closed = cache.closed_nodes().words();
  for (size_t i = touched_.first(); i < touched_.end(); ++i) {
    const uint64_t touched = touched_.word(i);
    if (touched == 0) continue;
    uint64_t now = nodes[i] & ~closed[i];
    for (const SharedVerdicts& verdicts : verdicts_) {
      if (!verdicts->passes_all()) now &= std::as_const(*verdicts).passed().words()[i];
    }
    passed[i] = (passed[i] & ~touched) | (now & touched);
  }
}

// False: the pod is rejected for all nodes, or some are named for it, or a plugin fails.
bool KeptClass::AskOwnPreFilters(const DecisionInput& input) {
  own_filters_.clear();
  size_t verdicts_before = 0;
  for (const FilterStep& step : plan_.filters()) {
    if (!step.each_pod) {
      ++verdicts_before;
      continue;
    }
    bool names_nodes = false;
    Status status;
    if (step.pre_filter != nullptr) {
      status = framework::Guarded(input.cycle.state, [&] {
        PreFilterResult result =
            step.pre_filter->PreFilter(input.cycle.state, input.pod, input.changes.cache());
        names_nodes = result.node_names.has_value();
        return result.status;
      });
    }
    if (status.skip()) continue;
    if (!status.ok() || names_nodes) return false;
    if (step.filter != nullptr) own_filters_.push_back({&step, verdicts_before});
  }
  return true;
}

// False: a plugin fails, or a filter that is asked about each pod would have to imagine pods, too.
bool KeptClass::AskNominations(const DecisionInput& input) {
  if (input.nominated == nullptr) {
    nominations_.Clear();
    return true;
  }
  return own_filters_.empty() && nominations_.Refresh(input, verdicts_);
}

// Leaves of `nodes` those that pass these of verdicts_.
void KeptClass::ApplyVerdicts(size_t first, size_t end, NodeSet& nodes) const {
  for (size_t i = first; i < end; ++i) {
    if (!verdicts_[i]->passes_all()) nodes &= std::as_const(*verdicts_[i]).passed();
  }
}

// Takes out of what the class passes what the pod's own filters reject, what lies outside its
// placement, what is promised to nominated pods, and what is not in the sample, unless that is
// found on the board. A filter is asked
// about all that those before it pass: it may fail on a node that a later one rejects.
bool KeptClass::AskOwnFilters(const DecisionInput& input) {
  if (!AskOwnPreFilters(input) || !AskNominations(input)) return false;
  const cache::Cache& cache = input.changes.cache();
  const std::span<const uint64_t> passed = std::as_const(passed_).words();
  rejected_.Resize(cache.num_rows());
  feasible_.Resize(cache.num_rows());
  looked_at_ = input.placement == nullptr ? cache.num_nodes() : input.placement->Count();
  if (own_filters_.empty() && input.placement == nullptr && nominations_.rejected().empty() &&
      (input.sample == nullptr || on_board_) && !any_rejected_) {
    for (size_t i = touched_.first(); i < touched_.end(); ++i) feasible_.words()[i] = passed[i];
    return true;
  }
  size_t applied = verdicts_.size();
  if (own_filters_.empty() || own_filters_.front().verdicts_before == applied) {
    left_ = passed_;
  } else {
    left_ = cache.nodes();
    left_ -= cache.closed_nodes();
    applied = 0;
  }
  if (input.placement != nullptr) left_ &= *input.placement;
  for (const OwnFilter& own : own_filters_) {
    ApplyVerdicts(applied, own.verdicts_before, left_);
    applied = std::max(applied, own.verdicts_before);
    framework::CountEvaluations(input.profile, input.cycle.observer, own.step->name,
                                ExtensionPoint::kFilter, left_.Count());
    if (!framework::RunFilterNodes(*own.step->filter, input.cycle.state, input.pod, cache, left_)
             .ok()) {
      return false;
    }
  }
  ApplyVerdicts(applied, verdicts_.size(), left_);
  for (const NodeRow row : nominations_.rejected()) left_.Clear(row);
  if (input.sample != nullptr && !on_board_) {
    looked_at_ = TakeSample(*input.sample, left_, input.room.set);
  }
  any_rejected_ = false;
  const std::span<const uint64_t> left = std::as_const(left_).words();
  for (size_t i = 0; i < passed.size(); ++i) {
    const uint64_t rejected = passed[i] & ~left[i];
    any_rejected_ = any_rejected_ || rejected != 0;
    uint64_t differ = std::exchange(rejected_.words()[i], rejected) ^ rejected;
    rejected_changed_ = rejected_changed_ || differ != 0;
    for (; differ != 0; differ &= differ - 1) {
      touched_.Set(static_cast<NodeRow>(i * 64 + static_cast<size_t>(std::countr_zero(differ))));
    }
    feasible_.words()[i] = left[i];
  }
  return true;
}

bool KeptClass::SkipsOwnScores(const DecisionInput& input) const {
  return std::ranges::all_of(plan_.scores(), [&](const ScoreStep& step) {
    if (!step.each_pod) return true;
    return framework::Guarded(input.cycle.state,
                              [&] {
                                return step.pre_score->PreScore(input.cycle.state, input.pod,
                                                                input.changes.cache(), feasible_);
                              })
        .skip();
  });
}

bool KeptClass::ScoresReadFeasible() const {
  return std::ranges::any_of(scores_,
                             [](const SharedScores& scores) { return scores->reads_feasible(); });
}

bool KeptClass::RefreshScores(const DecisionInput& input) {
  const bool feasible_changed = std::exchange(rejected_changed_, false);
  for (size_t i = 0; i < scores_.size(); ++i) {
    KeptScores& scores = *scores_[i];
    // Scores that others share are normalised often and change for many rows at once.
    const bool apart = scores.step().updatable != nullptr && scores.step().normalises;
    TouchedRows& touched = apart ? touched_by_plugin_[i] : touched_scores_;
    if (apart) touched.Resize(touched_scores_.size());
    if (!scores.Refresh(input, feasible_, feasible_changed, touched)) return false;
    if (scores.num_asked() > 0) {
      framework::CountEvaluations(input.profile, input.cycle.observer, scores.step().name,
                                  ExtensionPoint::kScore, scores.num_asked());
    }
  }
  return true;
}

void KeptClass::CountBytes() {
  // passed_, rejected_, left_, feasible_, touched_ and touched_scores_
  size_t sets = 6;
  for (const TouchedRows& touched : touched_by_plugin_) sets += touched.size() > 0 ? 1 : 0;
  // Plugins derive something from the pod to filter by, and to score by.
  bytes_.Set(sizeof(*this) + 2 * pod_bytes_ + board_.bytes() + sample_blocks_.bytes() +
             sets * feasible_.words().size_bytes() +
             scores_.size() * (sizeof(SharedScores) + sizeof(TouchedRows)) +
             verdicts_.size() * sizeof(SharedVerdicts));
}

}  // namespace berth::engine
