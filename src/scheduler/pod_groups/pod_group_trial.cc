// SPDX-License-Identifier: Apache-2.0
#include "src/scheduler/pod_groups/pod_group_trial.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "src/framework/placement_runtime.h"
#include "src/scheduler/pod_groups/placement_choice.h"

namespace berth::scheduler {
namespace {

// Looks for a place for a gang of unequal pods that does not fit in the order of the queue: the
// largest pods first, then those first that found no node, and in the end with other nodes than the
// best ones. Ends after a number of decisions, whatever they cost in time, so the same messages and
// seed give the same decisions.
//
// Thread safety: the scheduling thread.
class GangSearch {
 public:
  // Both must outlive the search, which may make `steps` decisions in all.
  GangSearch(SchedulerState& state, MembersTrial& members, size_t steps)
      : state_(state), members_(members), steps_(steps) {}

  // Whether another order may help a group that was tried: it is a gang whose pods differ.
  static bool MayHelp(const PodGroupAttempt& group);

  // Within the placement (nullptr: all nodes). Success: the members are placed, assumed and
  // reserved. Unschedulable: nothing is placed. Error: a plugin failed; as Unschedulable.
  GroupVerdict Run(PodGroupAttempt& group, const NodeSet* placement);
  // After Run() found nothing: how close it came and what was missing.
  std::string NearestMiss() const;

 private:
  // The nodes that led nowhere for a member, given where those before it are.
  using Ruled = std::optional<NodeSet>;

  enum class Outcome { kFits, kDoesNotFit, kOutOfSteps, kError };
  // Tries the members in `order_`; where that leads nowhere, other nodes for those before, if
  // `back` is set. Unless the group fits, takes all back.
  Outcome Try(PodGroupAttempt& group, const NodeSet* placement, bool back);
  // Takes back the last members up to one that had a node, which it may not have again.
  bool StepBack(PodGroupAttempt& group);
  void SortBySize(const PodGroupAttempt& group, const NodeSet* placement);
  void Note(size_t placed, const MemberAttempt& missing);

  SchedulerState& state_;
  MembersTrial& members_;
  size_t steps_;
  std::vector<size_t> order_;  // of the members
  std::vector<Ruled> ruled_;   // by place in order_
  NodeSet left_;               // what is not ruled out
  size_t depth_ = 0;           // members tried, in order_
  size_t failed_ = 0;          // the member that had no node when the last try ended
  std::string error_;
  // The try that placed most.
  size_t best_ = 0;
  size_t size_ = 0;
  std::string missing_;
};

using AttemptResult = MemberAttempt::Result;

// What the pods ask for most of, as a part of what the largest node has of it.
class Shares {
 public:
  Shares(const cache::Cache& cache, const NodeSet* placement)
      : cache_(cache), nodes_(placement == nullptr ? cache.nodes() : *placement) {}

  double Of(const PodInfo& pod) {
    const Resources& requests = pod.requests;
    double share = std::max({Share(kCpu, requests.milli_cpu), Share(kMemory, requests.memory),
                             Share(kEphemeralStorage, requests.ephemeral_storage)});
    for (const auto& [id, amount] : requests.scalars) share = std::max(share, Share(id, amount));
    return share;
  }

 private:
  double Share(ResourceId id, int64_t amount) {
    if (amount <= 0) return 0;
    const auto [known, is_new] = largest_.try_emplace(id, 0);
    if (is_new) {
      const Column allocatable = cache_.allocatable(id);
      nodes_.ForEach(
          [&](NodeRow row) { known->second = std::max(known->second, allocatable[row]); });
    }
    // What no node has is asked for first.
    return known->second == 0 ? 2.0
                              : static_cast<double>(amount) / static_cast<double>(known->second);
  }

  const cache::Cache& cache_;
  const NodeSet& nodes_;
  std::map<ResourceId, int64_t> largest_;
};

bool GangSearch::MayHelp(const PodGroupAttempt& group) {
  const auto tried = [](const MemberAttempt& member) {
    return member.result != AttemptResult::kUntried;
  };
  if (!group.object->spec.scheduling_policy.gang || std::ranges::none_of(group.members, tried)) {
    return false;
  }
  const PodInfo& first = *group.members.front().attempt.info();
  return std::ranges::any_of(group.members, [&](const MemberAttempt& member) {
    const PodInfo& pod = *member.attempt.info();
    return pod.pod_class == kNoPodClass || pod.pod_class != first.pod_class;
  });
}

GroupVerdict GangSearch::Run(PodGroupAttempt& group, const NodeSet* placement) {
  size_ = group.members.size();
  SortBySize(group, placement);
  std::set<std::vector<size_t>> tried;
  Outcome outcome = Outcome::kDoesNotFit;
  while (outcome == Outcome::kDoesNotFit && tried.insert(order_).second) {
    outcome = Try(group, placement, false);
    if (outcome != Outcome::kDoesNotFit) break;
    // Who found no node comes first the next time.
    const auto failed = std::ranges::find(order_, failed_);
    std::rotate(order_.begin(), failed, failed + 1);
  }
  if (outcome == Outcome::kDoesNotFit) outcome = Try(group, placement, true);
  if (outcome == Outcome::kFits) return {};
  if (outcome == Outcome::kError) return {.code = Code::kError, .reasons = {error_}};
  return {.code = Code::kUnschedulable, .reasons = {}};
}

GangSearch::Outcome GangSearch::Try(PodGroupAttempt& group, const NodeSet* placement, bool back) {
  framework::Cycle cycle;
  if (!group.preview) cycle.observer = &state_.observer;
  const api::ObjectMeta& metadata = group.object->metadata;
  const PodGroupState* known = state_.cluster.pod_groups.Find(metadata.namespace_, metadata.name);
  const size_t before = known == nullptr ? 0 : known->scheduled;
  members_.Begin(group);
  ruled_.assign(order_.size(), std::nullopt);
  depth_ = 0;
  Status status;
  while (depth_ < order_.size()) {
    if (steps_ == 0) {
      members_.TakeBack(group);
      return Outcome::kOutOfSteps;
    }
    --steps_;
    MemberAttempt& member = group.members[order_[depth_]];
    const NodeSet* nodes = placement;
    if (ruled_[depth_]) {
      left_ = placement == nullptr ? state_.cluster.cache.nodes() : *placement;
      left_ -= *ruled_[depth_];
      nodes = &left_;
    }
    members_.TryMember(group, order_[depth_], nodes);
    ++depth_;
    if (member.result == AttemptResult::kError) {
      error_ = "failed to schedule other pod from a pod group: " + member.failure.message;
      members_.TakeBack(group);
      return Outcome::kError;
    }
    const size_t placed = static_cast<size_t>(
        std::ranges::count(group.members, AttemptResult::kPlaced, &MemberAttempt::result));
    status = framework::RunPlacementFeasible(*group.profile, cycle, {.pod_group = group.object},
                                             {before + placed, order_.size() - depth_});
    if (status.ok() || status.wait()) continue;
    if (status.code() == Code::kError) {
      error_ = "failed to evaluate placement feasibility: " + status.message();
      members_.TakeBack(group);
      return Outcome::kError;
    }
    if (!ruled_[depth_ - 1]) Note(placed, member);
    failed_ = order_[depth_ - 1];
    if (!back || !StepBack(group)) {
      members_.TakeBack(group);
      return Outcome::kDoesNotFit;
    }
  }
  if (status.ok()) return Outcome::kFits;
  members_.TakeBack(group);
  return Outcome::kDoesNotFit;
}

bool GangSearch::StepBack(PodGroupAttempt& group) {
  while (depth_ > 0) {
    --depth_;
    const MemberAttempt& member = group.members[order_[depth_]];
    const bool placed = member.result == AttemptResult::kPlaced;
    const NodeRow row = placed ? state_.cluster.cache.FindNode(member.node_name) : kNoRow;
    members_.TakeBackLast(group);
    if (depth_ + 1 < ruled_.size()) ruled_[depth_ + 1].reset();
    if (!placed) continue;
    if (!ruled_[depth_]) ruled_[depth_].emplace(state_.cluster.cache.num_rows());
    ruled_[depth_]->Set(row);
    return true;
  }
  return false;
}

void GangSearch::SortBySize(const PodGroupAttempt& group, const NodeSet* placement) {
  Shares shares(state_.cluster.cache, placement);
  std::vector<double> size;
  for (const MemberAttempt& member : group.members) {
    size.push_back(shares.Of(*member.attempt.info()));
  }
  order_.resize(group.members.size());
  std::iota(order_.begin(), order_.end(), size_t{0});
  std::ranges::stable_sort(order_, [&size](size_t a, size_t b) { return size[a] > size[b]; });
}

void GangSearch::Note(size_t placed, const MemberAttempt& missing) {
  if (!missing_.empty() && placed <= best_) return;
  best_ = placed;
  missing_ = missing.attempt.pod().metadata.Key() + ": " + missing.failure.message;
}

std::string GangSearch::NearestMiss() const {
  if (missing_.empty()) return "";
  return "in other orders at most " + std::to_string(best_) + " of " + std::to_string(size_) +
         " pods fit, but not " + missing_;
}

using AttemptResult = MemberAttempt::Result;

size_t NumPlaced(const PodGroupAttempt& group) {
  return static_cast<size_t>(
      std::ranges::count(group.members, AttemptResult::kPlaced, &MemberAttempt::result));
}

}  // namespace

PodGroupTrial::Results PodGroupTrial::Take(PodGroupAttempt& group) {
  Results results{.members = {group.members.begin(), group.members.end()}, .cycles = {}};
  for (MemberAttempt& member : group.members) {
    framework::Cycle fresh = member.attempt.cycle.Fresh();
    results.cycles.push_back(std::exchange(member.attempt.cycle, std::move(fresh)));
  }
  return results;
}

void PodGroupTrial::Restore(PodGroupAttempt& group, Results results) {
  for (size_t i = 0; i < results.members.size(); ++i) {
    static_cast<MemberResult&>(group.members[i]) = std::move(results.members[i]);
    group.members[i].attempt.cycle = std::move(results.cycles[i]);
  }
}

GroupVerdict PodGroupTrial::Run(PodGroupAttempt& group, Keep keep, Tries tries) {
  cache::Trial trial = state_.cluster.cache.BeginTrial();
  GroupVerdict verdict;
  std::vector<Placement> placements;
  if (state_.features.topology_aware_workload_scheduling) {
    verdict = TryPlacements(group, {.name = "", .nodes = state_.cluster.cache.nodes()}, tries,
                            placements);
  } else {
    verdict = members_.Run(group, {.tries = tries});
    placements.push_back({.name = "", .nodes = state_.cluster.cache.nodes()});
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
  cache::Trial trial = state_.cluster.cache.BeginTrial();
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
      framework::RunGeneratePlacements(*group.profile, cycle, info, state_.cluster.cache, parent);
  if (!generated.status.ok()) {
    for (MemberAttempt& member : group.members) member.StartOver();
    return {.code = generated.status.rejected() ? Code::kUnschedulable : Code::kError,
            .reasons = generated.status.reasons()};
  }
  placements = std::move(generated.placements);
  if (!group.preview) state_.observer.ObserveGeneratedPlacements(*group.profile, placements.size());
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
               fits.empty() && (nearest.results.members.empty() || placed > nearest.placed)) {
      nearest = {Take(group), verdict, placed};
    }
  }
  if (!fits.empty()) return TakeBest(group, cycle, info, fits);
  Restore(group, std::move(nearest.results));
  return FitsNowhere(placements.size(), nearest.verdict);
}

std::vector<NodeRow> PodGroupTrial::RowsOf(const PodGroupAttempt& group) const {
  std::vector<NodeRow> rows;
  for (const MemberAttempt& member : group.members) {
    const bool placed = member.result == AttemptResult::kPlaced;
    rows.push_back(placed ? state_.cluster.cache.FindNode(member.node_name) : kNoRow);
  }
  return rows;
}

GroupVerdict PodGroupTrial::TryAside(PodGroupAttempt& group, const MembersPlan& plan) {
  cache::Trial trial = state_.cluster.cache.BeginTrial();
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
    AddAssignments(state_.cluster.cache, group, fit.rows, proposed);
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
  Results results = Take(group);
  GangSearch search(state_, members_, steps);
  for (const Placement& placement : placements) {
    GroupVerdict found = search.Run(group, NodesOf(placement));
    if (found.code != Code::kUnschedulable) return found;
  }
  Restore(group, std::move(results));
  if (std::string miss = search.NearestMiss(); !miss.empty()) {
    verdict.reasons.push_back(std::move(miss));
  }
  return verdict;
}

const NodeSet* PodGroupTrial::NodesOf(const Placement& placement) const {
  return placement.nodes == state_.cluster.cache.nodes() ? nullptr : &placement.nodes;
}

}  // namespace berth::scheduler
