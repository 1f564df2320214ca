// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "berth/node_set.h"
#include "berth/pod_info.h"
#include "src/engine/decision.h"
#include "src/engine/diagnosis.h"
#include "src/engine/filter.h"
#include "src/engine/kept_rejections.h"
#include "src/framework/runtime.h"

namespace berth::engine {

// What an evaluation found; made once and used again for its capacity.
struct EvaluationResult {
  Diagnosis diagnosis;          // why the other nodes were rejected
  NodeSet candidates;           // the nodes that were looked at
  NodeSet feasible;             // unset where only few nodes were looked at
  std::vector<NodeRow> rows;    // the feasible ones, ascending
  std::vector<NodeRow> order;   // the same in the order in which extenders are asked about them
  std::vector<int64_t> totals;  // what each of `rows` scored
};

// One pod evaluated by itself against the nodes: PreFilter, the nominated node, Filter, extenders,
// PreScore, Score, and the reasons. The engine chooses from what it finds, a judgement shows it,
// and PostFilter goes on from it. Changes nothing but the cycle, the result and a rotating start.
//
// Thread safety: the scheduling thread.
class Evaluation {
 public:
  enum class Outcome {
    kFeasible,  // some node is: rows are set
    kUnfit,     // none is
    kNoNodes,   // there are no nodes at all
    kError,     // error() tells which plugin or extender failed
  };

  // All of it must outlive the evaluation.
  Evaluation(const framework::Profile& profile, framework::Cycle& cycle, const PodInfo& pod,
             const ClusterState& cluster, EvaluationResult& result);

  // Looks at the nominated node first and, where that is feasible, at no other; then for as many
  // feasible nodes as kube-scheduler would with this percentageOfNodesToScore (0: all, or its
  // default where an extender takes part, or a filter fails over some node), zone by zone in turn
  // from `next_start_node_index`, which it moves.
  Outcome Search(int32_t percentage, size_t& next_start_node_index);
  // The same by what is known of why nodes reject the pod's class. nullopt, with `ended` set where
  // that is of no use any more: some node may take the pod, or is left out by PreFilter. Then
  // nothing but the cycle and the result has changed.
  std::optional<Outcome> SearchKnown(int32_t percentage, size_t& next_start_node_index,
                                     KeptRejections& known, bool& ended);
  // Looks at all nodes.
  Outcome FilterAllNodes();
  // After FilterAllNodes() failed over a node, whereby it has_filtered(): the same with each node
  // by itself, so that a failure is the verdict of its node alone.
  Outcome FilterOneByOne();
  // After kFeasible: sets the totals and, unless it is nullptr, what each plugin gave.
  Outcome Score(std::vector<framework::PluginScores>* details);
  // Whether PreFilter has left some nodes, which the filters were asked about; how many.
  bool has_filtered() const { return pass_.has_value() || from_known_; }
  size_t num_candidates() const { return few_ ? named_->size() : result_.candidates.Count(); }
  // Whether why nodes reject the pod was known; then KeptRejections fills the diagnosis.
  bool from_known() const { return from_known_; }
  // Writes why the nodes that were looked at were rejected to the diagnosis. kError, else kUnfit.
  Outcome Explain();
  // Once PreFilter has left some nodes: whether the node that the pod is nominated for, which
  // PreFilter may have left out, is feasible. If not, `diagnosis` gets the reason.
  bool AskNominatedNode(Diagnosis& diagnosis);

  const std::string& error() const { return error_; }

 private:
  Outcome PreFilter();
  // Whether the nodes that PreFilter named may be looked at one by one, without a set of all nodes;
  // and doing so.
  bool NamesFew(int32_t percentage) const;
  Outcome FilterFew(int32_t percentage, size_t& next_start_node_index);
  void SetCandidates();
  bool FilterCandidates();
  void CutToSample(int32_t percentage, size_t& next_start_node_index);
  // After FilterCandidates() failed: asks about one node after the other, as a search that ends
  // early, which may not get as far as the node that a filter fails over. False: it does.
  bool FilterInTurn(int32_t percentage, size_t& next_start_node_index);
  // Of `feasible`, which result_.order lists, leaves those that no extender drops.
  bool AskExtenders(NodeSet& feasible, Diagnosis& diagnosis);
  void SetExtendersStatuses(Diagnosis& diagnosis) const;
  Outcome ListFeasible();
  // The candidates, node `start` of them first.
  void Order(size_t start);
  Outcome Fail(const Status& status);

  const framework::Profile& profile_;
  framework::Cycle& cycle_;
  const PodInfo& pod_;
  const ClusterState& cluster_;
  const bool asks_extenders_;
  EvaluationResult& result_;
  std::optional<std::vector<NodeRow>> named_;  // by PreFilter
  bool few_ = false;                           // these alone were looked at, one by one
  std::optional<FilterPass> pass_;             // over the candidates
  bool in_turn_ = false;  // after it failed; what nodes were rejected for is in the diagnosis
  bool from_known_ = false;
  std::vector<std::pair<NodeRow, Status>> rejected_by_extenders_;  // when they were asked last
  NodeSet scratch_;
  std::string error_;
};

// How many feasible nodes a search ends with that may look at `nodes` and is to score so many
// percent (1..99) of them: one, where nothing tells nodes apart.
size_t NumNodesToFind(const framework::Profile& profile, const extender::Extenders* extenders,
                      size_t nodes, int32_t percentage);

}  // namespace berth::engine
