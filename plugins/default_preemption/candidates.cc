// SPDX-License-Identifier: Apache-2.0
#include "plugins/default_preemption/candidates.h"

#include <algorithm>
#include <limits>
#include <set>
#include <tuple>
#include <utility>

#include "berth/in_tree/pod_groups.h"

namespace berth::plugins {
namespace {

// Shifts every priority to zero or above, so that one more victim always counts as more.
constexpr int64_t kPriorityShift = int64_t{std::numeric_limits<int32_t>::max()} + 1;

// The criteria, so that a smaller value is better.
using Rank = std::tuple<int64_t, int64_t, int64_t, size_t, Duration>;

Rank RankOf(const Candidate& candidate, Time now) {
  int64_t sum = 0;
  int32_t highest = std::numeric_limits<int32_t>::min();
  Time earliest = now;
  for (const PodInfo* victim : candidate.victims) {
    sum += victim->priority() + kPriorityShift;
    const Time start = victim->start_time.value_or(now);
    if (victim->priority() > highest) {
      highest = victim->priority();
      earliest = start;
    } else if (victim->priority() == highest) {
      earliest = std::min(earliest, start);
    }
  }
  return {candidate.num_pdb_violations, candidate.victims.front()->priority(), sum,
          candidate.victims.size(), now - earliest};
}

// Few pods as a rule; std::stable_sort would allocate for each node.
template <typename T, typename Before>
void StableSort(std::vector<T>& values, Before before) {
  constexpr size_t kFew = 32;
  if (values.size() > kFew) {
    std::stable_sort(values.begin(), values.end(), before);
    return;
  }
  for (size_t i = 1; i < values.size(); ++i) {
    T value = values[i];
    size_t at = i;
    for (; at > 0 && before(value, values[at - 1]); --at) values[at] = values[at - 1];
    values[at] = value;
  }
}

Time EarliestStart(const Victim& victim, Time now) {
  Time earliest = Time::max();
  for (const PlacedPod& pod : victim.pods()) {
    earliest = std::min(earliest, pod.info->start_time.value_or(now));
  }
  return earliest;
}

}  // namespace

void OrderForReprieve(std::vector<RankedVictim>& victims, DisruptionBudgets& budgets, Time now) {
  // Stable: victims that nothing tells apart are spared in the order in which they came.
  StableSort(victims, [now](const RankedVictim& a, const RankedVictim& b) {
    return MoreImportant(a.victim, b.victim, now);
  });
  budgets.Restart();
  bool any_broken = false;
  for (RankedVictim& ranked : victims) {
    ranked.broken_budgets = std::ranges::count_if(
        ranked.victim.pods(),
        [&budgets](const PlacedPod& pod) { return budgets.Violates(*pod.info); });
    any_broken = any_broken || ranked.broken_budgets > 0;
  }
  if (!any_broken) return;
  std::ranges::stable_partition(
      victims, [](const RankedVictim& ranked) { return ranked.broken_budgets > 0; });
}

void SortEvicted(std::vector<RankedVictim>& victims, Time now) {
  // As kube-scheduler has it, those that have not started did so in the order of the list.
  const auto not_started = [](const Victim& victim) {
    return victim.group() == nullptr && !victim.pods().front().info->start_time;
  };
  StableSort(victims, [&](const RankedVictim& a, const RankedVictim& b) {
    if (MoreImportant(a.victim, b.victim, now)) return true;
    return !MoreImportant(b.victim, a.victim, now) && not_started(a.victim) &&
           not_started(b.victim) && a.position < b.position;
  });
}

Status VictimSelection::Select(NodeRow row, Candidate& candidate, const Status& no_victims) {
  Status status;
  if (known_ != nullptr && known_->Recall(snapshot_, row, now_, candidate, status)) return status;
  status = Seek(row, candidate, no_victims);
  if (known_ != nullptr) Remember(candidate, status);
  return status;
}

// A group that is evicted whole has pods on other nodes. Time orders pods by whether they have
// started, so it makes no difference once all have that ever will.
void VictimSelection::Remember(const Candidate& candidate, const Status& status) {
  Time last_start = Time::min();
  for (const Victim& victim : on_node_) {
    if (victim.group() != nullptr) return;
    last_start = std::max(last_start, victim.pods().front().info->start_time.value_or(Time::min()));
  }
  known_->Remember(snapshot_, candidate, status, last_start, now_);
}

void VictimSelection::FindPotential(const std::vector<Victim>& on_node,
                                    std::vector<RankedVictim>& potential) {
  for (const Victim& victim : on_node) {
    if (victim.priority() < pod_.priority()) potential.push_back({victim, 0, potential.size()});
  }
}

Status VictimSelection::Seek(NodeRow row, Candidate& candidate, const Status& no_victims) {
  candidate.row = row;
  candidate.victims.clear();
  candidate.num_pdb_violations = 0;
  on_node_.clear();
  potential_.clear();
  evicted_.clear();
  victims_.OnNode(row, on_node_);
  FindPotential(on_node_, potential_);
  if (potential_.empty()) return no_victims;

  dry_run_.Begin(row);
  for (const RankedVictim& ranked : potential_) {
    if (Status status = Remove(ranked.victim); !status.ok()) return status;
  }
  if (Status status = dry_run_.Filter(); !status.ok()) return status;
  if (Status status = MayRun(); !status.ok()) return status;

  OrderForReprieve(potential_, budgets_, now_);
  for (const RankedVictim& ranked : potential_) {
    if (Status status = Reprieve(ranked); !status.ok()) return status;
  }
  SortEvicted(evicted_, now_);
  for (const RankedVictim& ranked : evicted_) {
    candidate.num_pdb_violations += ranked.broken_budgets;
    for (const PlacedPod& pod : ranked.victim.pods()) candidate.victims.push_back(pod.info);
  }
  return Status::Success();
}

Status VictimSelection::Remove(const Victim& victim) {
  for (const PlacedPod& pod : victim.pods()) {
    if (Status status = dry_run_.RemovePod(*pod.info, pod.row); !status.ok()) return status;
  }
  return Status::Success();
}

Status VictimSelection::Reprieve(const RankedVictim& ranked) {
  for (const PlacedPod& pod : ranked.victim.pods()) {
    if (Status status = dry_run_.AddPod(*pod.info, pod.row); !status.ok()) return status;
  }
  NoteBack(ranked.victim);
  if (dry_run_.Filter().ok() && MayStillRun()) return Status::Success();
  if (Status status = Remove(ranked.victim); !status.ok()) return status;
  NoteGone(ranked.victim);
  evicted_.push_back(ranked);
  return Status::Success();
}

std::vector<size_t> BestCandidates(std::span<const Candidate> candidates, Time now) {
  std::vector<size_t> best;
  Rank best_rank{};
  for (size_t i = 0; i < candidates.size(); ++i) {
    const Rank rank = RankOf(candidates[i], now);
    if (best.empty() || rank < best_rank) {
      best.clear();
      best_rank = rank;
    }
    if (rank == best_rank) best.push_back(i);
  }
  return best;
}

size_t PickCandidate(std::span<const Candidate> candidates, Time now, Random& random) {
  const std::vector<size_t> best = BestCandidates(candidates, now);
  return best.size() == 1 ? best.front() : best[random.Below(best.size())];
}

void DisruptionBudgets::Restart() { ++round_; }

std::vector<DisruptionBudgets::Budget>& DisruptionBudgets::InNamespace(
    const std::string& namespace_) {
  const auto [it, added] = by_namespace_.try_emplace(namespace_);
  if (!added) return it->second;
  std::vector<Budget>& budgets = it->second;
  listers_.ForEach<api::PodDisruptionBudget>(
      namespace_, [&](const api::PodDisruptionBudget& object) {
        auto selector = LabelSelectorMatcher::Make(object.spec.selector);
        if (!selector || selector->nothing() || selector->everything()) return;
        budgets.push_back({&object, std::move(*selector), 0, 0});
      });
  return budgets;
}

bool DisruptionBudgets::Violates(const PodInfo& pod) {
  const api::ObjectMeta& metadata = pod.pod->metadata;
  if (metadata.labels.empty()) return false;
  for (Budget& budget : InNamespace(metadata.namespace_)) {
    if (!budget.selector.Matches(metadata.labels)) continue;
    const api::PodDisruptionBudgetStatus& status = budget.object->status;
    // The API server has granted this eviction already and taken it off the budget.
    if (std::any_of(status.disrupted_pods.begin(), status.disrupted_pods.end(),
                    [&](const auto& disrupted) { return disrupted.first == metadata.name; })) {
      continue;
    }
    if (std::exchange(budget.round, round_) != round_) budget.allowed = status.disruptions_allowed;
    if (--budget.allowed < 0) return true;
  }
  return false;
}

bool TerminatingByPreemption(const api::Pod& pod) {
  if (!pod.metadata.deletion_timestamp) return false;
  const auto& conditions = pod.status.conditions;
  return std::any_of(conditions.begin(), conditions.end(), [](const api::PodCondition& condition) {
    return condition.type == "DisruptionTarget" && condition.status == "True" &&
           condition.reason == "PreemptionByScheduler";
  });
}

bool MoreImportant(const Victim& a, const Victim& b, Time now) {
  if (a.priority() != b.priority()) return a.priority() > b.priority();
  if (a.disrupts() != b.disrupts()) return a.disrupts() > b.disrupts();
  if (a.pods().size() != b.pods().size()) return a.pods().size() > b.pods().size();
  return EarliestStart(a, now) < EarliestStart(b, now);
}

const api::PodGroup* Victims::GroupOf(const PodInfo& pod) const {
  const std::string* name = groups_on_ ? PodGroupNameOf(*pod.pod) : nullptr;
  if (name == nullptr) return nullptr;
  const api::PodGroup* group =
      handle_.listers().Find<api::PodGroup>(pod.pod->metadata.namespace_, *name);
  // Pods of those of scheduling.x-k8s.io are evicted like any others.
  return group == nullptr || group->coscheduling ? nullptr : group;
}

int32_t Victims::PriorityOf(const PodInfo& pod) const {
  const api::PodGroup* group = GroupOf(pod);
  return group == nullptr ? pod.priority() : Find(*group).priority;
}

Victims::Disruption Victims::Find(const api::PodGroup& group) const {
  Disruption disruption;
  const std::string* parent = nullptr;
  const auto add = [&](const auto& object, Disrupts disrupts) {
    disruption.priority = object.spec.priority.value_or(0);
    if (object.spec.disruption_mode && object.spec.disruption_mode->all) {
      disruption.evicted_with = &object.metadata;
      disruption.disrupts = disrupts;
    }
    const auto& name = object.spec.parent_composite_pod_group_name;
    parent = trees_on_ && name ? &*name : nullptr;
  };
  add(group, Disrupts::kPodGroup);
  for (int depth = 2; parent != nullptr && depth <= kMaxPodGroupTreeDepth; ++depth) {
    const api::CompositePodGroup* composite =
        handle_.listers().Find<api::CompositePodGroup>(group.metadata.namespace_, *parent);
    if (composite == nullptr) break;
    add(*composite, Disrupts::kCompositePodGroup);
  }
  return disruption;
}

const Victims::Disruption& Victims::DisruptionOf(const api::PodGroup& group) {
  const auto [it, added] = disruptions_.try_emplace(&group);
  if (added) it->second = Find(group);
  return it->second;
}

// Once for all groups: a group is rarely alone.
void Victims::FindPodsOfGroups() {
  if (has_pods_) return;
  has_pods_ = true;
  snapshot_.nodes().ForEach([&](NodeRow row) {
    for (const PodInfo* pod : snapshot_.pods(row)) {
      const api::PodGroup* object = GroupOf(*pod);
      if (object == nullptr) continue;
      const api::ObjectMeta* whole = DisruptionOf(*object).evicted_with;
      if (whole != nullptr) groups_[whole].pods.push_back({pod, row});
    }
  });
}

void Victims::Add(NodeRow row, std::vector<Victim>& victims) {
  for (const PodInfo* pod : snapshot_.pods(row)) {
    const bool may_have_group = groups_on_ && PodGroupNameOf(*pod->pod) != nullptr;
    const api::PodGroup* object = may_have_group ? GroupOf(*pod) : nullptr;
    if (object == nullptr) {
      victims.emplace_back(PlacedPod{pod, row}, pod->priority(),
                           may_have_group ? Disrupts::kPodGroup : Disrupts::kPod);
      continue;
    }
    const Disruption& disruption = DisruptionOf(*object);
    if (disruption.evicted_with == nullptr) {
      victims.emplace_back(PlacedPod{pod, row}, disruption.priority, disruption.disrupts);
      continue;
    }
    FindPodsOfGroups();
    Group& group = groups_[disruption.evicted_with];
    if (std::exchange(group.listed_in, lists_) != lists_) {
      victims.emplace_back(group.pods, disruption.priority, disruption.disrupts);
    }
  }
}

void Victims::OnNode(NodeRow row, std::vector<Victim>& victims) {
  ++lists_;
  Add(row, victims);
}

std::vector<PodGroupState::Member> Victims::OnGoneNodes(
    const std::vector<const PodInfo*>& evicted) {
  std::vector<PodGroupState::Member> found;
  std::set<const api::ObjectMeta*> seen;
  for (const PodInfo* pod : evicted) {
    const api::PodGroup* object = GroupOf(*pod);
    if (object == nullptr) continue;
    const Disruption& disruption = DisruptionOf(*object);
    const api::ObjectMeta* whole = disruption.evicted_with;
    if (whole == nullptr || !seen.insert(whole).second) continue;
    const PodGroupForest& forest = handle_.pod_group_forest();
    const PodGroupNode* group = disruption.disrupts == Disrupts::kCompositePodGroup
                                    ? forest.FindComposite(whole->namespace_, whole->name)
                                    : forest.Find(whole->namespace_, whole->name);
    if (group != nullptr) AddOnGoneNodes(*group, 1, found);
  }
  return found;
}

void Victims::AddOnGoneNodes(const PodGroupNode& group, int depth,
                             std::vector<PodGroupState::Member>& found) const {
  if (!group.object || depth > kMaxPodGroupTreeDepth) return;
  for (const PodGroupNode* child : group.children) AddOnGoneNodes(*child, depth + 1, found);
  if (group.composite) return;
  const api::ObjectMeta& metadata = group.object.metadata();
  const PodGroupState* state = handle_.pod_groups().Find(metadata.namespace_, metadata.name);
  if (state == nullptr) return;
  for (const auto& [uid, member] : state->members) {
    if (member.placed && snapshot_.FindNode(member.node_name) == kNoRow) found.push_back(member);
  }
}

std::vector<Victim> Victims::InCluster() {
  ++lists_;
  std::vector<Victim> victims;
  snapshot_.nodes().ForEach([&](NodeRow row) { Add(row, victims); });
  return victims;
}

}  // namespace berth::plugins
