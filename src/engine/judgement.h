// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "berth/in_tree/claim_preview.h"
#include "src/engine/evaluation.h"
#include "src/framework/runtime.h"

namespace berth::engine {

// What a profile makes of one pod that is judged alone: an evaluation over all nodes with nothing
// left out, who rejected which node and why, and how every feasible node scored. Nominated pods
// count as they do in a scheduling cycle. PreScore and Score run for a single feasible node, too;
// no node is chosen. What a cycle would not reach is no reason to fail: a plugin that fails over
// another node than the nominated one, which is feasible, or over the scores of the only node, is a
// remark.
//
// Made in two steps, since reasons cost more than the decision: the constructor decides, Explain()
// asks the plugins for their reasons. Neither changes anything that a decision depends on.
//
// Thread safety: the scheduling thread; the cluster must stay as it is while the judgement is read.
class Judgement {
 public:
  enum class Kind {
    kScheduled,      // some node is feasible
    kUnschedulable,  // none is
    kGated,          // PreEnqueue keeps the pod out of the queue
    kIgnored,        // of no profile, or being deleted
    kError,          // a plugin failed, or there are no nodes
  };

  // `profile` is that of the pod's schedulerName, nullptr where there is none. It and what
  // `cluster` refers to must outlive the judgement. `extenders_not_asked`: see below.
  Judgement(const framework::Profile* profile, PodInfoPtr pod, const ClusterState& cluster,
            std::vector<std::string> extenders_not_asked = {});
  Judgement(const Judgement&) = delete;
  Judgement& operator=(const Judgement&) = delete;

  // Makes statuses() and, for an unschedulable pod, message(). Does nothing the second time. A
  // plugin that fails over it turns the judgement into an error.
  void Explain();

  // Asks PostFilter what it would do, for an unschedulable pod that has been explained; sets
  // preemption().
  void PreviewPreemption();

  // Asks what the pod's claims would get on each node, for a pod that has been explained; sets
  // has_claims().
  void PreviewClaims();

  Kind kind() const { return kind_; }
  // The extenders, by URL, that have a say in where the pod goes and were left out.
  const std::vector<std::string>& extenders_not_asked() const { return extenders_not_asked_; }
  const api::Pod& pod() const { return *pod_->pod; }
  // The node on which the pod runs and waits for room for its resize; "": it waits for a node.
  std::string_view resize_on() const {
    return pod_->resize_deferred ? std::string_view(pod_->pod->spec.node_name) : "";
  }
  // nullptr where the pod's schedulerName has none.
  const framework::Profile* profile() const { return profile_; }
  const Snapshot& snapshot() const { return cluster_.snapshot; }
  // kGated, kError: why. kUnschedulable: what FitError says, without PostFilter's part.
  const std::string& message() const { return message_; }

  // Of kScheduled: the failure of a plugin at what a scheduling cycle would not ask; "": none.
  const std::string& remark() const { return remark_; }

  // Only of kScheduled: the feasible nodes, ascending, and what they scored; totals()[i] and
  // scores()[plugin].raw[i] belong to feasible()[i].
  const std::vector<NodeRow>& feasible() const { return result_.rows; }
  const std::vector<int64_t>& totals() const { return result_.totals; }
  // In profile order, without the plugins that PreScore skipped; none where a remark says why.
  const std::vector<framework::PluginScores>& scores() const { return scores_; }
  // Those with the highest total, ascending; the nominated node where there are no scores.
  std::vector<NodeRow> Best() const;

  // After Explain(): the verdicts of the rejected nodes. Those without one of their own are outside
  // the set that PreFilter left.
  const NodeStatuses& statuses() const { return result_.diagnosis.statuses; }
  // Whether there are such nodes.
  bool LeavesNodesOut() const;
  // Who left these out, by name.
  const std::vector<std::string>& pre_filter_plugins() const {
    return result_.diagnosis.pre_filter_plugins;
  }

  // After PreviewPreemption(): what evictions would do. nullopt: no plugin was asked, or none
  // could say.
  const std::optional<PreemptionPreview>& preemption() const { return preemption_; }

  // After PreviewClaims(): whether the pod has claims and a plugin of its profile can tell of them.
  bool has_claims() const { return !claims_.empty(); }
  // What each of them would get on a node: those of volumes, then those of devices, as the pod
  // names them.
  std::vector<ClaimPreview> ClaimsOn(NodeRow row) const;

 private:
  Evaluation::Outcome Evaluate();
  // What a plugin says of a volume's claim that cannot preview it.
  void AddProblemOfOthers(const NodeView& node, ClaimPreview& claim) const;
  void Fail(std::string message);

  const framework::Profile* profile_;
  PodInfoPtr pod_;
  const std::vector<std::string> extenders_not_asked_;
  ClusterState cluster_;
  Kind kind_ = Kind::kError;
  std::string message_;
  std::string remark_;
  framework::Cycle cycle_;
  EvaluationResult result_;
  std::optional<Evaluation> evaluation_;
  std::vector<framework::PluginScores> scores_;
  // The node that a cycle would take without scores; kNoRow: it has scores.
  NodeRow unscored_ = kNoRow;
  bool explained_ = false;
  std::optional<PreemptionPreview> preemption_;
  std::vector<ClaimPreviewPlugin::ByNode> claims_;
  std::vector<const InTheWayPlugin*> in_the_way_;  // after PreviewClaims()
};

}  // namespace berth::engine
