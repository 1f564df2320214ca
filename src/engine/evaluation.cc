// SPDX-License-Identifier: Apache-2.0
#include "src/engine/evaluation.h"

#include <algorithm>
#include <utility>

#include "src/cache/node_order.h"
#include "src/engine/sample.h"
#include "src/framework/timing.h"

namespace berth::engine {
size_t NumNodesToFind(const framework::Profile& profile, const extender::Extenders* extenders,
                      size_t nodes, int32_t percentage) {
  const bool any_will_do =
      profile.plugins().score.empty() &&
      (extenders == nullptr || (!extenders->HasFilter() && !extenders->HasPrioritizer()));
  return any_will_do ? 1 : NumFeasibleNodesToFind(nodes, percentage);
}

Evaluation::Evaluation(const framework::Profile& profile, framework::Cycle& cycle,
                       const PodInfo& pod, const ClusterState& cluster, EvaluationResult& result)
    : profile_(profile),
      cycle_(cycle),
      pod_(pod),
      cluster_(cluster),
      asks_extenders_(cluster.extenders != nullptr && cluster.extenders->Involved(*pod.pod)),
      result_(result) {
  result_.diagnosis.Reset(cluster.snapshot.num_rows());
  result_.diagnosis.num_all_nodes = cluster.num_nodes();
  result_.rows.clear();
  result_.order.clear();
}

Evaluation::Outcome Evaluation::Search(int32_t percentage, size_t& next_start_node_index) {
  if (const Outcome outcome = PreFilter(); outcome != Outcome::kFeasible) return outcome;
  if (NamesFew(percentage)) return FilterFew(percentage, next_start_node_index);
  SetCandidates();
  if (AskNominatedNode(result_.diagnosis)) {
    result_.candidates = result_.feasible;
    return ListFeasible();
  }
  if (FilterCandidates()) {
    CutToSample(percentage, next_start_node_index);
  } else if (!FilterInTurn(percentage, next_start_node_index)) {
    return Outcome::kError;
  }
  if (!AskExtenders(result_.feasible, result_.diagnosis)) return Outcome::kError;
  return ListFeasible();
}

std::optional<Evaluation::Outcome> Evaluation::SearchKnown(int32_t percentage,
                                                           size_t& next_start_node_index,
                                                           KeptRejections& known, bool& ended) {
  ended = false;
  if (const Outcome outcome = PreFilter(); outcome != Outcome::kFeasible) return outcome;
  // Where PreFilter leaves nodes out, it has something to say of them.
  if (named_ || cluster_.placement != nullptr) return std::nullopt;
  SetCandidates();
  if (AskNominatedNode(result_.diagnosis)) {
    result_.candidates = result_.feasible;
    return ListFeasible();
  }
  framework::PointTimer timer(profile_, cycle_.observer, framework::ExtensionPoint::kFilter);
  const KeptRejections::Outcome outcome = known.Refresh(cycle_, pod_, cluster_);
  ended = outcome == KeptRejections::Outcome::kEnded;
  if (outcome != KeptRejections::Outcome::kAllReject) return std::nullopt;
  timer.Finish(Code::kSuccess);
  from_known_ = true;
  // A search of a part of the nodes finds none until it has looked at all of them.
  if (Samples(percentage) || asks_extenders_) {
    next_start_node_index %= result_.diagnosis.num_all_nodes;
  }
  return Outcome::kUnfit;
}

Evaluation::Outcome Evaluation::FilterAllNodes() {
  if (const Outcome outcome = PreFilter(); outcome != Outcome::kFeasible) return outcome;
  SetCandidates();
  if (!FilterCandidates()) return Outcome::kError;
  if (asks_extenders_) Order(0);
  if (!AskExtenders(result_.feasible, result_.diagnosis)) return Outcome::kError;
  return ListFeasible();
}

Evaluation::Outcome Evaluation::FilterOneByOne() {
  const size_t rows = cluster_.snapshot.num_rows();
  pass_.reset();
  scratch_.Assign(rows, false);
  result_.candidates.ForEach([&](NodeRow row) {
    NodeSet only(rows);
    only.Set(row);
    NodeSet left = only;
    FilterPass pass(profile_, cycle_, pod_, cluster_);
    Status status = pass.Run(left);
    if (status.ok() && !left.Empty()) scratch_.Set(row);
    if (status.ok() && left.Empty()) status = pass.Explain(only, result_.diagnosis);
    if (!status.ok()) result_.diagnosis.statuses.Set(row, status, "");
  });
  result_.feasible = scratch_;
  return ListFeasible();
}

Evaluation::Outcome Evaluation::PreFilter() {
  if (result_.diagnosis.num_all_nodes == 0) return Outcome::kNoNodes;
  const Status status =
      PreFilterNodes(profile_, cycle_, pod_, cluster_.snapshot, result_.diagnosis, named_);
  if (status.ok()) return Outcome::kFeasible;
  return status.rejected() ? Outcome::kUnfit : Fail(status);
}

void Evaluation::SetCandidates() {
  NodeSet& candidates = result_.candidates;
  if (named_) {
    candidates.Assign(cluster_.snapshot.num_rows(), false);
    for (const NodeRow row : *named_) candidates.Set(row);
    SetNarrowedReason(cycle_.state, result_.diagnosis);
  } else {
    candidates = cluster_.snapshot.nodes();
  }
  if (cluster_.placement != nullptr) candidates &= *cluster_.placement;
}

// As each pod of a DaemonSet names its node. A search that ends before it has looked at all of them
// is none of these.
bool Evaluation::NamesFew(int32_t percentage) const {
  if (!named_ || named_->size() > framework::kFewNodes || cluster_.placement != nullptr ||
      asks_extenders_ || !pod_.pod->status.nominated_node_name.empty()) {
    return false;
  }
  if (Samples(percentage) &&
      NumNodesToFind(profile_, cluster_.extenders, named_->size(), percentage) < named_->size()) {
    return false;
  }
  return cluster_.nominated.empty() || std::ranges::none_of(*named_, [this](NodeRow row) {
           return !NominatedPodsOn(row, pod_, cluster_).empty();
         });
}

Evaluation::Outcome Evaluation::FilterFew(int32_t percentage, size_t& next_start_node_index) {
  few_ = true;
  framework::PointTimer timer(profile_, cycle_.observer, framework::ExtensionPoint::kFilter);
  pass_.emplace(profile_, cycle_, pod_, cluster_);
  result_.rows = *named_;
  const Status status = pass_->RunFew(result_.rows);
  timer.Finish(status.code());
  if (!status.ok()) return Fail(status);
  if (Samples(percentage)) {
    next_start_node_index =
        (next_start_node_index + named_->size()) % result_.diagnosis.num_all_nodes;
  }
  return result_.rows.empty() ? Outcome::kUnfit : Outcome::kFeasible;
}

bool Evaluation::AskNominatedNode(Diagnosis& diagnosis) {
  const std::string& nominated_node = pod_.pod->status.nominated_node_name;
  if (nominated_node.empty()) return false;
  const NodeRow row = cluster_.snapshot.FindNode(nominated_node);
  if (row == kNoRow) return false;
  if (cluster_.placement != nullptr && !cluster_.placement->Test(row)) return false;
  NodeSet only(cluster_.snapshot.num_rows());
  only.Set(row);
  NodeSet& left = result_.feasible;
  left = only;
  framework::PointTimer timer(profile_, cycle_.observer, framework::ExtensionPoint::kFilter);
  FilterPass pass(profile_, cycle_, pod_, cluster_);
  result_.order.assign(1, row);
  const Status status = pass.Run(left);
  timer.Finish(status.code());
  if (status.ok() && AskExtenders(left, diagnosis) && !left.Empty()) return true;
  // What is said of it counts, even where PreFilter leaves it out.
  const bool narrowed = !diagnosis.statuses.absent().reasons().empty();
  if (pass.Explain(only, diagnosis).ok() && narrowed) SetNarrowedReason(cycle_.state, diagnosis);
  return false;
}

bool Evaluation::FilterCandidates() {
  framework::PointTimer timer(profile_, cycle_.observer, framework::ExtensionPoint::kFilter);
  pass_.emplace(profile_, cycle_, pod_, cluster_);
  result_.feasible = result_.candidates;
  const Status status = pass_->Run(result_.feasible);
  timer.Finish(status.code());
  if (!status.ok()) Fail(status);
  return status.ok();
}

void Evaluation::Order(size_t start) {
  std::vector<NodeRow>& order = result_.order;
  order.clear();
  const NodeSet& candidates = result_.candidates;
  if (cluster_.node_order != nullptr) {
    for (const NodeRow row : cluster_.node_order->rows()) {
      if (candidates.Test(row)) order.push_back(row);
    }
  } else {
    candidates.ForEach([&order](NodeRow row) { order.push_back(row); });
  }
  if (order.empty()) return;
  std::rotate(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(start % order.size()),
              order.end());
}

void Evaluation::CutToSample(int32_t percentage, size_t& next_start_node_index) {
  NodeSet& candidates = result_.candidates;
  NodeSet& feasible = result_.feasible;
  const size_t count = candidates.Count();
  if (percentage == 0 && asks_extenders_) percentage = AdaptivePercentageOfNodesToScore(count);
  if (!Samples(percentage) && !asks_extenders_) return;
  Order(next_start_node_index);
  if (Samples(percentage)) {
    const size_t wanted = NumNodesToFind(profile_, cluster_.extenders, count, percentage);
    const size_t looked_at = TakeSample({result_.order, 0, wanted}, feasible, scratch_);
    for (size_t i = looked_at; i < result_.order.size(); ++i) candidates.Clear(result_.order[i]);
  }
  next_start_node_index =
      (next_start_node_index + candidates.Count()) % result_.diagnosis.num_all_nodes;
}

// Where the error comes first, the next search begins behind that node.
bool Evaluation::FilterInTurn(int32_t percentage, size_t& next_start_node_index) {
  NodeSet& candidates = result_.candidates;
  const size_t count = candidates.Count();
  if (percentage == 0) percentage = AdaptivePercentageOfNodesToScore(count);
  const size_t wanted = NumNodesToFind(profile_, cluster_.extenders, count, percentage);
  if (wanted >= count || cycle_.state.budget().spent()) return false;
  framework::PointTimer timer(profile_, cycle_.observer, framework::ExtensionPoint::kFilter);
  in_turn_ = true;
  Order(next_start_node_index);
  std::vector<NodeRow>& order = result_.order;
  result_.feasible.Assign(candidates.size(), false);
  framework::PluginStatus verdict;
  size_t looked_at = 0;
  for (size_t found = 0; looked_at < order.size(); ++looked_at) {
    const NodeRow row = order[looked_at];
    verdict = JudgeNode(profile_, cycle_, pod_, cluster_, row);
    if (verdict.status.code() == Code::kError) break;
    if (verdict.status.rejected()) {
      result_.diagnosis.statuses.Set(row, verdict.status, verdict.plugin);
      result_.diagnosis.AddPlugin(verdict.plugin, verdict.status);
    } else if (found++ == wanted) {
      break;
    } else {
      result_.feasible.Set(row);
    }
  }
  const bool failed = verdict.status.code() == Code::kError;
  timer.Finish(failed ? Code::kError : Code::kSuccess);
  next_start_node_index =
      (next_start_node_index + looked_at + (failed ? 1 : 0)) % result_.diagnosis.num_all_nodes;
  if (failed) {
    Fail(verdict.status);
    return false;
  }
  order.resize(looked_at);
  candidates.Assign(candidates.size(), false);
  for (const NodeRow row : order) candidates.Set(row);
  return true;
}

bool Evaluation::AskExtenders(NodeSet& feasible, Diagnosis& diagnosis) {
  if (!asks_extenders_) return true;
  std::vector<NodeRow>& order = result_.order;
  std::erase_if(order, [&feasible](NodeRow row) { return !feasible.Test(row); });
  const size_t asked = order.size();
  auto left = cluster_.extenders->Filter(*pod_.pod, cluster_.snapshot, std::move(order));
  if (!left) {
    Fail(cycle_.state.reasons().Error(left.error().message));
    return false;
  }
  rejected_by_extenders_.clear();
  for (const auto& [row, code, reason] : left->rejected) {
    rejected_by_extenders_.emplace_back(row, cycle_.state.reasons().Make(code, reason));
  }
  SetExtendersStatuses(diagnosis);
  order = std::move(left->nodes);
  feasible.Assign(feasible.size(), false);
  for (const NodeRow row : order) feasible.Set(row);
  // No event tells what would change an extender's mind, so any may.
  if (order.size() != asked) diagnosis.AddPlugin(extender::kExtenderName);
  return true;
}

void Evaluation::SetExtendersStatuses(Diagnosis& diagnosis) const {
  for (const auto& [row, status] : rejected_by_extenders_) {
    diagnosis.statuses.Set(row, status, extender::kExtenderName);
  }
}

Evaluation::Outcome Evaluation::ListFeasible() {
  result_.feasible.ForEach([this](NodeRow row) { result_.rows.push_back(row); });
  return result_.rows.empty() ? Outcome::kUnfit : Outcome::kFeasible;
}

Evaluation::Outcome Evaluation::Score(std::vector<framework::PluginScores>* details) {
  // Without scores PreScore is not asked, as in kube-scheduler: it may fail.
  if (profile_.plugins().score.empty() && cluster_.extenders == nullptr) {
    result_.totals.assign(result_.rows.size(), 0);
    return Outcome::kFeasible;
  }
  const Snapshot& snapshot = cluster_.snapshot;
  if (few_) {
    result_.feasible.Assign(snapshot.num_rows(), false);
    for (const NodeRow row : result_.rows) result_.feasible.Set(row);
  }
  if (const Status status =
          framework::RunPreScore(profile_, cycle_, pod_, snapshot, result_.feasible);
      !status.ok()) {
    return Fail(status);
  }
  if (const Status status = framework::RunScore(profile_, cycle_, pod_, snapshot, result_.rows,
                                                result_.totals, details);
      !status.ok()) {
    return Fail(status);
  }
  if (asks_extenders_) {
    cluster_.extenders->Prioritize(*pod_.pod, snapshot, result_.order, result_.rows,
                                   result_.totals);
  }
  return Outcome::kFeasible;
}

Evaluation::Outcome Evaluation::Explain() {
  if (!pass_ || in_turn_) return Outcome::kUnfit;
  if (few_) SetCandidates();
  const Status status = pass_->Explain(result_.candidates, result_.diagnosis);
  if (!status.ok()) return Fail(status);
  // They may speak of nodes that a plugin has rejected before.
  SetExtendersStatuses(result_.diagnosis);
  return Outcome::kUnfit;
}

Evaluation::Outcome Evaluation::Fail(const Status& status) {
  error_ = status.message();
  return Outcome::kError;
}

}  // namespace berth::engine
