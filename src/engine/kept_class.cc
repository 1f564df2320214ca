// SPDX-License-Identifier: Apache-2.0
#include "src/engine/kept_class.h"

#include <algorithm>
#include <utility>

#include "src/framework/guarded.h"
#include "src/framework/timing.h"

namespace berth::engine {
namespace {

using framework::ExtensionPoint;

size_t CountNormalising(const EvaluationPlan& plan) {
  return static_cast<size_t>(std::ranges::count_if(
      plan.scores(), [](const ScoreStep& step) { return step.score->plugin->Normalizes(); }));
}

bool InRange(int64_t score) { return score >= kMinNodeScore && score <= kMaxNodeScore; }

}  // namespace

KeptClass::KeptClass(const EvaluationPlan& plan, std::vector<SharedVerdicts> verdicts,
                     std::vector<SharedScores> scores)
    : plan_(plan),
      verdicts_(std::move(verdicts)),
      scores_(std::move(scores)),
      board_(CountNormalising(plan)) {
  for (size_t i = 0; i < scores_.size(); ++i) {
    (scores_[i]->step().score->plugin->Normalizes() ? normalised_ : plain_).push_back(i);
  }
  raw_.resize(normalised_.size());
}

KeptClass::Outcome KeptClass::Decide(const Occasion& occasion, Random& random, Decision& decision) {
  framework::PointTimer filter_timer(occasion.profile, ExtensionPoint::kFilter);
  const cache::Cache& cache = occasion.changes.cache();
  NoteChanges(occasion.changes);
  if (!RefreshVerdicts(occasion)) return Outcome::kNotKept;
  FindFeasible(cache);
  if (feasible_.Empty()) return Outcome::kNothingFeasible;
  filter_timer.Finish(Code::kSuccess);

  framework::PointTimer score_timer(occasion.profile, ExtensionPoint::kScore);
  if (!RefreshScores(occasion)) return Outcome::kNotKept;
  if (!UpdateBoard()) {
    // There may be room once what no row scores any more is forgotten.
    board_.Reset(cache.num_rows());
    touched_.Assign(cache.num_rows(), true);
    if (!UpdateBoard()) return Outcome::kNotKept;
  }
  if (!UpdateWorth(occasion)) return Outcome::kNotKept;
  const ScoreBoard::Best best = board_.FindBest();
  decision.kind = Decision::Kind::kScheduled;
  decision.feasible_nodes = board_.num_feasible();
  decision.evaluated_nodes = cache.num_nodes();
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
    board_.Reset(rows);
    touched_.Assign(rows, true);
    return;
  }
  board_.Grow(rows);
  touched_.Resize(rows);
  for (const NodeRow row : changes.pods()) touched_.Set(row);
  for (const NodeRow row : changes.nodes()) touched_.Set(row);
}

bool KeptClass::RefreshVerdicts(const Occasion& occasion) {
  for (const SharedVerdicts& verdicts : verdicts_) {
    if (!verdicts->Refresh(occasion, touched_)) return false;
    if (verdicts->num_asked() > 0) {
      framework::CountEvaluations(occasion.profile, verdicts->step().name, ExtensionPoint::kFilter,
                                  verdicts->num_asked());
    }
  }
  return true;
}

void KeptClass::FindFeasible(const cache::Cache& cache) {
  feasible_.Resize(cache.num_rows());
  const std::span<uint64_t> feasible = feasible_.words();
  const std::span<const uint64_t> touched = std::as_const(touched_).words();
  const std::span<const uint64_t> nodes = cache.nodes().words();
  const std::span<const uint64_t> closed = cache.closed_nodes().words();
  for (size_t i = 0; i < feasible.size(); ++i) {
    if (touched[i] == 0) continue;
    uint64_t now = nodes[i] & ~closed[i];
    for (const SharedVerdicts& verdicts : verdicts_) {
      if (!verdicts->passes_all()) now &= std::as_const(*verdicts).passed().words()[i];
    }
    feasible[i] = (feasible[i] & ~touched[i]) | (now & touched[i]);
  }
}

bool KeptClass::RefreshScores(const Occasion& occasion) {
  for (const SharedScores& scores : scores_) {
    if (!scores->Refresh(occasion, feasible_, touched_)) return false;
    if (scores->num_asked() > 0) {
      framework::CountEvaluations(occasion.profile, scores->step().name, ExtensionPoint::kScore,
                                  scores->num_asked());
    }
  }
  return true;
}

bool KeptClass::UpdateBoard() {
  bool kept = true;
  touched_.ForEach([&](NodeRow row) {
    if (!feasible_.Test(row)) {
      board_.Remove(row);
      return;
    }
    int64_t base = 0;
    for (const size_t i : plain_) {
      const KeptScores& scores = *scores_[i];
      if (scores.skipped()) continue;
      const int64_t raw = scores.raw()[row];
      kept = kept && InRange(raw);
      base += raw * scores.step().score->weight;
    }
    for (size_t i = 0; i < normalised_.size(); ++i) {
      const KeptScores& scores = *scores_[normalised_[i]];
      raw_[i] = scores.skipped() ? 0 : scores.raw()[row];
    }
    kept = board_.Put(row, base, raw_) && kept;
  });
  if (kept) touched_.Assign(touched_.size(), false);
  return kept;
}

bool KeptClass::UpdateWorth(const Occasion& occasion) {
  for (size_t i = 0; i < normalised_.size(); ++i) {
    const KeptScores& scores = *scores_[normalised_[i]];
    if (!scores.skipped() && !scores.step().score->plugin->NormalizesByValue(scores.state())) {
      return false;
    }
    if (board_.values(i).changed() && !Normalise(occasion, i)) return false;
  }
  return true;
}

bool KeptClass::Normalise(const Occasion& occasion, size_t normalised) {
  const KeptScores& scores = *scores_[normalised_[normalised]];
  const framework::ScoreEntry& entry = *scores.step().score;
  ScoreValues& values = board_.values(normalised);
  values.Live(live_raw_, live_ids_);
  if (scores.skipped()) {
    std::ranges::fill(live_raw_, 0);
  } else {
    no_rows_.assign(live_raw_.size(), kNoRow);
    const Status status = framework::Guarded(scores.state(), [&] {
      return entry.plugin->NormalizeScore(scores.state(), occasion.pod, no_rows_, live_raw_);
    });
    if (!status.ok() || !std::ranges::all_of(live_raw_, InRange)) return false;
  }
  // What all rows share decides nothing, and mostly stays that way while its worth moves.
  if (live_raw_.size() == 1) live_raw_.front() = 0;
  for (int64_t& worth : live_raw_) worth *= entry.weight;
  if (values.SetWorth(live_ids_, live_raw_)) board_.Recount();
  return true;
}

size_t KeptClass::bytes() const {
  return sizeof(*this) + board_.bytes() + touched_.words().size_bytes() +
         feasible_.words().size_bytes();
}

}  // namespace berth::engine
