// SPDX-License-Identifier: Apache-2.0
#include "plugins/legacy/node_label.h"

#include <algorithm>

namespace berth::legacy {
namespace {

int64_t CountOn(const NodeView& node, const std::vector<std::string>& keys) {
  const StringMap labels = node.labels();
  return std::count_if(keys.begin(), keys.end(),
                       [&](const std::string& key) { return labels.Find(key).has_value(); });
}

int64_t SizeOf(const std::vector<std::string>& keys) { return static_cast<int64_t>(keys.size()); }

}  // namespace

NodeLabel::NodeLabel(const ConfigValue& args, Handle) {
  FieldReader fields(args);
  fields.Read("presentLabels", present_);
  fields.Read("absentLabels", absent_);
  fields.Read("presentLabelsPreference", present_preference_);
  fields.Read("absentLabelsPreference", absent_preference_);
}

bool NodeLabel::Passes(const NodeView& node) const {
  return CountOn(node, present_) == SizeOf(present_) && CountOn(node, absent_) == 0;
}

Status NodeLabel::Filter(const CycleState&, const PodView&, const NodeView& node) const {
  if (Passes(node)) return Status::Success();
  return Status::UnschedulableAndUnresolvable(std::string(kReason));
}

void NodeLabel::FilterNodes(const CycleState&, const PodView&, const Snapshot& snapshot,
                            NodeSet& nodes) const {
  if (present_.empty() && absent_.empty()) return;
  nodes.ForEach([&](uint32_t row) {
    if (!Passes(snapshot.node(row))) nodes.Clear(row);
  });
}

int64_t NodeLabel::ScoreOf(const NodeView& node) const {
  constexpr int64_t kMaxScore = 100;
  const int64_t preferences = SizeOf(present_preference_) + SizeOf(absent_preference_);
  if (preferences == 0) return 0;
  const int64_t fulfilled = CountOn(node, present_preference_) + SizeOf(absent_preference_) -
                            CountOn(node, absent_preference_);
  return fulfilled * kMaxScore / preferences;
}

ScoreResult NodeLabel::Score(const CycleState&, const PodView&, const NodeView& node) const {
  return {ScoreOf(node)};
}

void NodeLabel::ScoreNodes(const CycleState&, const PodView&, const Snapshot& snapshot,
                           const uint32_t* rows, int64_t* scores, size_t n) const {
  for (size_t i = 0; i < n; ++i) scores[i] = ScoreOf(snapshot.node(rows[i]));
}

std::vector<ClusterEventWithHint> NodeLabel::EventsToRegister() const {
  return {{BERTH_KIND_NODE, BERTH_ACTION_ADD | BERTH_ACTION_UPDATE_NODE_LABEL,
           [this](const PodView&, const ObjectView& before, const ObjectView& after) {
             const auto node = after.node();
             if (!node)
               return QueueingHint::kQueue;  // no such event is known: better once too often
             const auto old_node = before.node();
             const bool passed = old_node && Passes(*old_node);
             return !passed && Passes(*node) ? QueueingHint::kQueue : QueueingHint::kQueueSkip;
           }}};
}

}  // namespace berth::legacy
