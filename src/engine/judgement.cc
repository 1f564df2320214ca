// SPDX-License-Identifier: Apache-2.0
#include "src/engine/judgement.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "src/engine/engine.h"

namespace berth::engine {

Judgement::Judgement(const framework::Profile* profile, PodInfoPtr pod, const ClusterState& cluster,
                     std::vector<std::string> extenders_not_asked)
    : profile_(profile),
      pod_(std::move(pod)),
      extenders_not_asked_(std::move(extenders_not_asked)),
      cluster_(cluster) {
  if (profile_ == nullptr || pod_->pod->metadata.deletion_timestamp) {
    kind_ = Kind::kIgnored;
    return;
  }
  const framework::PluginStatus gate = framework::RunPreEnqueue(*profile_, *pod_, "", nullptr);
  if (!gate.status.ok()) {
    kind_ = Kind::kGated;
    message_ = gate.status.message();
    return;
  }
  evaluation_.emplace(*profile_, cycle_, *pod_, cluster_, result_);
  switch (Evaluate()) {
    case Evaluation::Outcome::kFeasible:
      kind_ = Kind::kScheduled;
      break;
    case Evaluation::Outcome::kUnfit:
      kind_ = Kind::kUnschedulable;
      break;
    case Evaluation::Outcome::kNoNodes:
      Fail(std::string(kNoNodesMessage));
      break;
    case Evaluation::Outcome::kError:
      Fail(evaluation_->error());
      break;
  }
}

Evaluation::Outcome Judgement::Evaluate() {
  const NodeRow nominated = cluster_.snapshot.FindNode(pod_->pod->status.nominated_node_name);
  Evaluation::Outcome outcome = evaluation_->FilterAllNodes();
  if (outcome == Evaluation::Outcome::kError && evaluation_->has_filtered() &&
      nominated != kNoRow) {
    const std::string error = evaluation_->error();
    Diagnosis unused = result_.diagnosis;
    if (!evaluation_->AskNominatedNode(unused)) return outcome;
    remark_ = error;
    outcome = evaluation_->FilterOneByOne();
    // PreFilter may have left it out.
    if (std::ranges::find(result_.rows, nominated) == result_.rows.end()) {
      result_.feasible.Set(nominated);
      result_.rows.insert(std::ranges::lower_bound(result_.rows, nominated), nominated);
      outcome = Evaluation::Outcome::kFeasible;
    }
  }
  if (outcome != Evaluation::Outcome::kFeasible) return outcome;
  // A pod that runs chooses no node.
  if (pod_->resize_deferred) {
    result_.totals.assign(result_.rows.size(), 0);
    return outcome;
  }
  outcome = evaluation_->Score(&scores_);
  if (outcome != Evaluation::Outcome::kError) return outcome;
  const std::vector<NodeRow>& rows = result_.rows;
  if (rows.size() == 1) {
    unscored_ = rows.front();
  } else if (nominated != kNoRow && std::ranges::binary_search(rows, nominated)) {
    unscored_ = nominated;
  } else {
    return outcome;
  }
  remark_ = evaluation_->error();
  scores_.clear();
  result_.totals.assign(rows.size(), 0);
  return Evaluation::Outcome::kFeasible;
}

void Judgement::Explain() {
  if (std::exchange(explained_, true)) return;
  if (kind_ != Kind::kScheduled && kind_ != Kind::kUnschedulable) return;
  if (evaluation_->Explain() == Evaluation::Outcome::kError) {
    Fail(evaluation_->error());
    return;
  }
  if (kind_ == Kind::kUnschedulable) message_ = FitErrorMessage(result_.diagnosis);
}

bool Judgement::LeavesNodesOut() const {
  if (kind_ != Kind::kScheduled && kind_ != Kind::kUnschedulable) return false;
  NodeSet left_out = snapshot().nodes();
  left_out -= statuses().explicit_nodes();
  for (const NodeRow row : result_.rows) left_out.Clear(row);
  return !left_out.Empty();
}

void Judgement::PreviewPreemption() {
  if (kind_ != Kind::kUnschedulable) return;
  // A scheduling cycle asks the nominated node first, even where PreFilter leaves it out.
  Diagnosis diagnosis = result_.diagnosis;
  if (evaluation_->has_filtered()) evaluation_->AskNominatedNode(diagnosis);
  preemption_ = framework::RunPreemptionPreview(*profile_, cycle_, *pod_, cluster_.snapshot,
                                                diagnosis.statuses);
}

void Judgement::PreviewClaims() {
  if (kind_ == Kind::kGated || kind_ == Kind::kIgnored) return;
  if (pod_->resize_deferred) return;  // it has them
  for (const auto& entry : profile_->plugins().filter) {
    if (const auto* plugin = dynamic_cast<const InTheWayPlugin*>(entry.plugin)) {
      in_the_way_.push_back(plugin);
    }
    if (entry.instance->claim_preview == nullptr) continue;
    auto of_plugin = entry.instance->claim_preview->PreviewClaims(*pod_);
    if (of_plugin != nullptr) claims_.push_back(std::move(of_plugin));
  }
}

std::vector<ClaimPreview> Judgement::ClaimsOn(NodeRow row) const {
  const NodeView node(cluster_.snapshot, row);
  std::vector<ClaimPreview> claims;
  for (const ClaimPreviewPlugin::ByNode& of_plugin : claims_) {
    std::ranges::move(of_plugin(node), std::back_inserter(claims));
  }
  for (ClaimPreview& claim : claims) {
    if (claim.has_devices || !claim.problem.empty()) continue;
    AddProblemOfOthers(node, claim);
  }
  return claims;
}

void Judgement::AddProblemOfOthers(const NodeView& node, ClaimPreview& claim) const {
  const api::Pod& pod = *pod_->pod;
  std::string_view name = claim.claim;
  name.remove_prefix(pod.metadata.namespace_.size() + 1);
  for (const InTheWayPlugin* plugin : in_the_way_) {
    claim.problem = plugin->ProblemOfClaim(pod, name, node);
    if (claim.problem.empty()) continue;
    claim.volume.clear();
    return;
  }
}

std::vector<NodeRow> Judgement::Best() const {
  std::vector<NodeRow> best;
  if (kind_ != Kind::kScheduled) return best;
  if (unscored_ != kNoRow) return {unscored_};
  const std::vector<int64_t>& totals = result_.totals;
  const int64_t highest = *std::max_element(totals.begin(), totals.end());
  for (size_t i = 0; i < totals.size(); ++i) {
    if (totals[i] == highest) best.push_back(result_.rows[i]);
  }
  return best;
}

void Judgement::Fail(std::string message) {
  kind_ = Kind::kError;
  message_ = std::move(message);
}

}  // namespace berth::engine
