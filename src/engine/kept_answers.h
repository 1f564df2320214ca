// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "berth/node_set.h"
#include "berth/pod_info.h"
#include "src/cache/nominator.h"
#include "src/engine/changes.h"
#include "src/engine/counted_bytes.h"
#include "src/engine/evaluation_plan.h"
#include "src/engine/sample.h"
#include "src/engine/stale.h"
#include "src/framework/runtime.h"

namespace berth::engine {

// What every refresh needs for its own time only, so that it is there once, however much is kept.
struct RefreshRoom {
  NodeSet set;
  std::vector<NodeRow> rows;
  std::vector<int64_t> scores;  // by place in rows
};

// What one evaluation is about, and what the answers come from.
struct DecisionInput {
  const framework::Profile& profile;
  framework::Cycle& cycle;  // the pod's own; what is kept has states of its own
  const PodInfo& pod;
  Changes& changes;
  RefreshRoom& room;
  uint64_t objects_generation = 0;     // of objects that are neither pods nor nodes
  const NodeSet* placement = nullptr;  // ClusterState::placement; what is kept is about all nodes
  const cache::Nominator* nominated = nullptr;  // nullptr: no nomination counts for the pod
  const Sample* sample = nullptr;               // of the nodes that pass; nullptr: all of them
  const SearchOrder* order = nullptr;           // with a sample: its order
};

// At which rows a plugin must look again.
struct Stale {
  bool all = false;       // at all, beginning with PreFilter or PreScore
  bool update = false;    // at those that the plugin itself names
  bool nodes = false;     // at those whose node changed
  bool pods = false;      // at those whose pods changed
  bool measured = false;  // at those with another measured use

  bool any() const { return all || update || nodes || pods || measured; }
};

// When answers were last those of now, and so how much of them a change since then may reach; and
// how much memory they take, the state of the plugin included.
//
// Thread safety: the scheduling thread.
class KeptAnswers {
 public:
  // How many nodes the last Refresh() asked about.
  size_t num_asked() const { return num_asked_; }

 protected:
  explicit KeptAnswers(size_t& kept_bytes) : bytes_(kept_bytes) {}
  ~KeptAnswers() = default;

  // Begins a refresh. Nullopt: the answers are those of now.
  // `feasible_changed`: PreScore may get other nodes than the last time, though the cluster has
  // not changed. Those that reach beyond the node build on it.
  std::optional<Stale> FindStale(const DecisionInput& input, const InputScope& scope,
                                 bool updatable, bool feasible_changed) {
    num_asked_ = 0;
    if (StaysOutOfReach(input, scope)) {
      generation_ = input.changes.generation();
      return std::nullopt;
    }
    return FindWithinReach(input, scope, updatable, feasible_changed);
  }
  // Ends it, and returns `done`: whether the answers are now those of now.
  bool Finish(const DecisionInput& input, bool done);

  bool valid_ = false;
  size_t num_asked_ = 0;
  CountedBytes bytes_;

 private:
  // The whole refresh, for most plugins of most decisions: what has changed, if that is read
  // already, lies beyond what the plugin reads.
  bool StaysOutOfReach(const DecisionInput& input, const InputScope& scope) const {
    const Changes& changes = input.changes;
    return valid_ && !scope.usage && !scope.all_usage && changes.IsRead(generation_) &&
           changes.complete() && changes.nodes().empty() &&
           (!scope.measured || changes.measured().empty()) &&
           objects_generation_ == input.objects_generation;
  }
  std::optional<Stale> FindWithinReach(const DecisionInput& input, const InputScope& scope,
                                       bool updatable, bool feasible_changed);

  uint64_t generation_ = 0;
  uint64_t objects_generation_ = 0;
};

// One filter's verdicts on all nodes for pods that are alike to it. Refresh() evaluates again only
// the nodes within reach of a change.
//
// Thread safety: the scheduling thread.
class KeptVerdicts : public KeptAnswers {
 public:
  // `step` must outlive this, and so must `kept_bytes`, to which it adds what it takes.
  KeptVerdicts(const FilterStep& step, size_t& kept_bytes) : KeptAnswers(kept_bytes), step_(step) {}

  // Makes the verdicts those of now, and adds to `touched`, over all rows, those that may
  // have changed. False: the plugin rejects the pod, names nodes, or fails, and only a cycle of the
  // pod's own can tell why; the next Refresh() starts over.
  bool Refresh(const DecisionInput& input, TouchedRows& touched);

  const FilterStep& step() const { return step_; }
  bool skipped() const { return skipped_; }  // PreFilter said Skip
  // What PreFilter left; means nothing where it said Skip.
  const CycleState& state() const { return state_; }
  // PreFilter said Skip, or there is no Filter: the set below means nothing.
  bool passes_all() const { return skipped_ || step_.filter == nullptr; }
  // The nodes that pass.
  const NodeSet& passed() const { return passed_; }

 private:
  void CountBytes();
  bool Continue(const DecisionInput& input, const Stale& stale, TouchedRows& touched);
  bool StartOver(const DecisionInput& input, TouchedRows& touched);
  bool AskPreFilter(const DecisionInput& input);
  bool AskAll(const DecisionInput& input);
  bool AskSome(const DecisionInput& input, NodeSet& rows);
  bool AskRow(const DecisionInput& input, NodeRow row);

  const FilterStep& step_;
  bool skipped_ = false;
  CycleState state_;
  NodeSet passed_;
};

// One score plugin's raw scores of all nodes, feasible or not, in the same way.
//
// Thread safety: the scheduling thread.
class KeptScores : public KeptAnswers {
 public:
  // As KeptVerdicts.
  KeptScores(const ScoreStep& step, size_t& kept_bytes) : KeptAnswers(kept_bytes), step_(step) {}

  // As KeptVerdicts::Refresh; `feasible` is what PreScore gets. `feasible_changed`: it may
  // differ from the last time though the cluster does not.
  bool Refresh(const DecisionInput& input, const NodeSet& feasible, bool feasible_changed,
               TouchedRows& touched);

  const ScoreStep& step() const { return step_; }
  // PreScore said Skip: the scores below mean nothing.
  bool skipped() const { return skipped_; }
  // Whether the answers may depend on which nodes are feasible. They do not while PreScore says
  // Skip and the plugin itself says how long: nothing is left that could depend on them.
  bool reads_feasible() const {
    return step_.scope.all_usage && !(valid_ && skipped_ && step_.updatable != nullptr);
  }
  // Set: the scores by group, and there are none by row.
  const std::optional<ScoreGroups>& groups() const { return groups_; }
  // By row; of rows in nodes().
  std::span<const int64_t> raw() const { return raw_; }
  const CycleState& state() const { return state_; }

 private:
  void CountBytes();
  bool Continue(const DecisionInput& input, const Stale& stale, const NodeSet& feasible,
                TouchedRows& touched);
  bool StartOver(const DecisionInput& input, const NodeSet& feasible, TouchedRows& touched);
  bool AskPreScore(const DecisionInput& input, const NodeSet& feasible);
  // Sets the scores of the room's rows.
  bool Ask(const DecisionInput& input);

  const ScoreStep& step_;
  bool skipped_ = false;
  CycleState state_;
  std::optional<ScoreGroups> groups_;
  std::vector<int64_t> raw_;
};

}  // namespace berth::engine
