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
  if (!RefreshVerdicts(input)) return Outcome::kNotKept;
  FindPassed(cache);
  // Then nominations have nothing to take away, and there may be a crowd of them.
  if (passed_.Empty()) return Outcome::kByItself;
  if (!AskOwnFilters(input)) return Outcome::kByItself;
  if (feasible_.Empty() || !SkipsOwnScores(input)) return Outcome::kByItself;
  filter_timer.Finish(Code::kSuccess);

  framework::PointTimer score_timer(input.profile, input.cycle.observer, ExtensionPoint::kScore);
  if (!RefreshScores(input)) return Outcome::kNotKept;
  SortScores();
  if (!UpdateBoard()) return Outcome::kNotKept;
  if (!UpdateWeighted(input)) return Outcome::kNotKept;
  const ScoreBoard::Best best = board_.FindBest();
  decision.kind = Decision::Kind::kScheduled;
  decision.kept = true;
  decision.feasible_nodes = board_.num_feasible();
  decision.evaluated_nodes = looked_at_;
  decision.node = board_.Nth(best, best.ties == 1 ? 0 : random.Below(best.ties));
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

// Of the scores that have groups those with the fewest are kept apart: a placed pod moves the score
// of a group, and few nodes' group.
void KeptClass::ResetBoard(size_t rows) {
  std::optional<size_t> apart;
  size_t fewest = SIZE_MAX;
  for (size_t i = 0; i < normalised_.size(); ++i) {
    const auto& groups = scores_[normalised_[i]]->groups();
    if (!groups || groups->raw.size() >= fewest) continue;
    apart = i;
    fewest = groups->raw.size();
  }
  board_.Reset(rows, normalised_.size(), apart);
  touched_.AssignAll(rows);
  touched_scores_.AssignAll(rows);
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
// placement, what is promised to nominated pods, and what is not in the sample. A filter is asked
// about all that those before it pass: it may fail on a node that a later one rejects.
bool KeptClass::AskOwnFilters(const DecisionInput& input) {
  if (!AskOwnPreFilters(input) || !AskNominations(input)) return false;
  const cache::Cache& cache = input.changes.cache();
  const std::span<const uint64_t> passed = std::as_const(passed_).words();
  rejected_.Resize(cache.num_rows());
  feasible_.Resize(cache.num_rows());
  looked_at_ = input.placement == nullptr ? cache.num_nodes() : input.placement->Count();
  if (own_filters_.empty() && input.placement == nullptr && nominations_.rejected().empty() &&
      input.sample == nullptr && !any_rejected_) {
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
  if (input.sample != nullptr) looked_at_ = TakeSample(*input.sample, left_, input.room.set);
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

// Which plugins score this class; another board where they are others than last time.
void KeptClass::SortScores() {
  size_t plain = 0;
  size_t normalised = 0;
  bool same = true;
  for (size_t i = 0; i < scores_.size(); ++i) {
    if (scores_[i]->skipped()) continue;
    const bool normalises = scores_[i]->step().normalises;
    std::vector<size_t>& sorted = normalises ? normalised_ : plain_;
    size_t& next = normalises ? normalised : plain;
    if (next == sorted.size()) sorted.push_back(SIZE_MAX);
    same = std::exchange(sorted[next++], i) == i && same;
  }
  same = same && plain == plain_.size() && normalised == normalised_.size();
  plain_.resize(plain);
  normalised_.resize(normalised);
  raw_.resize(normalised);
  grouped_.resize(normalised);
  for (size_t i = 0; i < normalised; ++i) {
    const uint8_t grouped = scores_[normalised_[i]]->groups().has_value() ? 1 : 0;
    same = std::exchange(grouped_[i], grouped) == grouped && same;
  }
  if (!same) ResetBoard(board_.num_rows());
  for (size_t i = 0; i < normalised; ++i) {
    if (grouped_[i] != 0) board_.values(i).SetNumbers(scores_[normalised_[i]]->groups()->raw);
  }
}

bool KeptClass::UpdateBoard() {
  bool kept = true;
  touched_scores_.ForEach([&](NodeRow row) {
    if (feasible_.Test(row)) {
      kept = PutOnBoard(row) && kept;
    } else {
      board_.Remove(row);
    }
  });
  // The others pass now, or do not, but score as they did.
  const std::span<const uint64_t> feasible = std::as_const(feasible_).words();
  for (size_t i = touched_.first(); i < touched_.end(); ++i) {
    uint64_t differ = touched_.word(i) & (feasible[i] ^ board_.feasible().words()[i]);
    for (; differ != 0; differ &= differ - 1) {
      const auto row = static_cast<NodeRow>(i * 64 + static_cast<size_t>(std::countr_zero(differ)));
      if (!feasible_.Test(row)) {
        board_.Hide(row);
      } else if (!board_.Show(row)) {
        kept = PutOnBoard(row) && kept;
      }
    }
  }
  for (size_t i = 0; i < normalised_.size(); ++i) {
    const TouchedRows& rows = touched_by_plugin_[normalised_[i]];
    if (rows.Empty()) continue;
    const KeptScores& scores = *scores_[normalised_[i]];
    const bool set =
        scores.groups()
            ? board_.SetRaw(
                  i, rows,
                  [of = scores.groups()->group_of](NodeRow row) { return int64_t{of[row]}; })
            : board_.SetRaw(i, rows, [raw = scores.raw()](NodeRow row) { return raw[row]; });
    kept = set && kept;
  }
  touched_.Clear();
  touched_scores_.Clear();
  for (TouchedRows& rows : touched_by_plugin_) rows.Clear();
  return kept;
}

bool KeptClass::PutOnBoard(NodeRow row) {
  bool in_range = true;
  int64_t base = 0;
  for (const size_t i : plain_) {
    const KeptScores& scores = *scores_[i];
    const int64_t raw = scores.raw()[row];
    in_range = in_range && framework::IsNodeScore(raw);
    base += raw * scores.step().score->weight;
  }
  for (size_t i = 0; i < normalised_.size(); ++i) {
    const KeptScores& scores = *scores_[normalised_[i]];
    raw_[i] = scores.groups() ? scores.groups()->group_of[row] : scores.raw()[row];
  }
  return board_.Put(row, base, raw_) && in_range;
}

bool KeptClass::UpdateWeighted(const DecisionInput& input) {
  for (size_t i = 0; i < normalised_.size(); ++i) {
    const KeptScores& scores = *scores_[normalised_[i]];
    if (!scores.skipped() && !scores.step().score->extensions->NormalizesByValue(scores.state())) {
      return false;
    }
    if (board_.values(i).changed() && !Normalise(input, i)) return false;
  }
  return true;
}

bool KeptClass::Normalise(const DecisionInput& input, size_t normalised) {
  const KeptScores& scores = *scores_[normalised_[normalised]];
  const framework::ScoreEntry& entry = *scores.step().score;
  ScoreValues& values = board_.values(normalised);
  values.Live(live_raw_, live_ids_);
  no_rows_.assign(live_raw_.size(), kNoRow);
  if (!framework::RunNormalizeScore(entry, scores.state(), input.pod, no_rows_, live_raw_).ok()) {
    return false;
  }
  // What all rows share decides nothing, and mostly stays that way while its score moves.
  if (live_raw_.size() == 1) live_raw_.front() = 0;
  for (int64_t& weighted : live_raw_) weighted *= entry.weight;
  if (values.SetWeighted(live_ids_, live_raw_)) board_.Recount(normalised);
  return true;
}

void KeptClass::CountBytes() {
  // passed_, rejected_, left_, feasible_, touched_ and touched_scores_
  size_t sets = 6;
  for (const TouchedRows& touched : touched_by_plugin_) sets += touched.size() > 0 ? 1 : 0;
  // Plugins derive something from the pod to filter by, and to score by.
  bytes_.Set(sizeof(*this) + 2 * pod_bytes_ + board_.bytes() +
             sets * feasible_.words().size_bytes() +
             scores_.size() * (sizeof(SharedScores) + sizeof(TouchedRows)) +
             verdicts_.size() * sizeof(SharedVerdicts));
}

}  // namespace berth::engine
