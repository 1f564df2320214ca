// SPDX-License-Identifier: Apache-2.0
#include "src/engine/kept_answers.h"

#include <utility>

#include "src/framework/guarded.h"

namespace berth::engine {
namespace {

// Below this many rows one call a row is cheaper than what a column form sets up.
constexpr size_t kFewRows = 16;

// Whether a plugin must look at everything again, and if not, at which rows.
struct Extent {
  bool anew = false;
  bool update = false;  // ask the plugin which rows
  bool nodes = false;   // the rows whose node changed
  bool pods = false;    // the rows whose pods changed
};

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

}  // namespace

bool KeptVerdicts::Refresh(const Occasion& occasion, NodeSet& touched) {
  num_asked_ = 0;
  Changes& changes = occasion.changes;
  const cache::Cache& cache = changes.cache();
  const bool objects_changed = objects_generation_ != occasion.objects_generation;
  if (valid_ && generation_ == cache.generation() &&
      !(step_.span.other_objects && objects_changed)) {
    return true;
  }
  bool done = false;
  if (valid_) {
    changes.Read(generation_);
    const Extent extent =
        ExtentOf(step_.span, step_.updatable != nullptr, changes, objects_changed);
    scratch_.Assign(cache.num_rows(), false);
    passed_.Resize(cache.num_rows());
    if (extent.anew) {
      done = BeginAnew(occasion, touched);
    } else if (extent.update && !step_.updatable->UpdatePreFilter(state_, occasion.pod, cache,
                                                                  changes.pods(), scratch_)) {
      done = BeginAnew(occasion, touched);
    } else {
      if (extent.nodes) SetAll(changes.nodes(), scratch_);
      if (extent.pods) SetAll(changes.pods(), scratch_);
      touched |= scratch_;
      done = AskSome(occasion, scratch_);
    }
  } else {
    done = BeginAnew(occasion, touched);
  }
  valid_ = done;
  generation_ = cache.generation();
  objects_generation_ = occasion.objects_generation;
  return done;
}

bool KeptVerdicts::BeginAnew(const Occasion& occasion, NodeSet& touched) {
  const bool passed_all = passes_all();
  NodeSet before = std::move(passed_);
  if (!AskPreFilter(occasion)) return false;
  if (valid_ && passed_all && passes_all()) return true;
  passed_ = occasion.changes.cache().nodes();
  if (!passes_all() && !AskAll(occasion)) return false;
  if (!valid_ || passed_all || passes_all()) {
    touched.Assign(touched.size(), true);
    return true;
  }
  before.Resize(passed_.size());
  const auto old_words = std::as_const(before).words();
  const auto new_words = std::as_const(passed_).words();
  for (size_t i = 0; i < new_words.size(); ++i) touched.words()[i] |= old_words[i] ^ new_words[i];
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
  if (passes_all()) return true;
  const cache::Cache& cache = occasion.changes.cache();
  passed_ -= rows;
  rows &= cache.nodes();
  const size_t count = rows.Count();
  num_asked_ += count;
  if (count > kFewRows && step_.filter->column != nullptr) {
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
  const Status status = framework::RunFilterPlugin(*step_.filter, state_, occasion.pod,
                                                   NodeView(occasion.changes.cache(), row));
  passed_.Put(row, status.ok());
  return status.code() != Code::kError;
}

bool KeptScores::Refresh(const Occasion& occasion, const NodeSet& feasible, NodeSet& touched) {
  num_asked_ = 0;
  Changes& changes = occasion.changes;
  const cache::Cache& cache = changes.cache();
  const bool objects_changed = objects_generation_ != occasion.objects_generation;
  if (valid_ && generation_ == cache.generation() &&
      !(step_.span.other_objects && objects_changed)) {
    return true;
  }
  bool done = false;
  if (valid_) {
    changes.Read(generation_);
    const Extent extent =
        ExtentOf(step_.span, step_.updatable != nullptr, changes, objects_changed);
    scratch_.Assign(cache.num_rows(), false);
    raw_.resize(cache.num_rows());
    if (extent.anew) {
      done = BeginAnew(occasion, feasible, touched);
    } else if (extent.update &&
               !step_.updatable->UpdatePreScore(state_, occasion.pod, cache, changes.pods(),
                                                feasible, scratch_)) {
      done = BeginAnew(occasion, feasible, touched);
    } else {
      if (extent.nodes) SetAll(changes.nodes(), scratch_);
      if (extent.pods) SetAll(changes.pods(), scratch_);
      touched |= scratch_;
      if (skipped_) {
        done = true;
      } else {
        scratch_ &= cache.nodes();
        rows_.clear();
        scratch_.ForEach([this](NodeRow row) { rows_.push_back(row); });
        done = Ask(occasion, rows_);
      }
    }
  } else {
    done = BeginAnew(occasion, feasible, touched);
  }
  valid_ = done;
  generation_ = cache.generation();
  objects_generation_ = occasion.objects_generation;
  return done;
}

bool KeptScores::BeginAnew(const Occasion& occasion, const NodeSet& feasible, NodeSet& touched) {
  const cache::Cache& cache = occasion.changes.cache();
  const bool skipped_before = valid_ && skipped_;
  if (!AskPreScore(occasion, feasible)) return false;
  if (skipped_before && skipped_) return true;
  touched.Assign(touched.size(), true);
  if (skipped_) return true;
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
