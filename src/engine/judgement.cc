// SPDX-License-Identifier: Apache-2.0
#include "src/engine/judgement.h"

#include <algorithm>
#include <utility>

namespace berth::engine {

Judgement::Judgement(const framework::Profile* profile, PodInfoPtr pod, const World& world)
    : profile_(profile), pod_(std::move(pod)), world_(world) {
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
  Decide();
}

void Judgement::Decide() {
  const Snapshot& snapshot = world_.snapshot;
  diagnosis_.Reset(snapshot.num_rows());
  diagnosis_.num_all_nodes = snapshot.num_nodes();
  if (snapshot.num_nodes() == 0) {
    Fail(std::string(kNoNodesMessage));
    return;
  }
  const Status pre_filter =
      PreFilterNodes(*profile_, cycle_, *pod_, snapshot, diagnosis_, candidates_);
  if (!pre_filter.ok() && !pre_filter.rejected()) {
    Fail(pre_filter.message());
    return;
  }
  kind_ = Kind::kUnschedulable;
  if (!pre_filter.ok()) return;

  NodeSet feasible = candidates_;
  pass_.emplace(*profile_, cycle_, *pod_, world_);
  if (const Status status = pass_->Run(feasible); !status.ok()) {
    Fail(status.message());
    return;
  }
  feasible.ForEach([this](NodeRow row) { feasible_.push_back(row); });
  if (feasible_.empty()) return;
  kind_ = Kind::kScheduled;
  Status status = framework::RunPreScore(*profile_, cycle_, *pod_, snapshot, feasible);
  if (status.ok()) {
    status = framework::RunScore(*profile_, cycle_, *pod_, snapshot, feasible_, totals_, &scores_);
  }
  if (!status.ok()) Fail(status.message());
}

void Judgement::Explain() {
  if (std::exchange(explained_, true)) return;
  if (kind_ != Kind::kScheduled && kind_ != Kind::kUnschedulable) return;
  if (pass_) {
    const Status status = pass_->Explain(candidates_, diagnosis_);
    if (!status.ok()) {
      Fail(status.message());
      return;
    }
  }
  if (kind_ == Kind::kUnschedulable) message_ = FitErrorMessage(diagnosis_);
}

void Judgement::PreviewPreemption() {
  if (kind_ != Kind::kUnschedulable) return;
  // A scheduling cycle asks the nominated node first, even where PreFilter leaves it out.
  Diagnosis diagnosis = diagnosis_;
  const NodeRow nominated = world_.snapshot.FindNode(pod_->pod->status.nominated_node_name);
  if (pass_ && nominated != kNoRow && !candidates_.Test(nominated)) {
    NodeSet only(world_.snapshot.num_rows());
    only.Set(nominated);
    NodeSet passed = only;
    FilterPass pass(*profile_, cycle_, *pod_, world_);
    if (pass.Run(passed).ok() && !pass.Explain(only, diagnosis).ok()) diagnosis = diagnosis_;
  }
  preemption_ = framework::RunPreemptionPreview(*profile_, cycle_, *pod_, world_.snapshot,
                                                diagnosis.statuses);
}

std::vector<NodeRow> Judgement::Best() const {
  std::vector<NodeRow> best;
  if (kind_ != Kind::kScheduled) return best;
  const int64_t highest = *std::max_element(totals_.begin(), totals_.end());
  for (size_t i = 0; i < feasible_.size(); ++i) {
    if (totals_[i] == highest) best.push_back(feasible_[i]);
  }
  return best;
}

void Judgement::Fail(std::string message) {
  kind_ = Kind::kError;
  message_ = std::move(message);
}

}  // namespace berth::engine
