// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "plugins/legacy/library.h"

namespace berth::legacy {
namespace {

int64_t CountOn(const NodeView& node, const std::vector<std::string>& keys) {
  const StringMap labels = node.labels();
  return std::count_if(keys.begin(), keys.end(),
                       [&](const std::string& key) { return labels.Find(key).has_value(); });
}

int64_t SizeOf(const std::vector<std::string>& keys) { return static_cast<int64_t>(keys.size()); }

// Keeps every pod off nodes that lack a label or have one that they must not have, and prefers
// nodes by labels that are there or are not. Kubernetes had it up to 1.22; node affinity says the
// same, for each pod or as addedAffinity.
//
// Thread safety: immutable; every method may run concurrently.
class NodeLabel final : public ColumnFilterPlugin,
                        public ColumnScorePlugin,
                        public EnqueueExtensions {
 public:
  static constexpr std::string_view kReason = "node(s) didn't have the requested labels";

  // `args` are valid.
  NodeLabel(const ConfigValue& args, Handle) {
    FieldReader fields(args);
    fields.Read("presentLabels", present_);
    fields.Read("absentLabels", absent_);
    fields.Read("presentLabelsPreference", present_preference_);
    fields.Read("absentLabelsPreference", absent_preference_);
  }

  Status Filter(const CycleState&, const PodView&, const NodeView& node) const override {
    if (Passes(node)) return Status::Success();
    return Status::UnschedulableAndUnresolvable(std::string(kReason));
  }
  void FilterNodes(const CycleState&, const PodView&, const Snapshot& snapshot,
                   NodeSet& nodes) const override {
    if (present_.empty() && absent_.empty()) return;
    nodes.ForEach([&](uint32_t row) {
      if (!Passes(snapshot.node(row))) nodes.Clear(row);
    });
  }

  // The share of the preferences that the node fulfils, from 0 to 100; 0 where there are none.
  ScoreResult Score(const CycleState&, const PodView&, const NodeView& node) const override {
    return {ScoreOf(node)};
  }
  void ScoreNodes(const CycleState&, const PodView&, const Snapshot& snapshot, const uint32_t* rows,
                  int64_t* scores, size_t n) const override {
    for (size_t i = 0; i < n; ++i) scores[i] = ScoreOf(snapshot.node(rows[i]));
  }

  // Queues the pod when a node comes that passes, or one begins to pass.
  std::vector<ClusterEventWithHint> EventsToRegister() const override {
    return {{BERTH_KIND_NODE, BERTH_ACTION_ADD | BERTH_ACTION_UPDATE_NODE_LABEL,
             [this](const PodView&, const ObjectView& before, const ObjectView& after) {
               const auto node = after.node();
               // No such event is known: better once too often.
               if (!node) return QueueingHint::kQueue;
               const auto old_node = before.node();
               const bool passed = old_node && Passes(*old_node);
               return !passed && Passes(*node) ? QueueingHint::kQueue : QueueingHint::kQueueSkip;
             }}};
  }

 private:
  bool Passes(const NodeView& node) const {
    return CountOn(node, present_) == SizeOf(present_) && CountOn(node, absent_) == 0;
  }
  int64_t ScoreOf(const NodeView& node) const {
    const int64_t preferences = SizeOf(present_preference_) + SizeOf(absent_preference_);
    if (preferences == 0) return 0;
    const int64_t fulfilled = CountOn(node, present_preference_) + SizeOf(absent_preference_) -
                              CountOn(node, absent_preference_);
    return fulfilled * kMaxScore / preferences;
  }

  // Keys of node labels; their values do not matter.
  std::vector<std::string> present_;
  std::vector<std::string> absent_;
  std::vector<std::string> present_preference_;
  std::vector<std::string> absent_preference_;
};

}  // namespace

berth_plugin NodeLabelPlugin() {
  return Define<NodeLabel>("NodeLabel", {.declares_inputs = true, .reach = BERTH_REACH_NODE});
}

}  // namespace berth::legacy
