// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "berth/node_set.h"
#include "berth/pod_info.h"
#include "berth/random.h"
#include "src/engine/counted_bytes.h"
#include "src/engine/decision.h"
#include "src/engine/kept_answers.h"
#include "src/engine/sample.h"
#include "src/engine/score_board.h"
#include "src/engine/stale.h"

namespace berth::engine {

// The feasible rows of a board as a search that ends early goes through them: where it ends, and
// the best of the rows that it finds, without a look at each. Places of the order stand in blocks
// of 64; a block knows its feasible places, the highest of what they have of their own on the board
// (`base`), and how many have it.
//
// Thread safety: one owner.
class SampleBlocks {
 public:
  // So many places from the first one, round and round.
  struct Range {
    size_t first = 0;
    size_t count = 0;
  };

  // The board changes without a call of Touch(): the next Refresh() looks at all of it.
  void Forget() { serial_ = 0; }
  // These rows of the board may have changed.
  void Touch(const SearchOrder& order, const TouchedRows& rows);
  // Makes all that follows true of the board and the order as they are.
  void Refresh(const SearchOrder& order, const ScoreBoard& board);

  // The places that the search looks at from `first` on: those before the feasible one that is one
  // more than `wanted`, or all.
  Range Find(size_t first, size_t wanted) const;
  // The best by what they have of their own. Some row of the range must be feasible.
  ScoreBoard::Best FindBest(const Range& range) const;
  // The row, in row order, that has `best.total` of its own after `skip` others; `skip` <
  // best.ties. `scratch` is for its capacity.
  NodeRow Nth(const Range& range, const ScoreBoard::Best& best, uint64_t skip,
              NodeSet& scratch) const;
  // Makes `rows` the feasible rows of the range.
  void Collect(const Range& range, NodeSet& rows) const;

  size_t bytes() const { return blocks_.size() * (sizeof(Block) + 5); }

 private:
  struct Block {
    uint64_t feasible = 0;  // by place
    int64_t best = 0;
    uint32_t ties = 0;
  };

  void RefreshBlock(size_t block);
  // Calls visit(block, feasible places of it within the range, whether it has no others), places
  // ascending.
  template <typename Visit>
  void ForEachBlock(const Range& range, Visit visit) const;

  const SearchOrder* order_ = nullptr;  // since Refresh(), as is the board
  const ScoreBoard* board_ = nullptr;
  uint64_t serial_ = 0;  // of the order; 0: nothing is known
  std::vector<Block> blocks_;
  StaleParts stale_;
};

// Which nodes do not take the pods of a class together with the pods that are nominated for them.
//
// A row's answer holds until one of these changes; Refresh() has the rule:
//   - which pods are nominated there and count for the pod, or what node it is;
//   - the row itself, or its pods;
//   - anything at all, where a filter that reads more than the row is not skipped, or was not.
//
// Thread safety: the scheduling thread.
class KeptNominations {
 public:
  // Adds what it takes to `kept_bytes`, which must outlive it.
  explicit KeptNominations(size_t& kept_bytes) : bytes_(kept_bytes) {}

  // Makes the answers those of now. `verdicts`: those of all filters, brought up to date; the pod
  // must not be nominated itself. False: a plugin failed, and only an evaluation can tell how.
  bool Refresh(const DecisionInput& input,
               const std::vector<std::shared_ptr<KeptVerdicts>>& verdicts);
  // No nomination counts for the pod.
  void Clear();

  // Rows that are nodes for the pod no more; they may repeat others' rejections.
  const std::vector<NodeRow>& rejected() const { return rejected_; }

 private:
  struct Answer {
    std::vector<PodInfoPtr> pods;  // in the order of nomination
    bool known = false;
    bool passes = false;
  };

  // A filter that was not skipped. One with AddPod may keep the pod itself
  // in its state, so it gets a state of the pod's own.
  struct Asked {
    const KeptVerdicts* verdicts = nullptr;
    CycleState own;
    bool has_own = false;
  };

  void FindRows(const DecisionInput& input);
  bool AskPreFilters(const DecisionInput& input);
  bool Ask(const DecisionInput& input, NodeRow row, Answer& answer) const;
  bool AskAll(const DecisionInput& input);
  void CountBytes();

  bool valid_ = false;
  bool local_ = false;  // whether all filters that were asked last read no more than the row
  int32_t priority_ = 0;
  uint64_t nominations_generation_ = 0;
  uint64_t generation_ = 0;
  uint64_t objects_generation_ = 0;
  absl::flat_hash_map<NodeRow, Answer> answers_;
  std::vector<Asked> asked_;  // in the running refresh
  std::vector<NodeRow> rejected_;
  CountedBytes bytes_;
};

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
