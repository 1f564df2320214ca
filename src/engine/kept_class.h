// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "berth/random.h"
#include "src/engine/counted_bytes.h"
#include "src/engine/decision.h"
#include "src/engine/kept_answers.h"
#include "src/engine/kept_nominations.h"
#include "src/engine/sample_blocks.h"
#include "src/engine/score_board.h"
#include "src/engine/touched_rows.h"

namespace berth::engine {

// All that is known about the nodes for one class of pods: the answers of every plugin of the
// profile, and the board that they add up to. A decision brings them up to date, which costs what
// has changed since the class was last decided, and reads the best row off the board.
//
// Answers of plugins that read nothing beyond the node are shared with other classes.
//
// Thread safety: the scheduling thread.
class KeptClass {
 public:
  using SharedVerdicts = std::shared_ptr<KeptVerdicts>;
  using SharedScores = std::shared_ptr<KeptScores>;

  // The answers of the filters and scores of the profile's `plan`, in its order, but for those that
  // are asked about each pod; how long the parts of its pods are. `plan`, and `kept_bytes`, to
  // which it adds what it takes besides the answers, must outlive it.
  KeptClass(const EvaluationPlan& plan, std::vector<SharedVerdicts> verdicts,
            std::vector<SharedScores> scores, size_t pod_bytes, size_t& kept_bytes);

  enum class Outcome {
    kDecided,
    kByItself,  // the pod must be evaluated by itself, be it only to tell why no node takes it
    kNotKept,   // something cannot be kept; the class must be dropped
  };
  // Decides as Engine::Schedule would; draws from `random` only when it has decided.
  Outcome Decide(const DecisionInput& input, Random& random, Decision& decision);

 private:
  Outcome DecideAmongNodes(const DecisionInput& input, Random& random, Decision& decision);
  void CountBytes();
  void NoteChanges(Changes& changes);
  bool RefreshVerdicts(const DecisionInput& input);
  bool AskOwnFilters(const DecisionInput& input);
  bool AskNominations(const DecisionInput& input);
  bool AskOwnPreFilters(const DecisionInput& input);
  void ApplyVerdicts(size_t first, size_t end, NodeSet& nodes) const;
  bool SkipsOwnScores(const DecisionInput& input) const;
  bool RefreshScores(const DecisionInput& input);
  void FindPassed(const cache::Cache& cache);
  void SortScores();
  void ResetBoard(size_t rows);
  bool UpdateBoard(const DecisionInput& input);
  bool PutOnBoard(NodeRow row);
  bool UpdateWeighted(const DecisionInput& input);
  bool Normalise(const DecisionInput& input, size_t normalised);
  // Whether some score depends on which nodes are feasible, so that a sample must be cut before it
  // is asked.
  bool ScoresReadFeasible() const;
  // False: something cannot be kept.
  void Choose(Random& random, Decision& decision);
  bool ChooseFromSample(const DecisionInput& input, Random& random, Decision& decision);
  bool ChooseByEach(const DecisionInput& input, const SampleBlocks::Range& range, Random& random,
                    Decision& decision);

  const EvaluationPlan& plan_;
  std::vector<SharedVerdicts> verdicts_;
  std::vector<SharedScores> scores_;
  // Of scores_ those that PreScore did not skip: those that do not normalise, and those that do, as
  // the board numbers them.
  std::vector<size_t> plain_;
  std::vector<size_t> normalised_;
  std::vector<uint8_t> grouped_;  // by place in normalised_
  uint64_t generation_ = 0;
  // Rows to be looked at again: whether they pass, all they score, and what one plugin gives them,
  // by place in scores_ (empty where that is part of touched_scores_).
  TouchedRows touched_;
  TouchedRows touched_scores_;
  std::vector<TouchedRows> touched_by_plugin_;
  NodeSet passed_;  // what the kept verdicts leave
  // Of these, what was no node for the last pod: by its own filters, its placement, pods that are
  // nominated there, and its sample, unless that was found on the board.
  NodeSet rejected_;
  bool any_rejected_ = false;
  bool rejected_changed_ = false;  // and scores have not been asked since
  NodeSet feasible_;               // both together, now; the board learns of it row by row
  ScoreBoard board_;
  bool on_board_ = false;       // the board has all that pass, and the sample is found on it
  SampleBlocks sample_blocks_;  // empty until then
  KeptNominations nominations_;

  // A filter that is asked about each pod, and how many of verdicts_ come before it.
  struct OwnFilter {
    const FilterStep* step = nullptr;
    size_t verdicts_before = 0;
  };

  // Room for one decision.
  std::vector<OwnFilter> own_filters_;  // that PreFilter did not skip
  NodeSet left_;
  size_t looked_at_ = 0;  // nodes
  std::vector<int64_t> raw_;
  std::vector<int64_t> live_raw_;
  std::vector<ScoreValues::Id> live_ids_;
  std::vector<NodeRow> no_rows_;
  std::vector<int64_t> totals_;

  const size_t pod_bytes_;
  CountedBytes bytes_;
};

}  // namespace berth::engine
