// SPDX-License-Identifier: Apache-2.0
#include "src/questions/fixes.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "src/explain/near_misses.h"
#include "src/informers/kinds.h"
#include "src/questions/changes.h"
#include "src/questions/commands.h"
#include "src/questions/proposals.h"

namespace berth::questions {
namespace {

using engine::Judgement;
using explain::Change;

int64_t CostOf(const explain::Uncordon&) { return 10; }
// 10, and one for each percent that goes.
int64_t CostOf(const explain::LowerRequest& change) {
  const auto from = change.from.nanos();
  if (from <= 0) return 10;
  return 10 + static_cast<int64_t>((from - change.to.nanos()) * 100 / from);
}
// 15, and one for each step of maxSkew, as far as SpreadAnyway.
int64_t CostOf(const explain::RelaxSpread& change) {
  return 15 + std::min<int64_t>(int64_t{change.to} - change.from, 20);
}
int64_t CostOf(const explain::HonorTaints&) { return 15; }
// 15, and one for each domain less, to 35.
int64_t CostOf(const explain::LowerMinDomains& change) {
  return 15 + std::min<int64_t>(int64_t{change.from} - change.to, 20);
}
int64_t CostOf(const explain::Tolerate&) { return 20; }
int64_t CostOf(const explain::WidenNodeAffinity&) { return 25; }
int64_t CostOf(const explain::SetLabel&) { return 30; }
int64_t CostOf(const explain::RemoveTaint&) { return 35; }
int64_t CostOf(const explain::SpreadAnyway&) { return 35; }
int64_t CostOf(const explain::DropNodeSelector&) { return 40; }
int64_t CostOf(const explain::DropNodeAffinity&) { return 40; }
int64_t CostOf(const explain::DropPodAffinity&) { return 40; }
int64_t CostOf(const explain::UseStorageClass&) { return 45; }
int64_t CostOf(const explain::AllowAnyTopology&) { return 45; }
// 45, and 5 for each pod: it is disturbed, and not lost.
int64_t CostOf(const explain::MovePods& change) {
  return 45 + 5 * static_cast<int64_t>(change.moves.size());
}
int64_t CostOf(const explain::DropHostPort&) { return 50; }
// 60, and 5 where there is none of its kind yet.
int64_t CostOf(const explain::AddNode& change) {
  return change.shape_of.empty() && change.labels.empty() ? 60 : 65;
}
// 50, 5 for each pod, and 100 for each eviction that a budget does not allow.
int64_t CostOf(const explain::EvictPods& change) {
  int64_t cost = 50 + 5 * static_cast<int64_t>(change.pods.size());
  for (const explain::EvictPods::Budget& budget : change.budgets) {
    cost += 100 * std::max<int64_t>(budget.evicted - budget.allowed, 0);
  }
  return cost;
}

// How little a change changes: the smallest comes first. What undoes a passing state is cheap, what
// takes something from the pod dearer, what others have to give or pay dearest. docs/explain.md has
// the numbers for people.
int64_t Cost(const explain::Change& change) {
  return std::visit([](const auto& held) { return CostOf(held); }, change);
}

// Of the whole fix: the sum.
int64_t Cost(const std::vector<explain::Change>& changes) {
  int64_t cost = 0;
  for (const explain::Change& change : changes) cost += Cost(change);
  return cost;
}

// The cheapest first, or with sign -1 the dearest; what costs the same stays in its order.
void SortByCost(std::vector<explain::Change>& changes, int sign) {
  std::vector<std::pair<int64_t, size_t>> order;
  order.reserve(changes.size());
  for (size_t i = 0; i < changes.size(); ++i) order.emplace_back(sign * Cost(changes[i]), i);
  std::ranges::sort(order);
  std::vector<explain::Change> sorted;
  sorted.reserve(changes.size());
  for (const auto& [cost, i] : order) sorted.push_back(std::move(changes[i]));
  changes = std::move(sorted);
}

// An amount in a change, and the change with another.
int64_t AmountIn(const explain::LowerRequest& change) { return Amount(change.resource, change.to); }
int64_t NoChange(const explain::LowerRequest& change) {
  return Amount(change.resource, change.from);
}
int64_t AmountIn(const explain::RelaxSpread& change) { return change.to; }
int64_t NoChange(const explain::RelaxSpread& change) { return change.from; }
int64_t AmountIn(const explain::LowerMinDomains& change) { return change.to; }
int64_t NoChange(const explain::LowerMinDomains& change) { return change.from; }
void SetAmount(explain::LowerMinDomains& change, int64_t amount) {
  change.to = static_cast<int32_t>(amount);
}
void SetAmount(explain::RelaxSpread& change, int64_t amount) {
  change.to = static_cast<int32_t>(amount);
}
void SetAmount(explain::LowerRequest& change, int64_t amount) {
  change.to = FromAmount(change.resource, amount, change.from);
}

template <typename T>
concept HasAmount = requires(const T& change) { AmountIn(change); };

// Makes changes[index] and those after it in the place of those that are made; false: one cannot
// be.
bool MakeFrom(size_t index, const std::vector<Change>& changes, TrialCluster& trial) {
  trial.TakeBackTo(index);
  for (size_t i = index; i < changes.size(); ++i) {
    if (!trial.Make(changes[i])) return false;
  }
  return true;
}

template <typename T>
void TightenOne(size_t index, std::vector<Change>& changes, TrialCluster& trial) {
  // With `enough` it schedules, with `too_little` it does not.
  int64_t enough = AmountIn(std::get<T>(changes[index]));
  int64_t too_little = NoChange(std::get<T>(changes[index]));
  const int64_t step = enough < too_little ? 1 : -1;
  while (enough + step != too_little && enough != too_little) {
    const int64_t middle = enough + (too_little - enough) / 2;
    SetAmount(std::get<T>(changes[index]), middle);
    (MakeFrom(index, changes, trial) && trial.Schedules() ? enough : too_little) = middle;
  }
  SetAmount(std::get<T>(changes[index]), enough);
  MakeFrom(index, changes, trial);
}

// Makes the amounts of `changes` as small as they can be for the pod to schedule, one after the
// other; by halves, so each takes up to 63 judgements. `changes` are made on `trial` and let the
// pod schedule; without any one of them it does not. The same is true afterwards.
void Tighten(std::vector<Change>& changes, TrialCluster& trial) {
  for (size_t i = 0; i < changes.size(); ++i) {
    std::visit(
        [&]<typename T>(const T&) {
          if constexpr (HasAmount<T>) TightenOne<T>(i, changes, trial);
        },
        // A copy: the change itself is put in place of another meanwhile.
        Change(changes[i]));
  }
}

// Leaves out of changes that let the pod schedule what is not needed, the first ones first. What is
// left is made on `trial`. Whether anything was left out.
bool LeaveOut(std::vector<Change>& changes, TrialCluster& trial) {
  const size_t before = changes.size();
  for (size_t i = 0; i < changes.size();) {
    std::vector<Change> fewer = changes;
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
    if (MakeFrom(0, fewer, trial) && trial.Schedules()) {
      changes = std::move(fewer);
      // One that was needed beside this one may not be now.
      i = 0;
    } else {
      ++i;
    }
  }
  MakeFrom(0, changes, trial);
  return changes.size() < before;
}

constexpr size_t kMostChanges = 8;

// How far a pod gets on a node: how many filters it passes, and how few reasons the next one has
// against it.
struct Stage {
  // nullopt: some node takes the pod.
  std::optional<explain::RejectedGroup> rejected;
  int64_t passed = -1;  // -1: PreFilter leaves the node out
  size_t reasons = 0;

  bool schedules() const { return !rejected.has_value(); }
  bool IsBeyond(const Stage& other) const {
    if (schedules() || passed != other.passed) return schedules() || passed > other.passed;
    return reasons < other.reasons;
  }
};

class Combination {
 public:
  Combination(const std::string& node, bool only_pod, const std::function<bool()>& spent,
              TrialCluster& trial)
      : node_(node), only_pod_(only_pod), spent_(spent), trial_(trial) {}

  bool Find(std::vector<Change>& changes) {
    std::optional<Stage> stage = Look();
    while (stage && !stage->schedules()) {
      if (changes.size() >= kMostChanges) return false;
      stage = Step(*stage, changes);
    }
    return stage.has_value() && Prune(changes);
  }

 private:
  // nullopt: the search is over, the pod cannot be judged, or the node is gone.
  std::optional<Stage> Look() {
    if (spent_()) return std::nullopt;
    judgement_ = trial_.Judge();
    Stage stage;
    if (judgement_->kind() == Judgement::Kind::kScheduled) return stage;
    if (judgement_->kind() != Judgement::Kind::kUnschedulable) return std::nullopt;
    judgement_->Explain();
    const NodeRow row = judgement_->snapshot().FindNode(node_);
    for (explain::RejectedGroup& group : explain::NearMisses(*judgement_)) {
      if (!std::ranges::binary_search(group.nodes, row)) continue;
      stage.passed = group.plugin.empty() ? -1 : static_cast<int64_t>(group.filters_passed);
      stage.reasons = group.reasons.size();
      group.nodes = {row};
      stage.rejected = std::move(group);
      return stage;
    }
    return std::nullopt;
  }

  // Makes the cheapest change that gets the pod further or, where none does alone, as many as it
  // takes. nullopt: nothing does.
  std::optional<Stage> Step(const Stage& from, std::vector<Change>& changes) {
    std::vector<Change> proposed = ProposeFor(from);
    const size_t depth = trial_.depth();
    for (const Change& change : proposed) {
      if (trial_.Make(change)) {
        std::optional<Stage> stage = Look();
        if (!stage) return std::nullopt;
        if (stage->IsBeyond(from)) {
          changes.push_back(change);
          return stage;
        }
      }
      trial_.TakeBackTo(depth);
    }
    for (Change& change : proposed) {
      if (changes.size() >= kMostChanges) return std::nullopt;
      if (!trial_.Make(change)) continue;
      changes.push_back(std::move(change));
      std::optional<Stage> stage = Look();
      if (!stage || stage->IsBeyond(from)) return stage;
    }
    return std::nullopt;
  }

  std::vector<Change> ProposeFor(const Stage& stage) {
    std::vector<Change> proposed;
    Propose({*stage.rejected, *judgement_, trial_, proposed});
    if (stage.rejected->code == Code::kUnschedulable && !only_pod_) {
      ProposeEvictions(trial_, node_, proposed);
    }
    if (only_pod_) std::erase_if(proposed, [](const Change& change) { return !IsOfPod(change); });
    SortByCost(proposed, 1);
    return proposed;
  }

  // Leaves out what is not needed, the dearest first.
  bool Prune(std::vector<Change>& changes) {
    SortByCost(changes, -1);
    LeaveOut(changes, trial_);
    // Changes of the pod last: those are the ones that are made again and again.
    std::ranges::stable_partition(changes, [](const Change& change) { return !IsOfPod(change); });
    return MakeFrom(0, changes, trial_) && trial_.Schedules();
  }

  const std::string node_;
  const bool only_pod_;
  const std::function<bool()>& spent_;
  TrialCluster& trial_;
  std::unique_ptr<Judgement> judgement_;
};

// Looks for changes that let the pod schedule on one node, where no single one does: asks what
// rejects the node, makes the cheapest change that cures it, and goes on with what rejects it then;
// last it takes back what is not needed. Starts from what is made on `trial`, which stays a part of
// the answer; with `only_pod` it adds changes of the pod alone.
//
// Returns the changes, those of the cluster first, all of them made; without any one of them the
// pod does not schedule. Empty: there is no way, or `spent` said that the search is over; then what
// is made means nothing.
std::vector<Change> Combine(const std::string& node, std::vector<Change> begun, bool only_pod,
                            const std::function<bool()>& spent, TrialCluster& trial) {
  if (!Combination(node, only_pod, spent, trial).Find(begun)) begun.clear();
  return begun;
}

using engine::Judgement;
using explain::Change;
using explain::Fix;

class Search {
 public:
  Search(simulator::Simulation& simulation, std::shared_ptr<const api::Pod> pod, const Clock& clock,
         const FindOptions& options)
      : simulation_(simulation),
        trial_(simulation, std::move(pod)),
        clock_(clock),
        options_(options),
        deadline_(clock.Now() + options.max_time) {}

  explain::Fixes Run() {
    if (LookAtPod()) {
      TrySingles();
      if (found_.fixes.empty()) TryCombinations();
      Rank();
    }
    found_.tried = trial_.judged();
    return std::move(found_);
  }

 private:
  // What rejects the pod, as it is; false: it is not unschedulable.
  bool LookAtPod() {
    const std::unique_ptr<Judgement> judgement = trial_.Judge();
    if (judgement->kind() != Judgement::Kind::kUnschedulable) return false;
    judgement->Explain();
    const auto groups = explain::NearMisses(*judgement);
    for (const explain::RejectedGroup& group : groups) {
      const Refusal refusal{group, *judgement, trial_, singles_};
      Propose(refusal);
      for (const NodeRow row : refusal.Examples()) {
        targets_.push_back(refusal.node(row).metadata.name);
      }
    }
    ProposeNodes(groups, *judgement, new_nodes_);
    ProposeEvictions(trial_, "", singles_);
    judged_by_plan_ = ProposeMoves(simulation_, trial_.pod(), options_.max_trials / 10, singles_);
    singles_.insert(singles_.end(), new_nodes_.begin(), new_nodes_.end());
    SortByCost(singles_, 1);
    return true;
  }

  void TrySingles() {
    for (const Change& change : singles_) {
      if (Spent()) return;
      if (NeedsNoOtherShape(change)) continue;
      if (trial_.Make(change) && trial_.Schedules()) Keep({change});
      trial_.TakeBackTo(0);
    }
  }

  // Whether the change is a node of another shape, and one that is like some other would do.
  bool NeedsNoOtherShape(const Change& change) const {
    const auto* add = std::get_if<explain::AddNode>(&change);
    if (add == nullptr || add->shape_of.empty()) return false;
    return std::ranges::any_of(found_.fixes, [](const Fix& fix) {
      return fix.changes.size() == 1 && std::holds_alternative<explain::AddNode>(fix.changes[0]);
    });
  }

  // For the nearest misses, then for a new node.
  void TryCombinations() {
    const std::function<bool()> spent = [this] { return Spent(); };
    if (targets_.size() > kMostTargets) targets_.resize(kMostTargets);
    for (const std::string& target : targets_) {
      if (Spent()) return;
      KeepNew(Combine(target, {}, false, spent, trial_));
    }
    if (new_nodes_.size() > kMostTargets) new_nodes_.resize(kMostTargets);
    for (const Change& add : new_nodes_) {
      const auto delta = NodeLike(std::get<explain::AddNode>(add), trial_.objects());
      if (!delta || Spent() || !trial_.Make(add)) return;
      KeepNew(Combine(api::MetaOf(delta->put.front())->name, {add}, true, spent, trial_));
    }
  }

  // Unless there is no such combination, or it is known.
  void KeepNew(std::vector<Change> changes) {
    if (!changes.empty() && std::ranges::find(known_, changes) == known_.end()) {
      known_.push_back(changes);
      Keep(std::move(changes));
    }
    trial_.TakeBackTo(0);
  }

  bool Spent() {
    if (trial_.judged() + judged_by_plan_ < options_.max_trials && clock_.Now() < deadline_ &&
        !(options_.interrupted && options_.interrupted())) {
      return false;
    }
    return found_.cut_short = true;
  }

  // Of changes that are made and let the pod schedule.
  void Keep(std::vector<Change> changes) {
    do {
      Tighten(changes, trial_);
      // What was needed beside a larger change may not be beside a smaller one.
    } while (changes.size() > 1 && LeaveOut(changes, trial_));
    const std::unique_ptr<Judgement> judgement = trial_.Judge();
    if (judgement->kind() != Judgement::Kind::kScheduled) return;
    Fix fix;
    for (const NodeRow row : judgement->feasible()) {
      fix.nodes.push_back(judgement->snapshot().node(row).metadata.name);
    }
    std::ranges::sort(fix.nodes);
    fix.cost = Cost(changes);
    fix.changes = std::move(changes);
    found_.fixes.push_back(std::move(fix));
  }

  void Rank() {
    std::vector<Fix>& fixes = found_.fixes;
    std::ranges::stable_sort(fixes, {}, &Fix::cost);
    std::map<std::string_view, size_t> alike;
    std::erase_if(fixes, [&](const Fix& fix) {
      const std::string_view name = fix.changes.size() == 1 ? ChangeName(fix.changes.front()) : "";
      return ++alike[name] > options_.max_alike;
    });
    if (fixes.size() > options_.max_fixes) fixes.resize(options_.max_fixes);
  }

  static constexpr size_t kMostTargets = 8;

  simulator::Simulation& simulation_;
  TrialCluster trial_;
  size_t judged_by_plan_ = 0;
  const Clock& clock_;
  const FindOptions options_;
  const Time deadline_;
  std::vector<Change> singles_;    // worth a trial alone, the cheapest first
  std::vector<Change> new_nodes_;  // those of them that add one
  std::vector<std::string> targets_;
  std::vector<std::vector<Change>> known_;  // combinations, before their amounts were made small
  explain::Fixes found_;
};

}  // namespace

explain::Fixes FindFixes(simulator::Simulation& simulation,
                         const std::shared_ptr<const api::Pod>& pod, const Clock& clock,
                         const FindOptions& options) {
  explain::Fixes found = Search(simulation, pod, clock, options).Run();
  SetApplications(*pod, simulation.api(), found);
  return found;
}

namespace {

// Labels in which replicas differ, and which nothing selects by but by chance.
constexpr std::string_view kOfReplica[] = {
    "apps.kubernetes.io/pod-index", "batch.kubernetes.io/job-completion-index",
    "job-completion-index", "statefulset.kubernetes.io/pod-name"};

bool Names(const std::optional<api::LabelSelector>& selector, std::string_view label) {
  return selector && (api::Find(selector->match_labels, label) != nullptr ||
                      std::ranges::any_of(selector->match_expressions,
                                          [&](const auto& one) { return one.key == label; }));
}

bool Names(const api::PodAffinityTerm& term, std::string_view label) {
  return Names(term.label_selector, label) ||
         std::ranges::find(term.match_label_keys, label) != term.match_label_keys.end() ||
         std::ranges::find(term.mismatch_label_keys, label) != term.mismatch_label_keys.end();
}

bool Names(const std::optional<api::PodAffinity>& affinity, std::string_view label) {
  if (!affinity) return false;
  return std::ranges::any_of(
             affinity->required_during_scheduling_ignored_during_execution,
             [&](const api::PodAffinityTerm& term) { return Names(term, label); }) ||
         std::ranges::any_of(affinity->preferred_during_scheduling_ignored_during_execution,
                             [&](const api::WeightedPodAffinityTerm& term) {
                               return Names(term.pod_affinity_term, label);
                             });
}

bool Names(const api::Pod& pod, std::string_view label) {
  if (pod.spec.affinity && (Names(pod.spec.affinity->pod_affinity, label) ||
                            Names(pod.spec.affinity->pod_anti_affinity, label))) {
    return true;
  }
  return std::ranges::any_of(pod.spec.topology_spread_constraints, [&](const auto& constraint) {
    return Names(constraint.label_selector, label) ||
           std::ranges::find(constraint.match_label_keys, label) !=
               constraint.match_label_keys.end();
  });
}

bool IsReadByScheduling(const api::Volume& volume) {
  api::Volume unread;
  unread.name = volume.name;
  return !(volume == unread);
}

// Whether the claims of the pod's volumes are named after the pod.
bool HasEphemeralVolume(const api::Pod& pod) {
  return std::ranges::any_of(
      pod.spec.volumes, [](const api::Volume& volume) { return volume.ephemeral.has_value(); });
}

}  // namespace

bool HaveSameFixes(const api::Pod& a, const api::Pod& b) {
  // What helps a pod that is to be resized hangs on what it takes already.
  if (!a.spec.node_name.empty() || !b.spec.node_name.empty()) return false;
  return a.metadata.namespace_ == b.metadata.namespace_ && a.metadata.labels == b.metadata.labels &&
         a.metadata.owner_references == b.metadata.owner_references && a.spec == b.spec &&
         a.status.nominated_node_name == b.status.nominated_node_name &&
         a.status.resource_claim_statuses == b.status.resource_claim_statuses &&
         // Of an ephemeral volume the claim is named after the pod.
         std::ranges::none_of(a.spec.volumes, [](const api::Volume& volume) {
           return volume.ephemeral.has_value();
         });
}

FixCache::FixCache(simulator::Simulation& simulation, const Clock& clock)
    : simulation_(simulation), clock_(clock) {
  std::vector<std::string_view> left(std::begin(kOfReplica), std::end(kOfReplica));
  simulation.api().ForEach(informers::Kind::kPod, [&left](const api::ObjectPtr& object) {
    const api::Pod& pod = *api::As<api::Pod>(object);
    std::erase_if(left, [&pod](std::string_view label) { return Names(pod, label); });
  });
  unselected_ = std::move(left);
}

api::Pod FixCache::Essence(const api::Pod& pod) const {
  api::Pod essence;
  essence.metadata.namespace_ = pod.metadata.namespace_;
  essence.metadata.owner_references = pod.metadata.owner_references;
  essence.metadata.labels = pod.metadata.labels;
  std::erase_if(essence.metadata.labels, [this](const auto& label) {
    return std::ranges::find(unselected_, label.first) != unselected_.end();
  });
  essence.spec = pod.spec;
  // Such as the token that each pod gets under a name of its own.
  std::erase_if(essence.spec.volumes,
                [](const api::Volume& volume) { return !IsReadByScheduling(volume); });
  essence.status.nominated_node_name = pod.status.nominated_node_name;
  essence.status.resource_claim_statuses = pod.status.resource_claim_statuses;
  return essence;
}

explain::Fixes FixCache::Find(const std::shared_ptr<const api::Pod>& pod) {
  if (HasEphemeralVolume(*pod)) {
    ++searches_;
    return FindFixes(simulation_, pod, clock_);
  }
  api::Pod essence = Essence(*pod);
  const auto known = std::ranges::find(found_, essence, &Found::essence);
  if (known == found_.end()) {
    ++searches_;
    explain::Fixes fixes = FindFixes(simulation_, pod, clock_);
    if (found_.size() < kMostFound) found_.push_back({std::move(essence), fixes});
    return fixes;
  }
  explain::Fixes fixes = known->fixes;
  SetApplications(*pod, simulation_.api(), fixes);
  return fixes;
}

}  // namespace berth::questions
