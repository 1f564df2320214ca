// SPDX-License-Identifier: Apache-2.0
#include "src/scheduler/pod_group_trial.h"

#include <algorithm>
#include <string>
#include <utility>

#include "src/framework/placement_runtime.h"
#include "src/scheduler/gang_search.h"
#include "src/scheduler/placement_choice.h"

namespace berth::scheduler {
namespace {

using AttemptResult = MemberAttempt::Result;

size_t NumPlaced(const PodGroupAttempt& group) {
  return static_cast<size_t>(
      std::ranges::count(group.members, AttemptResult::kPlaced, &MemberAttempt::result));
}

}  // namespace

PodGroupTrial::Told PodGroupTrial::Take(PodGroupAttempt& group) {
  Told told{.members = {group.members.begin(), group.members.end()}, .cycles = {}};
  for (MemberAttempt& member : group.members) {
    framework::Cycle fresh = member.attempt.cycle.Fresh();
    told.cycles.push_back(std::exchange(member.attempt.cycle, std::move(fresh)));
  }
  return told;
}

void PodGroupTrial::Restore(PodGroupAttempt& group, Told told) {
  for (size_t i = 0; i < told.members.size(); ++i) {
    static_cast<MemberResult&>(group.members[i]) = std::move(told.members[i]);
    group.members[i].attempt.cycle = std::move(told.cycles[i]);
  }
}

GroupVerdict PodGroupTrial::Run(PodGroupAttempt& group, Keep keep, Tries tries) {
  cache::Trial trial = state_.cache.BeginTrial();
  GroupVerdict verdict;
  std::vector<Placement> placements;
  if (state_.features.topology_aware_workload_scheduling) {
    verdict = TryPlacements(group, {.name = "", .nodes = state_.cache.nodes()}, tries, placements);
  } else {
    verdict = members_.Run(group, {.tries = tries});
    placements.push_back({.name = "", .nodes = state_.cache.nodes()});
  }
  if (verdict.code == Code::kUnschedulable && !placements.empty() && GangSearch::MayHelp(group)) {
    verdict = Search(group, placements, std::move(verdict));
  }
  // Enough started before, and nothing comes of those that are left.
  if (verdict.ok() && NumPlaced(group) == 0) {
    verdict = {.code = Code::kUnschedulable, .reasons = {std::string(kPodGroupUnschedulable)}};
  }
  if (verdict.ok() && keep == Keep::kPlacements) {
    trial.Commit();
  } else {
    members_.TakeBack(group);
    trial.Rollback();
  }
  return verdict;
}

GroupVerdict PodGroupTrial::RunWithin(PodGroupAttempt& group, const Placement& parent,
                                      Tries tries) {
  cache::Trial trial = state_.cache.BeginTrial();
  std::vector<Placement> placements;
  GroupVerdict verdict = TryPlacements(group, parent, tries, placements);
  if (verdict.ok()) {
    trial.Commit();
  } else {
    members_.TakeBack(group);
    trial.Rollback();
  }
  return verdict;
}

GroupVerdict PodGroupTrial::TryPlacements(PodGroupAttempt& group, const Placement& parent,
                                          Tries tries, std::vector<Placement>& placements) {
  const PodGroupInfo info = group.Info();
  framework::Cycle cycle;
  if (!group.preview) cycle.observer = &state_.observer;
  cycle.observe_plugins = !group.preview;
  GeneratePlacementsResult generated =
      framework::RunGeneratePlacements(*group.profile, cycle, info, state_.cache, parent);
  if (!generated.status.ok()) {
    for (MemberAttempt& member : group.members) member.StartOver();
    return {.code = generated.status.rejected() ? Code::kUnschedulable : Code::kError,
            .reasons = generated.status.reasons()};
  }
  placements = std::move(generated.placements);
  if (!group.preview) {
    state_.observer.ObserveGeneratedPlacements(*group.profile, placements.size());
  }
  const bool only = placements.size() == 1;
  std::vector<Fit> fits;
  NearMiss nearest;
  for (const Placement& placement : placements) {
    const Time start = state_.clock.Now();
    const MembersPlan plan{.placement = NodesOf(placement), .tries = tries};
    GroupVerdict verdict = only ? members_.Run(group, plan) : TryAside(group, plan);
    if (verdict.code == Code::kError) return verdict;
    if (!group.preview) {
      state_.observer.ObservePlacement(*group.profile, verdict.ok(), state_.clock.Now() - start);
    }
    if (only) return verdict.ok() ? verdict : FitsNowhere(1, verdict);
    if (verdict.ok()) {
      fits.push_back({&placement, RowsOf(group)});
    } else if (const size_t placed = NumPlaced(group);
               fits.empty() && (nearest.told.members.empty() || placed > nearest.placed)) {
      nearest = {Take(group), verdict, placed};
    }
  }
  if (!fits.empty()) return TakeBest(group, cycle, info, fits);
  Restore(group, std::move(nearest.told));
  return FitsNowhere(placements.size(), nearest.verdict);
}

std::vector<NodeRow> PodGroupTrial::RowsOf(const PodGroupAttempt& group) const {
  std::vector<NodeRow> rows;
  for (const MemberAttempt& member : group.members) {
    const bool placed = member.result == AttemptResult::kPlaced;
    rows.push_back(placed ? state_.cache.FindNode(member.node_name) : kNoRow);
  }
  return rows;
}

GroupVerdict PodGroupTrial::TryAside(PodGroupAttempt& group, const MembersPlan& plan) {
  cache::Trial trial = state_.cache.BeginTrial();
  GroupVerdict verdict = members_.Run(group, plan);
  members_.TakeBack(group);
  trial.Rollback();
  return verdict;
}

GroupVerdict PodGroupTrial::TakeBest(PodGroupAttempt& group, framework::Cycle& cycle,
                                     const PodGroupInfo& info, const std::vector<Fit>& fits) {
  std::vector<PodGroupAssignments> assignments;
  for (const Fit& fit : fits) {
    PodGroupAssignments& proposed = assignments.emplace_back();
    proposed.placement = fit.placement;
    AddAssignments(state_.cache, group, fit.rows, proposed);
  }
  const PlacementChoice choice = ChoosePlacement(state_, *group.profile, cycle, info, assignments);
  if (!choice.status.ok()) {
    for (MemberAttempt& member : group.members) member.StartOver();
    return {.code = Code::kError, .reasons = choice.status.reasons()};
  }
  const Fit& best = fits[choice.best];
  return members_.Run(group, {.placement = NodesOf(*best.placement), .rows = best.rows});
}

GroupVerdict PodGroupTrial::Search(PodGroupAttempt& group, std::span<const Placement> placements,
                                   GroupVerdict verdict) {
  size_t steps = 0;
  for (const auto& entry : group.profile->plugins().placement_feasible) {
    steps = std::max(steps, entry.plugin->search_steps());
  }
  if (steps == 0) return verdict;
  members_.TakeBack(group);
  Told told = Take(group);
  GangSearch search(state_, members_, steps);
  for (const Placement& placement : placements) {
    GroupVerdict found = search.Run(group, NodesOf(placement));
    if (found.code != Code::kUnschedulable) return found;
  }
  Restore(group, std::move(told));
  if (std::string miss = search.NearestMiss(); !miss.empty()) {
    verdict.reasons.push_back(std::move(miss));
  }
  return verdict;
}

const NodeSet* PodGroupTrial::NodesOf(const Placement& placement) const {
  return placement.nodes == state_.cache.nodes() ? nullptr : &placement.nodes;
}

}  // namespace berth::scheduler
