// SPDX-License-Identifier: Apache-2.0
#include "src/engine/kept_answers.h"

#include <utility>

#include "src/framework/guarded.h"

namespace berth::engine {
namespace {

Stale StaleAfter(const Changes& changes, const InputScope& scope, bool updatable,
                 bool objects_changed, bool feasible_changed) {
  const bool nodes = !changes.nodes().empty();
  const bool pods = !changes.pods().empty();
  const bool far = scope.all_usage && (pods || feasible_changed);
  Stale stale;
  stale.all = !changes.complete() || (scope.other_objects && objects_changed) ||
              (scope.all_nodes && nodes) || (far && !updatable);
  stale.update = far;
  stale.nodes = nodes;
  stale.pods = pods && scope.usage && !scope.all_usage;
  stale.measured = scope.measured && !changes.measured().empty();
  return stale;
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

std::optional<Stale> KeptAnswers::FindWithinReach(const DecisionInput& input,
                                                  const InputScope& scope, bool updatable,
                                                  bool feasible_changed) {
  if (!valid_) return Stale{.all = true};
  const bool objects_changed = objects_generation_ != input.objects_generation;
  Changes& changes = input.changes;
  if (generation_ == changes.cache().generation() && !(scope.other_objects && objects_changed) &&
      !(scope.all_usage && feasible_changed)) {
    return std::nullopt;
  }
  changes.Read(generation_);
  const Stale stale = StaleAfter(changes, scope, updatable, objects_changed, feasible_changed);
  if (stale.any()) return stale;
  Finish(input, true);
  return std::nullopt;
}

bool KeptAnswers::Finish(const DecisionInput& input, bool done) {
  valid_ = done;
  generation_ = input.changes.cache().generation();
  objects_generation_ = input.objects_generation;
  return done;
}

bool KeptVerdicts::Refresh(const DecisionInput& input, TouchedRows& touched) {
  const std::optional<Stale> stale =
      FindStale(input, step_.scope, step_.updatable != nullptr, false);
  if (!stale) return true;
  const bool done = stale->all ? StartOver(input, touched) : Continue(input, *stale, touched);
  if (stale->all) CountBytes();
  return Finish(input, done);
}

bool KeptVerdicts::Continue(const DecisionInput& input, const Stale& stale, TouchedRows& touched) {
  const Changes& changes = input.changes;
  const cache::Cache& cache = changes.cache();
  passed_.Resize(cache.num_rows());
  if (!stale.update) {
    // The class that asks knows of these rows by itself.
    if (passes_all()) return true;
    const size_t count = (stale.nodes ? changes.nodes().size() : 0) +
                         (stale.pods ? changes.pods().size() : 0) +
                         (stale.measured ? changes.measured().size() : 0);
    if (count == 0) return true;
    if (count <= framework::kFewNodes) {
      bool asked = true;
      const auto ask = [&](std::span<const NodeRow> rows) {
        for (const NodeRow row : rows) asked = AskRow(input, row) && asked;
      };
      if (stale.nodes) ask(changes.nodes());
      if (stale.pods) ask(changes.pods());
      if (stale.measured) ask(changes.measured());
      return asked;
    }
  }
  NodeSet& rows = input.room.set;
  MakeRoom(cache.num_rows(), !passes_all(), rows);
  if (stale.update &&
      !step_.updatable->UpdatePreFilter(state_, input.pod, cache, changes.pods(), rows)) {
    return StartOver(input, touched);
  }
  if (passes_all()) return true;
  if (stale.nodes) SetAll(changes.nodes(), rows);
  if (stale.pods) SetAll(changes.pods(), rows);
  if (stale.measured) SetAll(changes.measured(), rows);
  if (rows.Empty()) return true;
  touched.Add(rows);
  return AskSome(input, rows);
}

// Between two beginnings the state changes and does not grow; what the cluster grows by, the next
// beginning counts.
void KeptVerdicts::CountBytes() {
  bytes_.Set(sizeof(*this) + passed_.words().size_bytes() + state_.bytes());
}

bool KeptVerdicts::StartOver(const DecisionInput& input, TouchedRows& touched) {
  const bool passed_all = passes_all();
  NodeSet before = std::move(passed_);
  if (!AskPreFilter(input)) return false;
  if (valid_ && passed_all && passes_all()) return true;
  passed_ = input.changes.cache().nodes();
  if (!passes_all() && !AskAll(input)) return false;
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

bool KeptVerdicts::AskPreFilter(const DecisionInput& input) {
  state_ = CycleState();
  skipped_ = false;
  if (step_.pre_filter == nullptr) return true;
  bool names_nodes = false;
  const Status status = framework::Guarded(state_, [&] {
    const PreFilterResult result =
        step_.pre_filter->PreFilter(state_, input.pod, input.changes.cache());
    names_nodes = result.node_names.has_value();
    return result.status;
  });
  skipped_ = status.skip();
  return !names_nodes && (status.ok() || skipped_);
}

bool KeptVerdicts::AskAll(const DecisionInput& input) {
  num_asked_ = input.changes.cache().num_nodes();
  return framework::RunFilterNodes(*step_.filter, state_, input.pod, input.changes.cache(), passed_)
      .ok();
}

// `rows` comes back as those of them that pass.
bool KeptVerdicts::AskSome(const DecisionInput& input, NodeSet& rows) {
  state_.RenewBudget(framework::TimeLimit::BudgetNow());
  const cache::Cache& cache = input.changes.cache();
  passed_ -= rows;
  rows &= cache.nodes();
  const size_t count = rows.Count();
  if (count > framework::kFewNodes && step_.filter->column != nullptr) {
    num_asked_ += count;
    if (!framework::RunFilterNodes(*step_.filter, state_, input.pod, cache, rows).ok()) {
      return false;
    }
    passed_ |= rows;
    return true;
  }
  bool asked = true;
  rows.ForEach([&](NodeRow row) { asked = AskRow(input, row) && asked; });
  return asked;
}

bool KeptVerdicts::AskRow(const DecisionInput& input, NodeRow row) {
  const cache::Cache& cache = input.changes.cache();
  if (!cache.nodes().Test(row)) {
    passed_.Clear(row);
    return true;
  }
  ++num_asked_;
  const Status status =
      framework::RunFilterPlugin(*step_.filter, state_, input.pod, NodeView(cache, row));
  passed_.Put(row, status.ok());
  return status.code() != Code::kError;
}

bool KeptScores::Refresh(const DecisionInput& input, const NodeSet& feasible, bool feasible_changed,
                         TouchedRows& touched) {
  const std::optional<Stale> stale =
      FindStale(input, step_.scope, step_.updatable != nullptr, feasible_changed);
  if (!stale) return true;
  const bool done =
      stale->all ? StartOver(input, feasible, touched) : Continue(input, *stale, feasible, touched);
  if (stale->all) CountBytes();
  return Finish(input, done);
}

void KeptScores::CountBytes() {
  bytes_.Set(sizeof(*this) + raw_.capacity() * sizeof(raw_[0]) + state_.bytes());
}

bool KeptScores::Continue(const DecisionInput& input, const Stale& stale, const NodeSet& feasible,
                          TouchedRows& touched) {
  const Changes& changes = input.changes;
  const cache::Cache& cache = changes.cache();
  std::vector<NodeRow>& rows = input.room.rows;
  rows.clear();
  const auto add = [&](std::span<const NodeRow> changed) {
    for (const NodeRow row : changed)
      if (cache.nodes().Test(row)) rows.push_back(row);
  };
  if (stale.update) {
    NodeSet& updated = input.room.set;
    MakeRoom(cache.num_rows(), !skipped_, updated);
    if (!step_.updatable->UpdatePreScore(state_, input.pod, cache, changes.pods(), feasible,
                                         updated)) {
      return StartOver(input, feasible, touched);
    }
    if (skipped_) return true;
    touched.Add(updated);
    if (groups_) {
      groups_ = step_.updatable->Groups(state_);
      return true;
    }
    updated.ForEach([&](NodeRow row) {
      if (cache.nodes().Test(row)) rows.push_back(row);
    });
  }
  if (skipped_) return true;
  raw_.resize(cache.num_rows());
  // The class that asks knows of these rows by itself.
  if (stale.nodes) add(changes.nodes());
  if (stale.pods) add(changes.pods());
  if (stale.measured) add(changes.measured());
  return Ask(input);
}

bool KeptScores::StartOver(const DecisionInput& input, const NodeSet& feasible,
                           TouchedRows& touched) {
  const cache::Cache& cache = input.changes.cache();
  const bool skipped_before = valid_ && skipped_;
  if (!AskPreScore(input, feasible)) return false;
  if (skipped_before && skipped_) return true;
  touched.SetAll();
  groups_.reset();
  if (skipped_) return true;
  if (step_.updatable != nullptr) groups_ = step_.updatable->Groups(state_);
  if (groups_) return true;
  raw_.resize(cache.num_rows());
  std::vector<NodeRow>& rows = input.room.rows;
  rows.clear();
  cache.nodes().ForEach([&rows](NodeRow row) { rows.push_back(row); });
  return Ask(input);
}

bool KeptScores::AskPreScore(const DecisionInput& input, const NodeSet& feasible) {
  state_ = CycleState();
  skipped_ = false;
  if (step_.pre_score == nullptr) return true;
  const Status status = framework::Guarded(state_, [&] {
    return step_.pre_score->PreScore(state_, input.pod, input.changes.cache(), feasible);
  });
  skipped_ = status.skip();
  return status.ok() || skipped_;
}

bool KeptScores::Ask(const DecisionInput& input) {
  state_.RenewBudget(framework::TimeLimit::BudgetNow());
  const std::vector<NodeRow>& rows = input.room.rows;
  std::vector<int64_t>& scores = input.room.scores;
  num_asked_ += rows.size();
  scores.resize(rows.size());
  const Status status = framework::RunScorePlugin(*step_.score, state_, input.pod,
                                                  input.changes.cache(), rows, scores);
  for (size_t i = 0; i < rows.size(); ++i) raw_[rows[i]] = scores[i];
  return status.ok();
}

}  // namespace berth::engine
