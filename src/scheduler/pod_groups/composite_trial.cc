// SPDX-License-Identifier: Apache-2.0
#include "src/scheduler/pod_groups/composite_trial.h"

#include <algorithm>
#include <string>
#include <utility>

#include "src/framework/placement_runtime.h"
#include "src/scheduler/pod_groups/placement_choice.h"

namespace berth::scheduler {
namespace {

using AttemptResult = MemberAttempt::Result;

bool AnyPlaced(const PodGroupTree& tree) {
  const std::vector<bool> starting = tree.Starting();
  for (size_t i = 0; i < tree.groups.size(); ++i) {
    if (starting[i] && std::ranges::any_of(tree.groups[i].pods.members, [](const auto& member) {
          return member.result == AttemptResult::kPlaced;
        })) {
      return true;
    }
  }
  return false;
}

framework::Cycle CycleFor(SchedulerState& state, const PodGroupTree& tree) {
  framework::Cycle cycle;
  if (!tree.preview) cycle.observer = &state.observer;
  return cycle;
}

}  // namespace

GroupVerdict CompositeTrial::Run(PodGroupTree& tree, Keep keep, Tries tries) {
  PodGroupTree::Group& root = tree.root();
  if (!tree.composite()) {
    root.verdict = pod_groups_.Run(root.pods, keep, tries);
    return *root.verdict;
  }
  cache::Trial trial = state_.cluster.cache.BeginTrial();
  TryGroup(tree, 0, {.name = "", .nodes = state_.cluster.cache.nodes()}, tries);
  // Enough started before, and nothing comes of what is left.
  if (root.verdict->ok() && !AnyPlaced(tree)) {
    root.verdict = {.code = Code::kUnschedulable, .reasons = {std::string(kPodGroupUnschedulable)}};
  }
  if (root.verdict->ok() && keep == Keep::kPlacements) {
    trial.Commit();
  } else {
    TakeBack(tree, 0);
    trial.Rollback();
  }
  return *root.verdict;
}

GroupVerdict CompositeTrial::TryGroup(PodGroupTree& tree, size_t group, const Placement& parent,
                                      Tries tries) {
  PodGroupTree::Group& tried = tree.groups[group];
  tried.verdict = tried.object.composite != nullptr
                      ? TryPlacements(tree, group, parent, tries)
                      : pod_groups_.RunWithin(tried.pods, parent, tries);
  return *tried.verdict;
}

GroupVerdict CompositeTrial::TryPlacements(PodGroupTree& tree, size_t group,
                                           const Placement& parent, Tries tries) {
  const PodGroupInfo info = tree.Info(group);
  framework::Cycle cycle = CycleFor(state_, tree);
  cycle.observe_plugins = !tree.preview;
  const GeneratePlacementsResult generated =
      framework::RunGeneratePlacements(*tree.profile, cycle, info, state_.cluster.cache, parent);
  if (!generated.status.ok()) {
    StartOver(tree, group);
    return {.code = generated.status.rejected() ? Code::kUnschedulable : Code::kError,
            .reasons = generated.status.reasons()};
  }
  const std::vector<Placement>& placements = generated.placements;
  if (placements.size() == 1) {
    GroupVerdict verdict = TryChildren(tree, group, placements.front(), tries);
    return verdict.code == Code::kUnschedulable ? FitsNowhere(1, verdict) : verdict;
  }
  std::vector<Tried> fits;
  std::optional<Tried> nearest;
  for (const Placement& placement : placements) {
    cache::Trial trial = state_.cluster.cache.BeginTrial();
    const GroupVerdict verdict = TryChildren(tree, group, placement, tries);
    if (verdict.code == Code::kError) return verdict;
    TakeBack(tree, group);
    trial.Rollback();
    tree.groups[group].verdict = verdict;
    Tried tried = Take(tree, group, placement);
    if (verdict.ok()) {
      fits.push_back(std::move(tried));
    } else if (!nearest || tried.placed > nearest->placed) {
      nearest = std::move(tried);
    }
  }
  if (!fits.empty()) return TakeBest(tree, group, cycle, info, std::move(fits));
  const GroupVerdict verdict = *nearest->groups.front().verdict;
  Restore(tree, group, *std::move(nearest));
  return FitsNowhere(placements.size(), verdict);
}

GroupVerdict CompositeTrial::TryChildren(PodGroupTree& tree, size_t group,
                                         const Placement& placement, Tries tries) {
  StartOver(tree, group);
  cache::Trial trial = state_.cluster.cache.BeginTrial();
  GroupVerdict verdict = GoThroughChildren(tree, group, placement, tries);
  if (verdict.ok()) {
    trial.Commit();
    return verdict;
  }
  TakeBack(tree, group);
  trial.Rollback();
  if (verdict.code == Code::kError) StartOver(tree, group);
  return verdict;
}

GroupVerdict CompositeTrial::GoThroughChildren(PodGroupTree& tree, size_t group,
                                               const Placement& placement, Tries tries) {
  const PodGroupTree::Group& tried = tree.groups[group];
  framework::Cycle cycle = CycleFor(state_, tree);
  PlacementProgress progress{.scheduled = 0, .remaining = tried.children.size()};
  std::optional<GroupVerdict> rejected;
  // Whether it is known that too few children fit.
  const auto hopeless = [&](const Status& status) {
    if (status.ok() || status.wait()) return rejected.has_value();
    if (!rejected) rejected = {.code = status.code(), .reasons = status.reasons()};
    return true;
  };
  const auto feasible = [&] {
    return framework::RunPlacementFeasible(*tree.profile, cycle, tried.object, progress);
  };
  Status status = feasible();
  if (hopeless(status) && tries != Tries::kEvery) return *std::move(rejected);
  for (const size_t child : tried.children) {
    const GroupVerdict verdict = TryGroup(tree, child, placement, tries);
    if (verdict.code == Code::kError) {
      return {.code = Code::kError,
              .reasons = {"composite pod group evaluation failed due to child error: " +
                          verdict.message()}};
    }
    --progress.remaining;
    if (verdict.ok()) ++progress.scheduled;
    status = feasible();
    if (hopeless(status) && tries != Tries::kEvery) break;
  }
  if (rejected) return *std::move(rejected);
  if (!status.wait()) return {};
  GroupVerdict verdict{.code = Code::kUnschedulable,
                       .reasons = {std::string(kPodGroupUnschedulable)}};
  verdict.reasons.insert(verdict.reasons.end(), status.reasons().begin(), status.reasons().end());
  return verdict;
}

GroupVerdict CompositeTrial::TakeBest(PodGroupTree& tree, size_t group, framework::Cycle& cycle,
                                      const PodGroupInfo& info, std::vector<Tried> fits) {
  std::vector<PodGroupAssignments> assignments;
  for (const Tried& fit : fits) {
    PodGroupAssignments& proposed = assignments.emplace_back();
    proposed.placement = fit.placement;
    for (size_t i = 0; i < fit.groups.size(); ++i) {
      AddAssignments(state_.cluster.cache, tree.groups[group + i].pods, fit.groups[i].rows,
                     proposed);
    }
  }
  const PlacementChoice choice = ChoosePlacement(state_, *tree.profile, cycle, info, assignments);
  if (choice.status.ok()) return PlaceAgain(tree, group, std::move(fits[choice.best]));
  StartOver(tree, group);
  return {.code = Code::kError, .reasons = choice.status.reasons()};
}

CompositeTrial::Tried CompositeTrial::Take(PodGroupTree& tree, size_t group,
                                           const Placement& placement) const {
  Tried tried{.placement = &placement, .groups = {}, .placed = 0};
  const std::vector<bool> starting = tree.Starting(group);
  for (size_t i = group; i < tree.groups[group].end; ++i) {
    PodGroupTree::Group& from = tree.groups[i];
    Kept& kept = tried.groups.emplace_back();
    tried.placed += static_cast<size_t>(
        std::ranges::count(from.pods.members, AttemptResult::kPlaced, &MemberAttempt::result));
    if (starting[i]) kept.rows = pod_groups_.RowsOf(from.pods);
    kept.verdict = std::exchange(from.verdict, std::nullopt);
    kept.results = PodGroupTrial::Take(from.pods);
  }
  return tried;
}

void CompositeTrial::Restore(PodGroupTree& tree, size_t group, Tried tried) {
  for (size_t i = 0; i < tried.groups.size(); ++i) {
    PodGroupTree::Group& to = tree.groups[group + i];
    to.verdict = std::move(tried.groups[i].verdict);
    PodGroupTrial::Restore(to.pods, std::move(tried.groups[i].results));
  }
}

GroupVerdict CompositeTrial::PlaceAgain(PodGroupTree& tree, size_t group, Tried tried) {
  std::vector<std::vector<NodeRow>> rows;
  for (Kept& kept : tried.groups) rows.push_back(std::move(kept.rows));
  Restore(tree, group, std::move(tried));
  for (size_t i = 0; i < rows.size(); ++i) {
    GroupVerdict verdict = pod_groups_.PlaceAgain(tree.groups[group + i].pods, rows[i]);
    if (verdict.ok()) continue;
    TakeBack(tree, group);
    StartOver(tree, group);
    return verdict;
  }
  return *tree.groups[group].verdict;
}

void CompositeTrial::StartOver(PodGroupTree& tree, size_t group) {
  for (size_t i = group + 1; i < tree.groups[group].end; ++i) {
    tree.groups[i].verdict.reset();
    for (MemberAttempt& member : tree.groups[i].pods.members) member.StartOver();
  }
}

// In reverse, as what is undone may build on what was done before.
void CompositeTrial::TakeBack(PodGroupTree& tree, size_t group) {
  for (size_t i = tree.groups[group].end; i > group; --i)
    pod_groups_.TakeBack(tree.groups[i - 1].pods);
}

}  // namespace berth::scheduler
