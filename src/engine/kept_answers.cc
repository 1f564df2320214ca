// SPDX-License-Identifier: Apache-2.0
#include "src/engine/kept_answers.h"

#include <utility>

#include "src/framework/guarded.h"

namespace berth::engine {
namespace {

// Below this many rows one call a row is cheaper than what a column form sets up.
constexpr size_t kFewRows = 16;

Extent ExtentOf(const Span& span, bool updatable, const Changes& changes, bool objects_changed) {
  const bool nodes = !changes.nodes().empty();
  const bool pods = !changes.pods().empty();
  Extent extent;
  extent.anew = !changes.complete() || (span.other_objects && objects_changed) ||
                (span.all_nodes && nodes) || (span.all_usage && pods && !updatable);
  extent.update = span.all_usage && pods;
  extent.nodes = nodes;
  extent.pods = pods && span.usage && !span.all_usage;
  return extent;
}

void SetAll(std::span<const NodeRow> rows, NodeSet& out) {
  for (const NodeRow row : rows) out.Set(row);
}

// Makes room for the rows that a plugin names. Clearing it costs what the rows cost: only where
// they are going to be looked at.
void MakeRoom(size_t num_rows, bool looked_at, NodeSet& rows) {
  if (looked_at) {
    rows.Assign(num_rows, false);
  } else {
    rows.Resize(num_rows);
  }
}

}  // namespace

std::optional<Extent> KeptAnswers::Stale(const Occasion& occasion, const Span& span,
                                         bool updatable) {
  num_asked_ = 0;
  if (!valid_) return Extent{.anew = true};
  const bool objects_changed = objects_generation_ != occasion.objects_generation;
  Changes& changes = occasion.changes;
  if (generation_ == changes.cache().generation() && !(span.other_objects && objects_changed)) {
    return std::nullopt;
  }
  changes.Read(generation_);
  return ExtentOf(span, updatable, changes, objects_changed);
}

bool KeptAnswers::Settle(const Occasion& occasion, bool done) {
  valid_ = done;
  generation_ = occasion.changes.cache().generation();
  objects_generation_ = occasion.objects_generation;
  return done;
}

bool KeptVerdicts::Refresh(const Occasion& occasion, TouchedRows& touched) {
  const std::optional<Extent> extent = Stale(occasion, step_.span, step_.updatable != nullptr);
  if (!extent) return true;
  const bool done =
      extent->anew ? BeginAnew(occasion, touched) : Continue(occasion, *extent, touched);
  if (extent->anew) CountBytes();
  return Settle(occasion, done);
}

bool KeptVerdicts::Continue(const Occasion& occasion, const Extent& extent, TouchedRows& touched) {
  const Changes& changes = occasion.changes;
  const cache::Cache& cache = changes.cache();
  passed_.Resize(cache.num_rows());
  if (!extent.update) {
    // The class that asks knows of these rows by itself.
    if (passes_all()) return true;
    const size_t count =
        (extent.nodes ? changes.nodes().size() : 0) + (extent.pods ? changes.pods().size() : 0);
    if (count == 0) return true;
    if (count <= kFewRows) {
      bool asked = true;
      const auto ask = [&](std::span<const NodeRow> rows) {
        for (const NodeRow row : rows) asked = AskRow(occasion, row) && asked;
      };
      if (extent.nodes) ask(changes.nodes());
      if (extent.pods) ask(changes.pods());
      return asked;
    }
  }
  MakeRoom(cache.num_rows(), !passes_all(), scratch_);
  if (extent.update &&
      !step_.updatable->UpdatePreFilter(state_, occasion.pod, cache, changes.pods(), scratch_)) {
    return BeginAnew(occasion, touched);
  }
  if (passes_all()) return true;
  if (extent.nodes) SetAll(changes.nodes(), scratch_);
  if (extent.pods) SetAll(changes.pods(), scratch_);
  if (scratch_.Empty()) return true;
  touched.Add(scratch_);
  return AskSome(occasion, scratch_);
}

// Between two beginnings the state changes and does not grow; what the cluster grows by, the next
// beginning counts.
void KeptVerdicts::CountBytes() {
  bytes_.Set(sizeof(*this) + passed_.words().size_bytes() + scratch_.words().size_bytes() +
             state_.bytes());
}

bool KeptVerdicts::BeginAnew(const Occasion& occasion, TouchedRows& touched) {
  const bool passed_all = passes_all();
  NodeSet before = std::move(passed_);
  if (!AskPreFilter(occasion)) return false;
  if (valid_ && passed_all && passes_all()) return true;
  passed_ = occasion.changes.cache().nodes();
  if (!passes_all() && !AskAll(occasion)) return false;
  if (!valid_ || passed_all || passes_all()) {
    touched.SetAll();
    return true;
  }
  before.Resize(passed_.size());
  const auto old_words = std::as_const(before).words();
  const auto new_words = std::as_const(passed_).words();
  NodeSet differ(passed_.size());
  for (size_t i = 0; i < new_words.size(); ++i) differ.words()[i] = old_words[i] ^ new_words[i];
  touched.Add(differ);
  return true;
}

bool KeptVerdicts::AskPreFilter(const Occasion& occasion) {
  state_ = CycleState();
  skipped_ = false;
  if (step_.pre_filter == nullptr) return true;
  bool names_nodes = false;
  const Status status = framework::Guarded(state_, [&] {
    const PreFilterResult result =
        step_.pre_filter->PreFilter(state_, occasion.pod, occasion.changes.cache());
    names_nodes = result.node_names.has_value();
    return result.status;
  });
  skipped_ = status.skip();
  return !names_nodes && (status.ok() || skipped_);
}

bool KeptVerdicts::AskAll(const Occasion& occasion) {
  num_asked_ = occasion.changes.cache().num_nodes();
  if (step_.filter->column != nullptr) {
    return framework::RunFilterNodes(*step_.filter, state_, occasion.pod, occasion.changes.cache(),
                                     passed_)
        .ok();
  }
  bool asked = true;
  passed_.Filter([&](NodeRow row) {
    const Status status = framework::RunFilterPlugin(*step_.filter, state_, occasion.pod,
                                                     NodeView(occasion.changes.cache(), row));
    asked = asked && status.code() != Code::kError;
    return status.ok();
  });
  return asked;
}

// `rows` comes back as those of them that pass.
bool KeptVerdicts::AskSome(const Occasion& occasion, NodeSet& rows) {
  const cache::Cache& cache = occasion.changes.cache();
  passed_ -= rows;
  rows &= cache.nodes();
  const size_t count = rows.Count();
  if (count > kFewRows && step_.filter->column != nullptr) {
    num_asked_ += count;
    if (!framework::RunFilterNodes(*step_.filter, state_, occasion.pod, cache, rows).ok()) {
      return false;
    }
    passed_ |= rows;
    return true;
  }
  bool asked = true;
  rows.ForEach([&](NodeRow row) { asked = AskRow(occasion, row) && asked; });
  return asked;
}

bool KeptVerdicts::AskRow(const Occasion& occasion, NodeRow row) {
  const cache::Cache& cache = occasion.changes.cache();
  if (!cache.nodes().Test(row)) {
    passed_.Clear(row);
    return true;
  }
  ++num_asked_;
  const Status status =
      framework::RunFilterPlugin(*step_.filter, state_, occasion.pod, NodeView(cache, row));
  passed_.Put(row, status.ok());
  return status.code() != Code::kError;
}

bool KeptScores::Refresh(const Occasion& occasion, const NodeSet& feasible, TouchedRows& touched) {
  const std::optional<Extent> extent = Stale(occasion, step_.span, step_.updatable != nullptr);
  if (!extent) return true;
  const bool done = extent->anew ? BeginAnew(occasion, feasible, touched)
                                 : Continue(occasion, *extent, feasible, touched);
  if (extent->anew) CountBytes();
  return Settle(occasion, done);
}

void KeptScores::CountBytes() {
  bytes_.Set(sizeof(*this) + raw_.capacity() * sizeof(raw_[0]) + scratch_.words().size_bytes() +
             rows_.capacity() * sizeof(rows_[0]) + scores_.capacity() * sizeof(scores_[0]) +
             state_.bytes());
}

bool KeptScores::Continue(const Occasion& occasion, const Extent& extent, const NodeSet& feasible,
                          TouchedRows& touched) {
  const Changes& changes = occasion.changes;
  const cache::Cache& cache = changes.cache();
  rows_.clear();
  const auto add = [&](std::span<const NodeRow> rows) {
    for (const NodeRow row : rows)
      if (cache.nodes().Test(row)) rows_.push_back(row);
  };
  if (extent.update) {
    MakeRoom(cache.num_rows(), !skipped_, scratch_);
    if (!step_.updatable->UpdatePreScore(state_, occasion.pod, cache, changes.pods(), feasible,
                                         scratch_)) {
      return BeginAnew(occasion, feasible, touched);
    }
    if (skipped_) return true;
    touched.Add(scratch_);
    if (groups_) {
      groups_ = step_.updatable->Groups(state_);
      return true;
    }
    scratch_.ForEach([&](NodeRow row) {
      if (cache.nodes().Test(row)) rows_.push_back(row);
    });
  }
  if (skipped_) return true;
  raw_.resize(cache.num_rows());
  // The class that asks knows of these rows by itself.
  if (extent.nodes) add(changes.nodes());
  if (extent.pods) add(changes.pods());
  return Ask(occasion, rows_);
}

bool KeptScores::BeginAnew(const Occasion& occasion, const NodeSet& feasible,
                           TouchedRows& touched) {
  const cache::Cache& cache = occasion.changes.cache();
  const bool skipped_before = valid_ && skipped_;
  if (!AskPreScore(occasion, feasible)) return false;
  if (skipped_before && skipped_) return true;
  touched.SetAll();
  groups_.reset();
  if (skipped_) return true;
  if (step_.updatable != nullptr) groups_ = step_.updatable->Groups(state_);
  if (groups_) return true;
  raw_.resize(cache.num_rows());
  rows_.clear();
  cache.nodes().ForEach([this](NodeRow row) { rows_.push_back(row); });
  return Ask(occasion, rows_);
}

bool KeptScores::AskPreScore(const Occasion& occasion, const NodeSet& feasible) {
  state_ = CycleState();
  skipped_ = false;
  if (step_.pre_score == nullptr) return true;
  const Status status = framework::Guarded(state_, [&] {
    return step_.pre_score->PreScore(state_, occasion.pod, occasion.changes.cache(), feasible);
  });
  skipped_ = status.skip();
  return status.ok() || skipped_;
}

bool KeptScores::Ask(const Occasion& occasion, std::span<const NodeRow> rows) {
  num_asked_ += rows.size();
  if (rows.empty()) return true;
  bool asked = true;
  const Status status = framework::Guarded(state_, [&] {
    if (rows.size() <= kFewRows || step_.score->column == nullptr) {
      for (const NodeRow row : rows) asked = AskOne(occasion, row) && asked;
      return Status::Success();
    }
    // As in a plain evaluation: one node tells whether the plugin can score at all.
    asked = AskOne(occasion, rows.front());
    scores_.resize(rows.size());
    step_.score->column->ScoreNodes(state_, occasion.pod, occasion.changes.cache(), rows, scores_);
    for (size_t i = 0; i < rows.size(); ++i) raw_[rows[i]] = scores_[i];
    return Status::Success();
  });
  return asked && status.ok();
}

bool KeptScores::AskOne(const Occasion& occasion, NodeRow row) {
  const ScoreResult result =
      step_.score->plugin->Score(state_, occasion.pod, NodeView(occasion.changes.cache(), row));
  raw_[row] = result.score;
  return result.status.ok();
}

}  // namespace berth::engine
