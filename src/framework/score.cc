// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "berth/field_errors.h"
#include "src/framework/guarded.h"
#include "src/framework/runtime.h"
#include "src/framework/timing.h"

namespace berth::framework {
namespace {

Status CheckRange(const ScoreEntry& entry, const CycleState& state,
                  std::span<const int64_t> scores) {
  for (int64_t score : scores) {
    if (IsNodeScore(score)) continue;
    return state.reasons().Error("applying score defaultWeights on Score plugins: plugin " +
                                 Quoted(entry.name) + " returns an invalid score " +
                                 std::to_string(score) + ", it should in the range of [" +
                                 std::to_string(kMinNodeScore) + ", " +
                                 std::to_string(kMaxNodeScore) + "] after normalizing");
  }
  return Status::Success();
}

// A score plugin's raw scores, then normalised, in `scores`.
Status ScorePluginNodes(const Profile& profile, const Cycle& cycle, const ScoreEntry& entry,
                        const PodInfo& pod, const Snapshot& snapshot,
                        std::span<const NodeRow> nodes, std::span<int64_t> scores,
                        PluginScores* detail) {
  const CycleState& state = cycle.state;
  PluginTimer timer(cycle, entry.name, ExtensionPoint::kScore);
  const Status raw = RunScorePlugin(entry, state, pod, snapshot, nodes, scores);
  timer.Finish(raw.code());
  CountEvaluations(profile, cycle.observer, entry.name, ExtensionPoint::kScore, nodes.size());
  if (!raw.ok()) {
    return state.reasons().Error("running Score plugins: plugin " + Quoted(entry.name) +
                                 " failed with: " + raw.message());
  }
  if (detail != nullptr) detail->raw.assign(scores.begin(), scores.end());
  if (entry.extensions == nullptr) return CheckRange(entry, state, scores);
  PluginTimer normalize_timer(cycle, entry.name, ExtensionPoint::kScoreExtensionNormalize);
  const Status normalized = RunNormalizeScore(entry, state, pod, nodes, scores);
  normalize_timer.Finish(normalized.code());
  return normalized;
}

}  // namespace

Status RunScorePlugin(const ScoreEntry& entry, const CycleState& state, const PodInfo& pod,
                      const Snapshot& snapshot, std::span<const NodeRow> nodes,
                      std::span<int64_t> scores) {
  if (nodes.empty()) return Status::Success();
  return Guarded(state, [&] {
    if (entry.column != nullptr && nodes.size() > kFewNodes) {
      // The column form cannot fail; one node tells whether the plugin can score at all.
      const ScoreResult probe = entry.plugin->Score(state, pod, NodeView(snapshot, nodes.front()));
      if (!probe.status.ok()) return probe.status;
      entry.column->ScoreNodes(state, pod, snapshot, nodes, scores);
      return Status::Success();
    }
    for (size_t i = 0; i < nodes.size(); ++i) {
      const ScoreResult result = entry.plugin->Score(state, pod, NodeView(snapshot, nodes[i]));
      if (!result.status.ok()) return result.status;
      scores[i] = result.score;
    }
    return Status::Success();
  });
}

Status RunNormalizeScore(const ScoreEntry& entry, const CycleState& state, const PodInfo& pod,
                         std::span<const NodeRow> nodes, std::span<int64_t> scores) {
  const Status status =
      Guarded(state, [&] { return entry.extensions->NormalizeScore(state, pod, nodes, scores); });
  if (status.ok()) return CheckRange(entry, state, scores);
  return state.reasons().Error("running Normalize on Score plugins: plugin " + Quoted(entry.name) +
                               " failed with: " + status.message());
}

Status RunPreScore(const Profile& profile, Cycle& cycle, const PodInfo& pod,
                   const Snapshot& snapshot, const NodeSet& feasible) {
  PointTimer point_timer(profile, cycle.observer, ExtensionPoint::kPreScore);
  Status verdict;
  for (const auto& entry : profile.plugins().pre_score) {
    PluginTimer timer(cycle, entry.name, ExtensionPoint::kPreScore);
    const Status status = Guarded(
        cycle.state, [&] { return entry.plugin->PreScore(cycle.state, pod, snapshot, feasible); });
    timer.Finish(status.code());
    if (status.skip()) {
      cycle.skip_score.set(entry.index);
      continue;
    }
    CountEvaluations(profile, cycle.observer, entry.name, ExtensionPoint::kPreScore, 1);
    if (status.ok()) continue;
    verdict = cycle.state.reasons().Error("running PreScore plugin " + Quoted(entry.name) + ": " +
                                          status.message());
    break;
  }
  point_timer.Finish(verdict.code());
  return verdict;
}

Status RunScore(const Profile& profile, const Cycle& cycle, const PodInfo& pod,
                const Snapshot& snapshot, std::span<const NodeRow> nodes,
                std::vector<int64_t>& totals, std::vector<PluginScores>* details) {
  PointTimer timer(profile, cycle.observer, ExtensionPoint::kScore);
  totals.assign(nodes.size(), 0);
  std::vector<int64_t> scores(nodes.size());
  Status verdict;
  for (const ScoreEntry& entry : profile.plugins().score) {
    if (cycle.skip_score.test(entry.index)) continue;
    PluginScores* detail = nullptr;
    if (details != nullptr) {
      detail = &details->emplace_back();
      detail->entry = &entry;
    }
    verdict = ScorePluginNodes(profile, cycle, entry, pod, snapshot, nodes, scores, detail);
    if (!verdict.ok()) break;
    if (detail != nullptr) detail->normalised = scores;
    for (size_t i = 0; i < nodes.size(); ++i) totals[i] += scores[i] * entry.weight;
  }
  timer.Finish(verdict.code());
  return verdict;
}

}  // namespace berth::framework
