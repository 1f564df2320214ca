// SPDX-License-Identifier: Apache-2.0
#include "src/scheduler/pod_group_trial.h"

#include <algorithm>
#include <string>
#include <utility>

#include "src/framework/placement_runtime.h"
#include "src/scheduler/gang_search.h"

namespace berth::scheduler {
namespace {

using Result = MemberAttempt::Result;

size_t NumPlaced(const PodGroupAttempt& group) {
  return static_cast<size_t>(
      std::ranges::count(group.members, Result::kPlaced, &MemberAttempt::result));
}

// The verdict on the whole group from that on one of its placements.
GroupVerdict FitsNowhere(size_t placements, const GroupVerdict& one) {
  const bool of_group = !one.reasons.empty() && one.reasons.front() == kPodGroupUnschedulable;
  return {.code = Code::kUnschedulable,
          .reasons = {std::string(kPodGroupUnschedulable),
                      "0/" + std::to_string(placements) +
                          " placements are available, first placement status: " +
                          (of_group ? std::string(kPodGroupUnschedulable) : one.message())}};
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
    verdict = TryPlacements(group, tries, placements);
  } else {
    verdict = members_.Run(group, {.tries = tries});
    placements.push_back({.name = "", .nodes = state_.cache.nodes()});
  }
  if (verdict.code == Code::kUnschedulable && !placements.empty() && GangSearch::MayHelp(group)) {
    verdict = Search(group, placements, std::move(verdict));
  }
  if (verdict.ok() && keep == Keep::kPlacements) {
    trial.Commit();
  } else {
    members_.TakeBack(group);
    trial.Rollback();
  }
  return verdict;
}

GroupVerdict PodGroupTrial::TryPlacements(PodGroupAttempt& group, Tries tries,
                                          std::vector<Placement>& placements) {
  const PodGroupInfo info = group.Info();
  framework::Cycle cycle;
  if (!group.preview) cycle.observer = &state_.observer;
  cycle.observe_plugins = !group.preview;
  GeneratePlacementsResult generated = framework::RunGeneratePlacements(
      *group.profile, cycle, info, state_.cache, {.name = "", .nodes = state_.cache.nodes()});
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
    const bool placed = member.result == Result::kPlaced;
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
  const Fit* best = &fits.front();
  if (fits.size() > 1) {
    std::vector<PodGroupAssignments> assignments;
    for (const Fit& fit : fits) {
      PodGroupAssignments& proposed = assignments.emplace_back();
      proposed.placement = fit.placement;
      for (size_t i = 0; i < fit.rows.size(); ++i) {
        if (fit.rows[i] == kNoRow) continue;
        proposed.assignments.push_back(
            {group.members[i].attempt.info().get(), state_.cache.node(fit.rows[i]).metadata.name});
      }
    }
    std::vector<int64_t> totals;
    if (const Status status = framework::RunScorePlacements(*group.profile, cycle, info,
                                                            state_.cache, assignments, totals);
        !status.ok()) {
      for (MemberAttempt& member : group.members) member.StartOver();
      return {.code = Code::kError, .reasons = status.reasons()};
    }
    const int64_t most = *std::ranges::max_element(totals);
    const auto ties = static_cast<uint64_t>(std::ranges::count(totals, most));
    uint64_t skip = ties == 1 ? 0 : state_.random.Below(ties);
    for (size_t i = 0; i < totals.size(); ++i) {
      if (totals[i] != most) continue;
      best = &fits[i];
      if (skip-- == 0) break;
    }
  }
  return members_.Run(group, {.placement = NodesOf(*best->placement), .rows = best->rows});
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
