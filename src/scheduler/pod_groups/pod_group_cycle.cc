// SPDX-License-Identifier: Apache-2.0
#include "src/scheduler/pod_groups/pod_group_cycle.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "berth/check.h"
#include "berth/in_tree/pod_group_points.h"
#include "berth/in_tree/pod_groups.h"
#include "src/base/logging.h"
#include "src/base/string_map.h"
#include "src/engine/engine.h"
#include "src/engine/filter.h"
#include "src/framework/placement_runtime.h"
#include "src/framework/profile.h"
#include "src/framework/runtime.h"

namespace berth::scheduler {
namespace {

// A dry run of preemption for one pod group or composite one, in a trial of the cache that ends
// with it, or is begun again.
//
// As in kube-scheduler the filters know what PreFilter found while all victims were away, and
// AddPod is called for each that returns. A pod that is put back is looked at together with the
// group's pods on its node; those on other nodes are looked at, too, where a filter of theirs looks
// beyond the node, or where some pod is of a group that does not start.
//
// Thread safety: the scheduling thread. All references must outlive it.
class GroupPreemptionDryRun final : public PodGroupDryRun {
 public:
  // `cycle` is that of the PodGroupPostFilter. The group's members are as they were, once a call
  // has returned.
  GroupPreemptionDryRun(SchedulerState& state, CompositeTrial& trial, framework::Cycle& cycle,
                        PodGroupTree& tree);
  ~GroupPreemptionDryRun() override;

  void Reset() override;
  void RemovePods(std::span<const PodInfo* const> pods) override;
  Status Schedule() override;
  std::span<const ProposedAssignment> assignments() const override { return assignments_; }
  Result<bool> Reprieve(std::span<const PodInfo* const> pods) override;

 private:
  // A member that got a node, also in a group that does not start.
  struct Assigned {
    PodInfoPtr info;
    size_t group = 0;  // in the tree
    NodeRow row = kNoRow;
    std::string node_name;
    // Before the dry run; a pod on its node is nominated no more.
    std::optional<cache::Nominator::Place> nomination;
    // What its filters know: PreFilter was asked while all victims were away, and AddPod of those
    // that came back. As in kube-scheduler filters that had nothing to say then are not asked
    // later.
    framework::Cycle cycle;
    bool has_extensions = false;
  };
  class Together;
  enum class Comes { kBack, kAway };
  // Tries the tree without what the cycle found of its members, which is still to be reported.
  GroupVerdict TryApart();
  void RestoreNominations();
  // Asks the members' PreFilter, each with those in place that were when it was tried: those before
  // it, but for what a group had placed that then did not fit.
  Status PreFilter();
  // Tells the members' filters of a victim that is on the row again, or no longer.
  Status AskFilters(const PodInfo& pod, NodeRow row, Comes comes);
  // Why the member cannot run on its node, an Error included; Success: it can.
  Status Judge(const Assigned& assigned);
  // Whether a filter of the member looks at pods of other nodes.
  bool LooksBeyondItsNode(const Assigned& assigned) const;
  // The same status with reasons that live as long as the dry run.
  Status Keep(const Status& status) const {
    return cycle_.state.reasons().Make(status.code(), status.message());
  }
  // Whether the members on `rows`, or all, pass their filters one after the other.
  Result<bool> JudgeTogether(const NodeSet* rows);

  SchedulerState& state_;
  CompositeTrial& trial_;
  framework::Cycle& cycle_;
  PodGroupTree& tree_;
  std::optional<cache::Trial> cache_trial_;    // always there
  base::StringMap<cache::CachedPod> removed_;  // by UID
  std::vector<Assigned> assigned_;             // in the order in which they were tried
  std::vector<ProposedAssignment> assignments_;
  std::vector<bool> fits_;  // by group
  // Each victim that comes back matters to all members.
  bool judges_all_ = false;
};

// Whether pods on other nodes are something to the filter.
bool LooksBeyondTheNode(const Inputs& inputs) {
  return !inputs.declared || std::ranges::any_of(inputs.inputs, [](const Input& input) {
    return input.reach == Reach::kDomain || input.reach == Reach::kCluster;
  });
}

GroupPreemptionDryRun::GroupPreemptionDryRun(SchedulerState& state, CompositeTrial& trial,
                                             framework::Cycle& cycle, PodGroupTree& tree)
    : state_(state),
      trial_(trial),
      cycle_(cycle),
      tree_(tree),
      cache_trial_(state.cluster.cache.BeginTrial()) {}

// The members that are in place with those before them.
class GroupPreemptionDryRun::Together {
 public:
  explicit Together(GroupPreemptionDryRun& dry_run)
      : dry_run_(dry_run), trial_(dry_run.state_.cluster.cache.BeginTrial()) {}
  ~Together();
  Together(const Together&) = delete;
  Together& operator=(const Together&) = delete;

  Status Add(const Assigned& assigned);
  size_t size() const { return reserved_.size(); }
  // Takes the last ones back until so many are left.
  void Shrink(size_t size);

 private:
  struct Reserved {
    const Assigned* assigned;
    framework::Cycle cycle;
  };

  void UnreserveLast();

  GroupPreemptionDryRun& dry_run_;
  cache::Trial trial_;
  std::vector<Reserved> reserved_;
};

GroupPreemptionDryRun::~GroupPreemptionDryRun() { RestoreNominations(); }

void GroupPreemptionDryRun::Reset() {
  RestoreNominations();
  cache_trial_->Rollback();
  cache_trial_.emplace(state_.cluster.cache.BeginTrial());
  removed_.clear();
  assigned_.clear();
  assignments_.clear();
  fits_.clear();
  judges_all_ = false;
}

void GroupPreemptionDryRun::RestoreNominations() {
  for (const Assigned& assigned : assigned_) {
    if (assigned.nomination) state_.cluster.nominator.Restore(assigned.info, *assigned.nomination);
  }
}

void GroupPreemptionDryRun::RemovePods(std::span<const PodInfo* const> pods) {
  for (const PodInfo* pod : pods) {
    const std::string& uid = pod->pod->metadata.uid;
    removed_.insert_or_assign(uid, *state_.cluster.cache.FindPod(uid));
    cache_trial_->Remove(uid);
  }
}

GroupVerdict GroupPreemptionDryRun::TryApart() {
  PodGroupTree tried;
  tried.profile = tree_.profile;
  for (PodGroupTree::Group& group : tree_.groups) {
    PodGroupTree::Group& apart = tried.groups.emplace_back();
    apart.object = group.object;
    apart.parent = group.parent;
    apart.children = group.children;
    apart.end = group.end;
    apart.pods.object = group.pods.object;
    apart.pods.profile = group.pods.profile;
    for (MemberAttempt& member : group.pods.members) {
      Attempt& again = apart.pods.members.emplace_back().attempt;
      again.queued = std::move(member.attempt.queued);
      again.profile = member.attempt.profile;
      again.cycle.observer = &state_.observer;
    }
  }
  const GroupVerdict verdict = trial_.Try(tried);
  const std::vector<bool> starting = tried.Starting();
  // As in kube-scheduler, also the pods that found a node in a group of the tree which does not
  // start with the others.
  for (size_t i = 0; i < tried.groups.size(); ++i) {
    PodGroupAttempt& pods = tried.groups[i].pods;
    fits_.push_back(tried.groups[i].verdict && tried.groups[i].verdict->ok());
    for (size_t m = 0; m < pods.members.size(); ++m) {
      MemberAttempt& again = pods.members[m];
      if (again.result == MemberAttempt::Result::kPlaced) {
        // It was found without those that came after its group: they need not fit together.
        judges_all_ = judges_all_ || !starting[i];
        assigned_.push_back({.info = again.attempt.info(),
                             .group = i,
                             .row = state_.cluster.cache.FindNode(again.node_name),
                             .node_name = std::move(again.node_name),
                             .nomination = state_.cluster.nominator.PlaceOf(again.attempt.uid()),
                             .cycle = {},
                             .has_extensions = false});
        state_.cluster.nominator.DeleteNominatedPodIfExists(again.attempt.pod());
      }
      tree_.groups[i].pods.members[m].attempt.queued = std::move(again.attempt.queued);
    }
  }
  return verdict;
}

Status GroupPreemptionDryRun::Schedule() {
  const GroupVerdict verdict = TryApart();
  if (!verdict.ok()) return cycle_.state.reasons().Make(verdict.code, verdict.message());
  for (const Assigned& assigned : assigned_) {
    assignments_.push_back({assigned.info.get(), assigned.node_name});
  }
  return PreFilter();
}

Status GroupPreemptionDryRun::PreFilter() {
  const framework::Profile& profile = *tree_.profile;
  Together together(*this);
  // A group that does not fit, the one below it last: where it ends, and how many were in place
  // before it.
  struct Unfit {
    size_t end = 0;
    size_t before = 0;
  };
  std::vector<Unfit> within;
  size_t group = 0;
  for (Assigned& assigned : assigned_) {
    for (; group <= assigned.group; ++group) {
      for (; !within.empty() && within.back().end <= group; within.pop_back()) {
        together.Shrink(within.back().before);
      }
      if (!fits_[group]) within.push_back({tree_.groups[group].end, together.size()});
    }
    assigned.cycle.observer = &state_.observer;
    const framework::PreFilterVerdict said =
        framework::RunPreFilter(profile, assigned.cycle, *assigned.info, state_.cluster.cache);
    if (const Status& status = said.verdict.status; !status.ok()) return Keep(status);
    framework::RunDetach(profile, assigned.cycle);
    assigned.has_extensions = framework::HasPreFilterExtensions(profile, assigned.cycle);
    judges_all_ = judges_all_ || LooksBeyondItsNode(assigned);
    if (Status status = together.Add(assigned); !status.ok()) return status;
  }
  return {};
}

bool GroupPreemptionDryRun::LooksBeyondItsNode(const Assigned& assigned) const {
  return std::ranges::any_of(tree_.profile->plugins().filter, [&](const auto& entry) {
    return !assigned.cycle.skip_filter.test(entry.index) &&
           LooksBeyondTheNode(entry.instance->inputs);
  });
}

Status GroupPreemptionDryRun::Judge(const Assigned& assigned) {
  NodeSet node(state_.cluster.cache.num_rows());
  node.Set(assigned.row);
  const engine::ClusterState cluster = ClusterOf(state_);
  const Status status =
      engine::FilterPass(*tree_.profile, assigned.cycle, *assigned.info, cluster).Run(node);
  if (!status.ok()) return Keep(status);
  return node.Empty() ? Status(Code::kUnschedulable) : Status();
}

Status GroupPreemptionDryRun::Together::Add(const Assigned& assigned) {
  if (auto assumed = trial_.Assume(assigned.info, assigned.row); !assumed) {
    return dry_run_.cycle_.state.reasons().Error(assumed.error().message);
  }
  // What Reserve writes down is no part of what the filters know, and what it says does not matter,
  // as in kube-scheduler.
  Reserved& reserved = reserved_.emplace_back(Reserved{&assigned, assigned.cycle.Fresh()});
  reserved.cycle.state = assigned.cycle.state.Clone();
  framework::RunReserve(*dry_run_.tree_.profile, reserved.cycle, *assigned.info,
                        assigned.node_name);
  PodInfoPtr counted =
      CountedWithClaims(dry_run_.state_, reserved.cycle.state, *assigned.info->pod, assigned.row);
  if (counted == nullptr) return {};
  trial_.Forget(assigned.info->pod->metadata.uid);
  if (auto assumed = trial_.Assume(std::move(counted), assigned.row); !assumed) {
    return dry_run_.cycle_.state.reasons().Error(assumed.error().message);
  }
  return {};
}

GroupPreemptionDryRun::Together::~Together() {
  while (!reserved_.empty()) UnreserveLast();
}

void GroupPreemptionDryRun::Together::Shrink(size_t size) {
  while (reserved_.size() > size) {
    const std::string& uid = reserved_.back().assigned->info->pod->metadata.uid;
    UnreserveLast();
    trial_.Forget(uid);
  }
}

void GroupPreemptionDryRun::Together::UnreserveLast() {
  Reserved& last = reserved_.back();
  framework::RunUnreserve(*dry_run_.tree_.profile, last.cycle, *last.assigned->info,
                          last.assigned->node_name);
  reserved_.pop_back();
}

Result<bool> GroupPreemptionDryRun::JudgeTogether(const NodeSet* rows) {
  Together together(*this);
  const Assigned* before = nullptr;
  for (const Assigned& assigned : assigned_) {
    if (rows != nullptr && !rows->Test(assigned.row)) continue;
    if (before != nullptr) {
      if (const Status status = together.Add(*before); !status.ok()) return Fail(status.message());
    }
    // A filter that fails takes the pod no more than one that rejects it.
    if (!Judge(assigned).ok()) return false;
    before = &assigned;
  }
  return true;
}

Status GroupPreemptionDryRun::AskFilters(const PodInfo& pod, NodeRow row, Comes comes) {
  const NodeView node(state_.cluster.cache, row);
  for (Assigned& assigned : assigned_) {
    if (!assigned.has_extensions) continue;
    framework::Cycle& cycle = assigned.cycle;
    const auto ask = comes == Comes::kBack ? framework::RunAddPod : framework::RunRemovePod;
    const Status status = ask(*tree_.profile, cycle, cycle.state, *assigned.info, pod, node);
    if (!status.ok()) return status;
  }
  return {};
}

Result<bool> GroupPreemptionDryRun::Reprieve(std::span<const PodInfo* const> pods) {
  NodeSet rows(state_.cluster.cache.num_rows());
  for (const PodInfo* pod : pods) {
    const cache::CachedPod& back = removed_.find(pod->pod->metadata.uid)->second;
    if (auto assumed = cache_trial_->Assume(back.info, back.row); !assumed) {
      return Fail(assumed.error());
    }
    if (const Status status = AskFilters(*pod, back.row, Comes::kBack); !status.ok()) {
      return Fail(status.message());
    }
    rows.Set(back.row);
  }
  Result<bool> fits = JudgeTogether(judges_all_ ? nullptr : &rows);
  if (fits && *fits) return true;
  for (const PodInfo* pod : pods) {
    const std::string& uid = pod->pod->metadata.uid;
    cache_trial_->Remove(uid);
    if (const Status status = AskFilters(*pod, removed_.find(uid)->second.row, Comes::kAway);
        !status.ok()) {
      return Fail(status.message());
    }
  }
  return fits;
}

// Decisions made during its life draw as ever, but later ones draw as if they had not been made.
//
// Thread safety: the scheduling thread. All must outlive it.
class RandomStateGuard {
 public:
  // `profile` is that of the pods decided about.
  RandomStateGuard(SchedulerState& state, engine::Engine& engine, const framework::Profile& profile)
      : state_(state),
        engine_(engine),
        profile_(profile),
        of_state_(state.random),
        of_plugins_(profile.handle().random()),
        of_engine_(engine.random_state()) {}
  ~RandomStateGuard() {
    state_.random = of_state_;
    profile_.handle().random() = of_plugins_;
    engine_.SetRandomState(of_engine_);
  }
  RandomStateGuard(const RandomStateGuard&) = delete;
  RandomStateGuard& operator=(const RandomStateGuard&) = delete;

 private:
  SchedulerState& state_;
  engine::Engine& engine_;
  const framework::Profile& profile_;
  const Random of_state_;
  const Random of_plugins_;
  const engine::Engine::RandomState of_engine_;
};

using AttemptResult = MemberAttempt::Result;

constexpr std::string_view kPreemptLowerPriority = "PreemptLowerPriority";

std::string_view PreemptionPolicy(const std::optional<std::string>& policy) {
  return policy ? std::string_view(*policy) : kPreemptLowerPriority;
}

// What the pods of one group must have in common, with the group or with each other.
struct Common {
  std::string_view scheduler_name;
  // Of a group of scheduling.x-k8s.io the pods may differ in these.
  std::optional<int32_t> priority = std::nullopt;
  std::optional<std::string_view> preemption_policy = std::nullopt;
  bool policy_of_group = false;
};

std::optional<std::string> WhyNotInCommon(const api::Pod& pod, const Common& common) {
  if (pod.spec.scheduler_name != common.scheduler_name) {
    return "all pods in a single pod group should have the same .spec.schedulerName set, got: \"" +
           pod.spec.scheduler_name + "\" and \"" + std::string(common.scheduler_name) + "\"";
  }
  if (common.priority && pod.priority() != *common.priority) {
    return "all pods in a single pod group should have the same priority as the pod group's "
           "priority, got " +
           std::to_string(pod.priority()) + " and " + std::to_string(*common.priority);
  }
  const std::string_view policy = PreemptionPolicy(pod.spec.preemption_policy);
  if (common.preemption_policy && policy != *common.preemption_policy) {
    return "all pods in a single pod group should have the same preemption policy" +
           std::string(common.policy_of_group ? " as the pod group's preemption policy" : "") +
           ", got " + std::string(policy) + " and " + std::string(*common.preemption_policy);
  }
  return std::nullopt;
}

api::Condition InitiallyScheduled(const GroupVerdict& verdict, int64_t generation) {
  api::Condition condition;
  condition.type = "PodGroupInitiallyScheduled";
  condition.status = verdict.ok() ? "True" : "False";
  condition.reason = verdict.ok()                           ? "Scheduled"
                     : verdict.code == Code::kUnschedulable ? "Unschedulable"
                                                            : "SchedulerError";
  condition.message = verdict.message();
  condition.observed_generation = generation;
  return condition;
}

MetricsObserver::GroupResult ResultOf(const PodGroupTree& tree) {
  using enum MetricsObserver::GroupResult;
  const GroupVerdict& verdict = *tree.root().verdict;
  if (verdict.ok()) return kScheduled;
  if (verdict.code != Code::kUnschedulable) return kError;
  return tree.waits_for_preemption ? kWaitingOnPreemption : kUnschedulable;
}

// The pods of the group that wait and may be tried.
void AddWaiting(SchedulerState& state, const Profiles& profiles, const PodGroupState& known,
                Time start, PodGroupAttempt& group) {
  for (const auto& [uid, member] : known.members) {
    if (member.placed || member.pod->metadata.deletion_timestamp ||
        !member.pod->spec.scheduling_gates.empty()) {
      continue;
    }
    const framework::Profile* profile = profiles.Find(member.pod->spec.scheduler_name);
    if (profile == nullptr) continue;
    Attempt& attempt = group.members.emplace_back().attempt;
    attempt.queued = std::make_unique<queue::QueuedPod>();
    attempt.queued->info = state.cluster.cache.MakePodInfo(member.pod);
    attempt.profile = profile;
    attempt.start = start;
  }
  std::ranges::sort(group.members, {}, [](const MemberAttempt& member) {
    return std::tuple(-static_cast<int64_t>(member.attempt.info()->priority()),
                      member.attempt.pod().metadata.name);
  });
}

// Whether a group of scheduling.x-k8s.io has too few pods to be tried, which evicting others does
// not change. GangScheduling holds such groups back, Coscheduling only where it is asked at
// PreEnqueue.
bool LacksPods(PodGroupTree& tree) {
  if (!IsCoscheduled(tree.root().object)) return false;
  bool tried = false;
  tree.ForEachMember([&](const MemberAttempt& member) {
    tried = tried || member.result != AttemptResult::kUntried;
  });
  return !tried;
}

void NameRoot(const AnyPodGroup& root, engine::PodGroupPreview& preview) {
  if (root.composite != nullptr) {
    preview.composite_pod_group = root.metadata().Key();
    const auto& gang = root.composite->spec.scheduling_policy.gang;
    if (gang) preview.min_group_count = gang->min_group_count;
  } else if (const auto& gang = root.pod_group->spec.scheduling_policy.gang) {
    preview.min_count = gang->min_count;
  }
}

}  // namespace

PodGroupCycle::PodGroupCycle(const CycleParts& parts, const SchedulerOptions& options)
    : parts_(parts),
      state_(parts.state),
      trial_(parts.state, parts.profiles, parts.engine, options),
      end_(parts, options),
      algorithm_series_(
          state_.metrics.Series(metrics::Metric::kPodGroupSchedulingAlgorithmDuration)),
      on_pod_group_(options.on_pod_group) {}

void PodGroupCycle::Schedule(std::unique_ptr<queue::QueuedPod> popped) {
  const std::string first = popped->group->members.front()->pod().metadata.uid;
  const UnfinishedPods::Attempt trying(state_.unfinished, first);
  PodGroupTree tree = Begin(std::move(popped));
  if (const auto problem = Problem(tree)) {
    FailAll(std::move(tree), *problem);
    return;
  }
  if (!state_.unfinished.empty() && Defers(tree)) {
    FailAll(std::move(tree), std::string(kUnfinishedMessage));
    return;
  }
  DropSettled(tree);
  if (tree.num_members() == 0) {
    parts_.queue.AddAttemptedPodGroup(std::move(tree.queued), queue::GroupResult::kScheduled,
                                      state_.step_clock.Now());
    return;
  }
  base::LogV(3, "Attempting to schedule pod group",
             {{"podGroup", tree.root().object.metadata().Key()}});
  Decide(tree);
  Submit(std::move(tree));
}

bool PodGroupCycle::Defers(PodGroupTree& tree) {
  std::vector<std::string> uids;
  tree.ForEachMember([&](MemberAttempt& member) { uids.push_back(member.attempt.uid()); });
  if (parts_.queue.HasReady()) {
    for (const std::string& uid : uids)
      if (state_.unfinished.Defer(uid)) return true;
  }
  for (const std::string& uid : uids) state_.unfinished.Forget(uid);
  return false;
}

void PodGroupCycle::Decide(PodGroupTree& tree) {
  // What the pods are nominated for is theirs together: none leaves room for another.
  std::vector<std::string> uids;
  tree.ForEachMember([&](MemberAttempt& member) {
    Prepare(state_, member.attempt);
    if (!state_.cluster.nominator.empty()) uids.push_back(member.attempt.uid());
  });
  state_.cluster.nominator.SetAside(uids);
  const GroupVerdict verdict = trial_.Run(tree);
  state_.metrics.Observe(algorithm_series_, state_.clock.Now() - tree.start);
  tree.Complete();
  for (PodGroupTree::Group& group : tree.groups) {
    group.pods.untried_message = group.verdict->message();
  }
  if (verdict.code == Code::kUnschedulable && !LacksPods(tree)) MakeRoom(tree);
  state_.cluster.nominator.SetAside({});
}

std::optional<engine::PodGroupPreview> PodGroupCycle::Preview(const api::Pod& pod,
                                                              Effects effects) {
  std::optional<PreviewAttempt> begun = BeginPreview(state_, parts_.profiles, pod);
  if (!begun) return std::nullopt;
  PodGroupTree& tree = begun->tree;
  if (begun->preview.exists && !tree.root().object) {
    return EndPreview(
        *std::move(begun),
        {.code = Code::kUnschedulable, .reasons = {"a composite pod group above it is not found"}});
  }
  if (!tree.root().object || tree.num_members() == 0) {
    return EndPreview(*std::move(begun), {.code = Code::kUnschedulable, .reasons = {}});
  }
  if (const auto problem = Problem(tree)) {
    return EndPreview(*std::move(begun), {.code = Code::kError, .reasons = {*problem}});
  }
  if (effects == Effects::kNone) {
    if (std::string why = WhyNotTried(state_, tree); !why.empty()) {
      begun->preview.tried = false;
      return EndPreview(*std::move(begun), {.code = Code::kUnschedulable, .reasons = {why}});
    }
  }
  const RandomStateGuard chance(state_, parts_.engine, *tree.profile);
  std::vector<std::string> uids;
  tree.ForEachMember([&](const MemberAttempt& member) { uids.push_back(member.attempt.uid()); });
  state_.cluster.nominator.SetAside(uids);
  const GroupVerdict verdict = trial_.TryEvery(tree);
  state_.cluster.nominator.SetAside({});
  return EndPreview(*std::move(begun), verdict);
}

PodGroupTree PodGroupCycle::Begin(std::unique_ptr<queue::QueuedPod> popped) {
  const PodGroupNode* root = state_.cluster.pod_group_forest.Find(popped->group->object);
  BERTH_CHECK(root != nullptr, "a queued pod group is not known");
  PodGroupTree tree = PodGroupTree::Of(*root);
  tree.start = state_.clock.Now();
  for (std::unique_ptr<queue::QueuedPod>& pod : popped->group->members) {
    PodGroupAttempt* group = tree.Find(*PodGroupNameOf(pod->pod()));
    BERTH_CHECK(group != nullptr, "a pod is queued with another group than its own");
    Attempt& attempt = group->members.emplace_back().attempt;
    attempt.queued = std::move(pod);
    attempt.start = tree.start;
    attempt.profile = parts_.profiles.Find(attempt.pod().spec.scheduler_name);
  }
  tree.queued = std::move(popped);
  tree.SetProfile();
  tree.TakePriorityOfPods();
  return tree;
}

std::optional<std::string> PodGroupCycle::Problem(PodGroupTree& tree) const {
  const AnyPodGroup& root = tree.root().object;
  const bool coscheduled = IsCoscheduled(root);
  std::optional<Common> common;
  std::optional<std::string> problem;
  tree.ForEachMember([&](const MemberAttempt& member) {
    const api::PodSpec& spec = member.attempt.pod().spec;
    if (!common) {
      common = {.scheduler_name = spec.scheduler_name};
      if (!coscheduled) {
        common->priority = root.priority();
        common->preemption_policy = PreemptionPolicy(spec.preemption_policy);
      }
      if (!coscheduled && state_.features.pod_group_preemption_policy) {
        common->preemption_policy = PreemptionPolicy(root.preemption_policy());
        common->policy_of_group = true;
      }
    }
    if (!problem) problem = WhyNotInCommon(member.attempt.pod(), *common);
  });
  if (problem) return problem;
  for (const PodGroupTree::Group& group : tree.groups) {
    if (group.object.composite != nullptr || coscheduled) continue;
    const api::ObjectMeta& metadata = group.object.metadata();
    const PodGroupState* known = state_.cluster.pod_groups.Find(metadata.namespace_, metadata.name);
    if (known == nullptr) continue;
    for (const auto& [uid, member] : known->members) {
      if (!member.placed) continue;
      if (problem = WhyNotInCommon(*member.pod, *common); problem) return problem;
    }
  }
  if (tree.profile == nullptr) {
    return "profile not found for scheduler name \"" + std::string(common->scheduler_name) + "\"";
  }
  return std::nullopt;
}

void PodGroupCycle::MakeRoom(PodGroupTree& tree) {
  const PodGroupInfo info = tree.Info(0);
  framework::Cycle cycle;
  cycle.observer = &state_.observer;
  PodGroupPostFilterResult result;
  {
    GroupPreemptionDryRun dry_run(state_, trial_, cycle, tree);
    result =
        framework::RunPodGroupPostFilter(*tree.profile, cycle, info, state_.cluster.cache, dry_run);
  }
  tree.was_rejected = result.status.code() == Code::kError;
  for (PodGroupTree::Group& group : tree.groups) {
    if (result.status.code() == Code::kError) group.verdict = {.code = Code::kError, .reasons = {}};
    group.verdict->reasons.push_back(result.status.message());
  }
  if (!result.status.ok()) return;
  tree.waits_for_preemption = true;
  base::StringMap<std::string> nominated;
  for (auto& [uid, node_name] : result.nominations) nominated.emplace(uid, std::move(node_name));
  tree.ForEachMember([&](MemberAttempt& member) {
    NominatingInfo& nominating = member.failure.nominating;
    if (const auto it = nominated.find(member.attempt.uid()); it != nominated.end()) {
      nominating = {NominatingMode::kOverride, std::move(it->second)};
    } else if (member.result != AttemptResult::kRejected) {
      nominating = {};
    }
  });
}

void PodGroupCycle::DropSettled(PodGroupTree& tree) {
  for (PodGroupTree::Group& group : tree.groups) {
    std::erase_if(group.pods.members, [this](const MemberAttempt& member) {
      if (!IsSettled(state_, member.attempt)) return false;
      parts_.queue.Done(member.attempt.uid());
      return true;
    });
  }
}

void PodGroupCycle::FailAll(PodGroupTree tree, const std::string& error) {
  for (PodGroupTree::Group& group : tree.groups) {
    for (MemberAttempt& member : group.pods.members) {
      if (member.attempt.profile == nullptr) {
        parts_.queue.Done(member.attempt.uid());
      } else {
        end_.Fail(std::move(member.attempt), {.message = error});
      }
    }
    group.verdict = {.code = Code::kError, .reasons = {error}};
    WriteCondition(tree, group);
  }
  End(std::move(tree));
}

void PodGroupCycle::AskPermits(PodGroupTree& tree) {
  bool any_refused = false;
  for (PodGroupTree::Group& group : tree.groups) {
    if (!group.verdict->ok()) continue;
    for (MemberAttempt& member : group.pods.members) {
      if (member.result != AttemptResult::kPlaced) continue;
      framework::PermitVerdict permit;
      if (auto failure = AskPermit(state_, member.attempt, member.node_name, permit)) {
        any_refused = true;
        member.failure = *std::move(failure);
        member.result =
            member.failure.rejected() ? AttemptResult::kRejected : AttemptResult::kError;
      } else {
        member.permit = std::move(permit);
      }
    }
  }
  if (!any_refused) return;
  // What let the others pass may have counted on those that were refused.
  tree.ForEachMember([](MemberAttempt& member) {
    if (!member.permit) return;
    Attempt& attempt = member.attempt;
    framework::RunPermitOfGroups(*attempt.profile, attempt.cycle, *attempt.info(), member.node_name,
                                 *member.permit);
  });
}

void PodGroupCycle::Submit(PodGroupTree tree) {
  AskPermits(tree);
  bool any_goes = false;
  for (PodGroupTree::Group& group : tree.groups) {
    for (MemberAttempt& member : group.pods.members) {
      // An attempt is as long as its own trial: the other pods' turns are no part of it.
      member.attempt.start = state_.clock.Now() - member.took;
      if (member.permit) {
        any_goes = Commit(member) || any_goes;
      } else {
        FailMember(member, tree, group);
      }
    }
    WriteCondition(tree, group);
  }
  state_.observer.ObserveGroupAttempt(*tree.profile, ResultOf(tree),
                                      state_.clock.Now() - tree.start);
  const GroupVerdict& verdict = *tree.root().verdict;
  tree.all_came_back = verdict.ok() && !any_goes;
  const std::string key = tree.root().object.metadata().Key();
  if (verdict.ok()) {
    base::LogV(2, "Successfully scheduled a pod group", {{"podGroup", key}});
  } else if (verdict.code == Code::kUnschedulable) {
    base::LogV(2,
               tree.waits_for_preemption ? "Pod group is waiting for preemption"
                                         : "Unable to schedule a pod group",
               {{"podGroup", key}, {"err", verdict.message()}});
  } else {
    base::LogError("Error scheduling pod group", {{"podGroup", key}, {"err", verdict.message()}});
  }
  End(std::move(tree));
}

bool PodGroupCycle::Commit(MemberAttempt& member) {
  const std::string uid = member.attempt.uid();
  end_.Bind(std::move(member.attempt), std::move(member.node_name), *std::move(member.permit));
  // A binding cycle may end as it begins: in shadow with success.
  return state_.in_shadow || state_.cluster.cache.IsAssumed(uid);
}

void PodGroupCycle::FailMember(MemberAttempt& member, const PodGroupTree& tree,
                               const PodGroupTree::Group& group) {
  Failure& failure = member.failure;
  const GroupVerdict& verdict = *group.verdict;
  if (verdict.code == Code::kError) {
    if (member.result != AttemptResult::kError) failure = {.message = verdict.message()};
  } else if (member.result == AttemptResult::kPlaced && tree.waits_for_preemption) {
    failure.code = Code::kUnschedulable;
    failure.message = verdict.message();
  } else if (member.result == AttemptResult::kPlaced) {
    failure = {.code = Code::kUnschedulable,
               .message = std::string(kPodGroupUnschedulable) + ", " + verdict.message()};
  } else if (member.result == AttemptResult::kUntried) {
    if (!tree.waits_for_preemption) failure.nominating = {};
    failure.code = Code::kUnschedulable;
    failure.message = group.pods.untried_message;
  }
  const bool placed = member.result == AttemptResult::kPlaced;
  end_.Fail(std::move(member.attempt), std::move(failure), placed ? member.node_name : "");
}

void PodGroupCycle::WriteCondition(const PodGroupTree& tree, const PodGroupTree::Group& group) {
  const std::shared_ptr<const api::PodGroup>& object = group.object.pod_group;
  if (object == nullptr) return;
  api::Condition condition = InitiallyScheduled(*group.verdict, object->metadata.generation);
  if (on_pod_group_) {
    on_pod_group_({.pod_group = *object,
                   .composite_pod_group = tree.root().object.composite.get(),
                   .status = condition.status,
                   .reason = condition.reason,
                   .message = condition.message});
  }
  // The status of the others is the business of scheduler-plugins' controller.
  if (object->coscheduling) return;
  state_.writers.group_status_patcher.Patch(object, std::move(condition));
}

void PodGroupCycle::End(PodGroupTree tree) {
  using queue::GroupResult;
  const GroupVerdict& verdict = *tree.root().verdict;
  const bool rejected =
      verdict.code == Code::kUnschedulable || tree.was_rejected || tree.all_came_back;
  const GroupResult result = rejected       ? GroupResult::kRejected
                             : verdict.ok() ? GroupResult::kScheduled
                                            : GroupResult::kError;
  tree.queued->least_backoff = Duration::zero();
  if (result == GroupResult::kRejected && tree.profile != nullptr &&
      IsCoscheduled(tree.root().object)) {
    tree.queued->least_backoff = parts_.profiles.PodGroupBackoff(tree.profile->scheduler_name());
  }
  parts_.queue.AddAttemptedPodGroup(std::move(tree.queued), result, state_.step_clock.Now());
}

std::optional<PreviewAttempt> BeginPreview(SchedulerState& state, const Profiles& profiles,
                                           const api::Pod& pod) {
  const std::string* name = PodGroupNameOf(pod);
  if (name == nullptr || !state.features.pod_groups()) return std::nullopt;
  PreviewAttempt begun;
  engine::PodGroupPreview& preview = begun.preview;
  const std::string& namespace_ = pod.metadata.namespace_;
  preview.pod_group = api::NamespacedKey(namespace_, *name);
  const PodGroupNode* node = state.cluster.pod_group_forest.Find(namespace_, *name);
  preview.exists = node != nullptr;
  const Time start = state.clock.Now();
  PodGroupTree& tree = begun.tree;
  const PodGroupNode* root = node == nullptr ? nullptr : RootOf(*node);
  if (root == nullptr) {
    tree.groups.emplace_back().end = 1;
  } else {
    tree = PodGroupTree::Of(*root);
    NameRoot(root->object, preview);
  }
  tree.start = start;
  tree.preview = true;
  for (PodGroupTree::Group& group : tree.groups) {
    group.pods.preview = true;
    if (group.object.composite != nullptr) continue;
    const PodGroupState* known = state.cluster.pod_groups.Find(
        namespace_, group.object ? group.object.metadata().name : std::string_view(*name));
    if (known == nullptr) continue;
    preview.existing += known->members.size();
    preview.placed += known->scheduled;
    AddWaiting(state, profiles, *known, start, group.pods);
  }
  tree.SetProfile();
  tree.TakePriorityOfPods();
  return begun;
}

std::string WhyNotTried(const SchedulerState& state, PodGroupTree& tree) {
  if (!state.extenders.empty()) return "not tried: extenders would be asked";
  std::string why;
  tree.ForEachMember([&](const MemberAttempt& member) {
    if (!why.empty()) return;
    const api::Pod& pod = member.attempt.pod();
    if (!pod.spec.resource_claims.empty()) {
      why = "not tried: " + pod.metadata.Key() + " has resource claims";
    } else if (!state.cluster.nominator.NominatedNode(pod.metadata.uid).empty()) {
      why = "not tried: " + pod.metadata.Key() + " is nominated for a node";
    }
  });
  return why;
}

engine::PodGroupPreview EndPreview(PreviewAttempt tried, const GroupVerdict& verdict) {
  engine::PodGroupPreview preview = std::move(tried.preview);
  preview.starts = verdict.ok();
  preview.message = verdict.message();
  tried.tree.ForEachMember([&](MemberAttempt& member) {
    engine::PodGroupPreview::Member& shown = preview.waiting.emplace_back();
    shown.pod = member.attempt.pod().metadata.Key();
    if (member.result == MemberAttempt::Result::kPlaced) {
      shown.node = std::move(member.node_name);
      ++preview.fitting;
    } else {
      shown.message = std::move(member.failure.message);
    }
  });
  return preview;
}

}  // namespace berth::scheduler
