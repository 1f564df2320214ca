// SPDX-License-Identifier: Apache-2.0
#include "plugins/legacy/node_label.h"

#include <algorithm>

#include "plugins/shared/hint_objects.h"

namespace berth::plugins {
namespace {

int64_t CountOn(const api::Node& node, const std::vector<std::string>& keys) {
  return std::ranges::count_if(keys, [&](const std::string& key) {
    return api::Find(node.metadata.labels, key) != nullptr;
  });
}

}  // namespace

bool NodeLabel::Passes(const api::Node& node) const {
  return CountOn(node, args_.present_labels) == std::ssize(args_.present_labels) &&
         CountOn(node, args_.absent_labels) == 0;
}

Status NodeLabel::Filter(const CycleState&, const PodInfo&, const NodeView& node) const {
  return Passes(node.node()) ? Status::Success() : rejection_;
}

Status NodeLabel::FilterNodes(const CycleState&, const PodInfo&, const Snapshot& snapshot,
                              NodeSet& nodes) const {
  if (args_.present_labels.empty() && args_.absent_labels.empty()) return {};
  nodes.Filter([&](NodeRow row) { return Passes(snapshot.node(row)); });
  return {};
}

int64_t NodeLabel::ScoreOf(const api::Node& node) const {
  const int64_t preferences =
      std::ssize(args_.present_labels_preference) + std::ssize(args_.absent_labels_preference);
  if (preferences == 0) return 0;
  const int64_t fulfilled = CountOn(node, args_.present_labels_preference) +
                            std::ssize(args_.absent_labels_preference) -
                            CountOn(node, args_.absent_labels_preference);
  return fulfilled * kMaxNodeScore / preferences;
}

ScoreResult NodeLabel::Score(const CycleState&, const PodInfo&, const NodeView& node) const {
  return {ScoreOf(node.node())};
}

void NodeLabel::ScoreNodes(const CycleState&, const PodInfo&, const Snapshot& snapshot,
                           std::span<const NodeRow> nodes, std::span<int64_t> scores) const {
  for (size_t i = 0; i < nodes.size(); ++i) scores[i] = ScoreOf(snapshot.node(nodes[i]));
}

std::vector<ClusterEventWithHint> NodeLabel::EventsToRegister() const {
  return {{{EventResource::kNode, action::kAdd | action::kUpdateNodeLabel},
           [this](const api::Pod&, const api::ObjectPtr& old_object,
                  const api::ObjectPtr& new_object) -> Result<QueueingHint> {
             const auto change = AsUpdate<api::Node>(old_object, new_object);
             if (!change) return Fail(change.error());
             const bool passed = change->old_object != nullptr && Passes(*change->old_object);
             return QueueIf(!passed && Passes(*change->new_object));
           }}};
}

}  // namespace berth::plugins
