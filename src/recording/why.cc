// SPDX-License-Identifier: Apache-2.0
#include "src/recording/why.h"

#include <algorithm>
#include <cstdlib>
#include <utility>
#include <vector>

#include "src/engine/judgement.h"

namespace berth::recording {
namespace {

using engine::Judgement;

// Of the plugins whose scores tell the nodes apart, those that do so most.
constexpr size_t kMostPlugins = 3;

size_t IndexOf(const Judgement& judgement, NodeRow row) {
  const auto& feasible = judgement.feasible();
  return static_cast<size_t>(std::ranges::lower_bound(feasible, row) - feasible.begin());
}

std::string WhyNotBest(const Judgement& judgement, NodeRow row, const std::string& name) {
  const std::vector<NodeRow> best = judgement.Best();
  if (std::ranges::binary_search(best, row)) {
    return name + " is one of " + std::to_string(best.size()) + " nodes with the best score";
  }
  const size_t here = IndexOf(judgement, row);
  const size_t there = IndexOf(judgement, best.front());
  std::vector<std::pair<int64_t, std::string_view>> gaps;
  for (const framework::PluginScores& scores : judgement.scores()) {
    if (scores.normalised.empty()) continue;
    const int64_t gap = (scores.normalised[there] - scores.normalised[here]) * scores.entry->weight;
    if (gap != 0) gaps.emplace_back(gap, scores.entry->name);
  }
  std::ranges::stable_sort(
      gaps, [](const auto& a, const auto& b) { return std::abs(a.first) > std::abs(b.first); });
  std::string text = name + " scores " + std::to_string(judgement.totals()[here]) + ", " +
                     judgement.snapshot().node(best.front()).metadata.name + " " +
                     std::to_string(judgement.totals()[there]);
  for (size_t i = 0; i < std::min(gaps.size(), kMostPlugins); ++i) {
    text += i == 0 ? ": " : ", ";
    text += std::string(gaps[i].second) + (gaps[i].first > 0 ? " +" : " ") +
            std::to_string(gaps[i].first);
  }
  return text;
}

std::string WhyRejected(const Judgement& judgement, NodeRow row, const std::string& name) {
  const engine::NodeStatuses& statuses = judgement.statuses();
  if (!statuses.explicit_nodes().Test(row)) {
    return name + " is not among the nodes that PreFilter plugins left";
  }
  const std::string plugin(statuses.plugin(row));
  return name + ": " + (plugin.empty() ? "" : plugin + ": ") + statuses.Get(row).message();
}

}  // namespace

std::string WhyNot(scheduler::Scheduler& scheduler, const std::shared_ptr<const api::Pod>& pod,
                   std::string_view recorded_node) {
  const std::unique_ptr<Judgement> judgement = scheduler.Judge(pod);
  judgement->Explain();
  if (judgement->kind() != Judgement::Kind::kScheduled &&
      judgement->kind() != Judgement::Kind::kUnschedulable) {
    return judgement->message();
  }
  if (recorded_node.empty()) {
    if (judgement->kind() == Judgement::Kind::kUnschedulable) return judgement->message();
    const std::vector<NodeRow> best = judgement->Best();
    return std::to_string(judgement->feasible().size()) + " nodes fit, " +
           judgement->snapshot().node(best.front()).metadata.name + " best";
  }
  const std::string name(recorded_node);
  const NodeRow row = judgement->snapshot().FindNode(recorded_node);
  if (row == kNoRow) return name + " is not there";
  return std::ranges::binary_search(judgement->feasible(), row)
             ? WhyNotBest(*judgement, row, name)
             : WhyRejected(*judgement, row, name);
}

}  // namespace berth::recording
