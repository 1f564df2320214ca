// SPDX-License-Identifier: Apache-2.0
#include "src/framework/placement_runtime.h"

#include <string>

#include "berth/field_errors.h"
#include "src/framework/guarded.h"
#include "src/framework/timing.h"

namespace berth::framework {
namespace {

GeneratePlacementsResult AskForPlacements(const Profile& profile, Cycle& cycle,
                                          const PodGroupInfo& group, const Snapshot& snapshot,
                                          const Placement& all) {
  if (profile.plugins().placement_generate.empty()) return {.status = {}, .placements = {all}};
  const auto& entry = profile.plugins().placement_generate.front();
  GeneratePlacementsResult result;
  PluginTimer timer(cycle, entry.name, ExtensionPoint::kPlacementGenerate);
  result.status = Guarded(cycle.state, [&] {
    result = entry.plugin->GeneratePlacements(cycle.state, group, snapshot, all);
    return result.status;
  });
  timer.Finish(result.status.code());
  if (result.status.ok() && result.placements.empty()) {
    result.status =
        cycle.state.reasons().Make(Code::kUnschedulable, "no feasible placements found");
  }
  return result;
}

// What one plugin gives each placement, normalised.
Status ScoresOf(const PlacementScoreEntry& entry, Cycle& cycle, const PodGroupInfo& group,
                const Snapshot& snapshot, std::span<const PodGroupAssignments> placements,
                std::vector<int64_t>& scores) {
  const auto failed = [&](const char* what, const Status& status) {
    return cycle.state.reasons().Error(std::string(what) + ": plugin " + Quoted(entry.name) +
                                       " failed with: " + status.message());
  };
  scores.assign(placements.size(), 0);
  for (size_t i = 0; i < placements.size(); ++i) {
    PluginTimer timer(cycle, entry.name, ExtensionPoint::kPlacementScore);
    const Status status = Guarded(cycle.state, [&] {
      const ScoreResult result =
          entry.plugin->ScorePlacement(cycle.state, group, snapshot, placements[i]);
      scores[i] = result.score;
      return result.status;
    });
    timer.Finish(status.code());
    if (!status.ok()) return failed("running PlacementScore plugins", status);
  }
  PluginTimer timer(cycle, entry.name, ExtensionPoint::kPlacementScoreExtensionNormalize);
  const Status status = Guarded(cycle.state, [&] {
    return entry.plugin->NormalizePlacementScores(cycle.state, group, scores);
  });
  timer.Finish(status.code());
  if (!status.ok()) {
    return failed("running NormalizePlacementScore on PlacementScore plugins", status);
  }
  for (const int64_t score : scores) {
    if (IsNodeScore(score)) continue;
    return cycle.state.reasons().Error(
        "applying score defaultWeights on PlacementScore plugins: plugin " + Quoted(entry.name) +
        " returns an invalid score " + std::to_string(score) +
        ", it should in the range of [0, 100] after normalizing");
  }
  return {};
}

}  // namespace

Status RunPlacementFeasible(const Profile& profile, Cycle& cycle, const AnyPodGroup& group,
                            const PlacementProgress& progress) {
  PointTimer timer(profile, cycle.observer, ExtensionPoint::kPlacementFeasible);
  Status result;
  for (const auto& entry : profile.plugins().placement_feasible) {
    PluginTimer plugin_timer(cycle, entry.name, ExtensionPoint::kPlacementFeasible);
    const Status status = Guarded(
        cycle.state, [&] { return entry.plugin->PlacementFeasible(cycle.state, group, progress); });
    plugin_timer.Finish(status.code());
    if (status.ok()) continue;
    result = status;
    if (status.wait()) continue;
    if (status.code() != Code::kUnschedulable) {
      result = cycle.state.reasons().Error("running PlacementFeasible plugin: " + status.message());
    }
    break;
  }
  timer.Finish(result.code());
  return result;
}

PodGroupPostFilterResult RunPodGroupPostFilter(const Profile& profile, Cycle& cycle,
                                               const PodGroupInfo& group, const Snapshot& snapshot,
                                               PodGroupDryRun& dry_run) {
  PointTimer timer(profile, cycle.observer, ExtensionPoint::kPodGroupPostFilter);
  const auto ask = [&]() -> PodGroupPostFilterResult {
    ReasonSet reasons;
    Code failed = Code::kUnschedulable;
    for (const auto& entry : profile.plugins().pod_group_post_filter) {
      if (failed != Code::kUnschedulable && !entry.plugin->needs_no_victims()) continue;
      PodGroupPostFilterResult result;
      PluginTimer plugin_timer(cycle, entry.name, ExtensionPoint::kPodGroupPostFilter);
      result.status = Guarded(cycle.state, [&] {
        result = entry.plugin->PodGroupPostFilter(cycle.state, group, snapshot, dry_run);
        return result.status;
      });
      const Code code = result.status.code();
      plugin_timer.Finish(code);
      if (code == Code::kSuccess) return result;
      if (code == Code::kUnschedulableAndUnresolvable) {
        failed = code;
        reasons.clear();
      } else if (code != Code::kUnschedulable) {
        return {
            cycle.state.reasons().Error("error in " + Quoted(entry.name) +
                                        " PodGroupPostFilter plugins: " + result.status.message())};
      }
      reasons.insert(reasons.end(), result.status.reasons().begin(), result.status.reasons().end());
    }
    return {cycle.state.reasons().Make(failed, reasons)};
  };
  PodGroupPostFilterResult result = ask();
  timer.Finish(result.status.code());
  return result;
}

GeneratePlacementsResult RunGeneratePlacements(const Profile& profile, Cycle& cycle,
                                               const PodGroupInfo& group, const Snapshot& snapshot,
                                               const Placement& all) {
  PointTimer timer(profile, cycle.observer, ExtensionPoint::kPlacementGenerate);
  GeneratePlacementsResult result = AskForPlacements(profile, cycle, group, snapshot, all);
  timer.Finish(result.status.code());
  return result;
}

Status RunScorePlacements(const Profile& profile, Cycle& cycle, const PodGroupInfo& group,
                          const Snapshot& snapshot, std::span<const PodGroupAssignments> placements,
                          std::vector<int64_t>& totals) {
  PointTimer timer(profile, cycle.observer, ExtensionPoint::kPlacementScore);
  totals.assign(placements.size(), 0);
  std::vector<int64_t> scores;
  Status status;
  for (const PlacementScoreEntry& entry : profile.plugins().placement_score) {
    status = ScoresOf(entry, cycle, group, snapshot, placements, scores);
    if (!status.ok()) break;
    for (size_t i = 0; i < totals.size(); ++i) totals[i] += scores[i] * entry.weight;
  }
  timer.Finish(status.code());
  return status;
}

}  // namespace berth::framework
