// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "berth/api/pod.h"
#include "berth/in_tree/handle.h"
#include "berth/in_tree/points.h"
#include "berth/matching.h"
#include "berth/result.h"
#include "plugins/shared/args_kind.h"

namespace berth::plugins {

// Preferred node affinity, checked once and then scored often. Terms of weight 0 and terms without
// expressions and fields count nothing.
//
// Thread safety: immutable after Make.
class PreferredTerms {
 public:
  // Errors: terms that cannot be parsed, as Kubernetes prints them.
  static Result<PreferredTerms> Make(std::span<const api::PreferredSchedulingTerm> terms);
  // What cannot be parsed, each text beginning with the term's index ("[0].matchExpressions...").
  static std::vector<std::string> Problems(std::span<const api::PreferredSchedulingTerm> terms);

  // The sum of the weights of the terms that match.
  int64_t Score(const api::Node& node) const;
  // Adds the same to scores[i] for nodes[i].
  void AddScores(const Snapshot& snapshot, std::span<const NodeRow> nodes,
                 std::span<int64_t> scores) const;

 private:
  struct Term {
    NodeSelectorMatcher matcher;
    int64_t weight = 0;
  };

  std::vector<Term> terms_;
};

struct NodeAffinityArgs {
  // Node affinity that every pod has besides its own.
  std::optional<api::NodeAffinity> added_affinity;
};

// Errors: terms that cannot be parsed.
extern const ArgsKind<NodeAffinityArgs> kNodeAffinityArgs;

// Keeps a pod off nodes that its nodeSelector or required node affinity does not match, and prefers
// nodes that its preferred node affinity matches. The args may add affinity to every pod.
//
// Required terms that cannot be parsed match nothing; preferred ones fail the pod.
//
// Thread safety: immutable; every method may run concurrently.
class NodeAffinity final : public PreFilterPlugin,
                           public ColumnFilterPlugin,
                           public PreScorePlugin,
                           public ColumnScorePlugin,
                           public ScoreExtensions,
                           public EnqueueExtensions {
 public:
  static constexpr std::string_view kName = "NodeAffinity";
  static constexpr bool kSkipsDeferredResizes = true;
  static constexpr std::string_view kPodReason =
      "node(s) didn't match Pod's node affinity/selector";
  static constexpr std::string_view kAddedReason =
      "node(s) didn't match scheduler-enforced node affinity";
  static constexpr std::string_view kConflictReason = "pod affinity terms conflict";

  // `args` are valid.
  NodeAffinity(const NodeAffinityArgs& args, Handle& handle);

  Inputs DeclaredInputs() const { return Inputs::Of(pod_part::kNodeAffinity, {{Reach::kNode}}); }

  // Skips pods without required affinity when none is added. When every term names nodes by
  // metadata.name, the search is narrowed to these.
  PreFilterResult PreFilter(CycleState& state, const PodInfo& pod,
                            const Snapshot& snapshot) override;
  Status Filter(const CycleState& state, const PodInfo& pod, const NodeView& node) const override;
  Status FilterNodes(const CycleState& state, const PodInfo& pod, const Snapshot& snapshot,
                     NodeSet& nodes) const override;

  // Skips pods without preferred affinity when none is added.
  Status PreScore(CycleState& state, const PodInfo& pod, const Snapshot& snapshot,
                  const NodeSet& feasible) override;
  // The sum of the weights of the matching preferred terms.
  ScoreResult Score(const CycleState& state, const PodInfo& pod,
                    const NodeView& node) const override;
  void ScoreNodes(const CycleState& state, const PodInfo& pod, const Snapshot& snapshot,
                  std::span<const NodeRow> nodes, std::span<int64_t> scores) const override;
  bool NormalizesByValue(const CycleState&) const override { return true; }
  Status NormalizeScore(const CycleState& state, const PodInfo& pod, std::span<const NodeRow> nodes,
                        std::span<int64_t> scores) const override;

  // Queues the pod when a node comes that matches, or one starts to match.
  std::vector<ClusterEventWithHint> EventsToRegister() const override;

 private:
  Result<QueueingHint> AfterNodeChange(const api::Pod& pod, const api::ObjectPtr& old_object,
                                       const api::ObjectPtr& new_object) const;

  std::optional<NodeSelectorMatcher> added_required_;
  std::optional<PreferredTerms> added_preferred_;
  ReasonTable* reasons_;
  Status pod_rejection_;
  Status added_rejection_;
  Status conflict_;
};

}  // namespace berth::plugins
