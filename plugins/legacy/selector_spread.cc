// SPDX-License-Identifier: Apache-2.0
#include "plugins/legacy/selector_spread.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "plugins/legacy/counted_pods.h"
#include "plugins/shared/default_selector.h"

namespace berth::plugins {
namespace {

constexpr double kZoneWeighting = 2.0 / 3.0;

struct PreScoreState : CountedPods {};

// The pods that what selects `pod` selects; nullopt: nothing does.
std::optional<PodQuery> SelectedWith(const api::Pod& pod, const Listers& listers) {
  LabelSelectorMatcher selector = DefaultSelector(pod, listers);
  if (selector.everything()) return std::nullopt;
  return PodQuery{
      .all_of = {{.namespaces = {pod.metadata.namespace_}, .selector = std::move(selector)}},
      .skip_terminating = true};
}

// Region and zone; both empty: the node is in none. The beta labels win, as in the order of nodes.
using Zone = std::pair<std::string_view, std::string_view>;

std::string_view LabelOf(const api::Node& node, std::string_view beta, std::string_view key) {
  const std::string* value = api::Find(node.metadata.labels, beta);
  if (value == nullptr) value = api::Find(node.metadata.labels, key);
  return value == nullptr ? std::string_view() : std::string_view(*value);
}

Zone ZoneOf(const api::Node& node) {
  return {
      LabelOf(node, "failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region"),
      LabelOf(node, "failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone")};
}

// The order of these operations decides the last bit.
double FewerIsBetter(int64_t count, int64_t most) {
  constexpr auto kMax = static_cast<double>(kMaxNodeScore);
  if (most <= 0) return kMax;
  return kMax * (static_cast<double>(most - count) / static_cast<double>(most));
}

}  // namespace

Inputs SelectorSpread::DeclaredInputs() const {
  return Inputs::Of(
      pod_part::kTopologySpread | pod_part::kNamespace | pod_part::kTestedLabels | pod_part::kOwner,
      {{Reach::kUsage}, {Reach::kOtherObjects}});
}

Status SelectorSpread::PreScore(CycleState& state, const PodInfo& pod, const Snapshot& snapshot,
                                const NodeSet&) {
  if (!pod.pod->spec.topology_spread_constraints.empty()) return Status::Skip();
  PreScoreState data;
  if (const auto query = SelectedWith(*pod.pod, handle_->listers())) {
    data.counts = snapshot.CountPods(*query);
  }
  state.Write(std::move(data));
  return Status::Success();
}

ScoreResult SelectorSpread::Score(const CycleState& state, const PodInfo& pod,
                                  const NodeView& node) const {
  int64_t score = 0;
  const NodeRow row = node.row();
  ScoreNodes(state, pod, node.snapshot(), {&row, 1}, {&score, 1});
  return {score};
}

void SelectorSpread::ScoreNodes(const CycleState& state, const PodInfo& pod,
                                const Snapshot& snapshot, std::span<const NodeRow> nodes,
                                std::span<int64_t> scores) const {
  if (const auto* counted = state.Find<PreScoreState>()) {
    ScoreCounted(*counted, nodes, scores);
    return;
  }
  const bool spread = !pod.pod->spec.topology_spread_constraints.empty();
  ScoreUncounted(spread ? std::nullopt : SelectedWith(*pod.pod, handle_->listers()), snapshot,
                 nodes, scores);
}

Status SelectorSpread::NormalizeScore(const CycleState&, const PodInfo& pod,
                                      std::span<const NodeRow> nodes,
                                      std::span<int64_t> scores) const {
  if (!pod.pod->spec.topology_spread_constraints.empty()) return Status::Success();
  const Snapshot& snapshot = handle_->snapshot();
  std::map<Zone, int64_t> by_zone;
  std::vector<const int64_t*> zone_counts(nodes.size(), nullptr);
  int64_t most_on_node = 0;
  for (size_t i = 0; i < nodes.size(); ++i) {
    most_on_node = std::max(most_on_node, scores[i]);
    const Zone zone = ZoneOf(snapshot.node(nodes[i]));
    if (zone == Zone()) continue;
    int64_t& count = by_zone[zone];
    count += scores[i];
    zone_counts[i] = &count;
  }
  int64_t most_in_zone = 0;
  for (const auto& [zone, count] : by_zone) most_in_zone = std::max(most_in_zone, count);
  for (size_t i = 0; i < nodes.size(); ++i) {
    double score = FewerIsBetter(scores[i], most_on_node);
    if (zone_counts[i] != nullptr) {
      const double zone_score = FewerIsBetter(*zone_counts[i], most_in_zone);
      score = (score * (1.0 - kZoneWeighting)) + (kZoneWeighting * zone_score);
    }
    scores[i] = static_cast<int64_t>(score);
  }
  return Status::Success();
}

}  // namespace berth::plugins
