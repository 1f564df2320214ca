// SPDX-License-Identifier: Apache-2.0
#include "src/scheduler/pod_group_dry_run.h"

#include <algorithm>
#include <utility>

#include "src/engine/filter.h"
#include "src/scheduler/cycle_steps.h"

namespace berth::scheduler {
namespace {

// Whether pods on other nodes are something to the filter.
bool LooksBeyondTheNode(const Inputs& inputs) {
  return !inputs.declared || std::ranges::any_of(inputs.inputs, [](const Input& input) {
    return input.reach == Reach::kDomain || input.reach == Reach::kCluster;
  });
}

}  // namespace

GroupPreemptionDryRun::GroupPreemptionDryRun(SchedulerState& state, CompositeTrial& trial,
                                             framework::Cycle& cycle, PodGroupTree& tree)
    : state_(state),
      trial_(trial),
      cycle_(cycle),
      tree_(tree),
      cache_trial_(state.cache.BeginTrial()) {}

// The members that are in place with those before them.
class GroupPreemptionDryRun::Together {
 public:
  explicit Together(GroupPreemptionDryRun& dry_run)
      : dry_run_(dry_run), trial_(dry_run.state_.cache.BeginTrial()) {}
  ~Together();
  Together(const Together&) = delete;
  Together& operator=(const Together&) = delete;

  Status Add(const Assigned& assigned);

 private:
  struct Reserved {
    const Assigned* assigned;
    framework::Cycle cycle;
  };

  GroupPreemptionDryRun& dry_run_;
  cache::Trial trial_;
  std::vector<Reserved> reserved_;
};

GroupPreemptionDryRun::~GroupPreemptionDryRun() {
  for (const Assigned& assigned : assigned_) {
    if (assigned.nominated_node.empty()) continue;
    state_.nominator.AddNominatedPod(assigned.info,
                                     {NominatingMode::kOverride, assigned.nominated_node});
  }
}

void GroupPreemptionDryRun::RemovePods(std::span<const PodInfo* const> pods) {
  for (const PodInfo* pod : pods) {
    const std::string& uid = pod->pod->metadata.uid;
    removed_.insert_or_assign(uid, *state_.cache.FindPod(uid));
    cache_trial_.Remove(uid);
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
  for (size_t i = 0; i < tried.groups.size(); ++i) {
    PodGroupAttempt& pods = tried.groups[i].pods;
    for (size_t m = 0; m < pods.members.size(); ++m) {
      MemberAttempt& again = pods.members[m];
      if (starting[i] && again.result == MemberAttempt::Result::kPlaced) {
        assigned_.push_back(
            {.info = again.attempt.info(),
             .row = state_.cache.FindNode(again.node_name),
             .node_name = std::move(again.node_name),
             .nominated_node = std::string(state_.nominator.NominatedNode(again.attempt.uid())),
             .cycle = {},
             .hears_of_pods = false});
        state_.nominator.DeleteNominatedPodIfExists(again.attempt.pod());
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
  for (Assigned& assigned : assigned_) {
    assigned.cycle.observer = &state_.observer;
    const framework::PreFilterVerdict said =
        framework::RunPreFilter(profile, assigned.cycle, *assigned.info, state_.cache);
    if (const Status& status = said.verdict.status; !status.ok()) return Keep(status);
    framework::RunDetach(profile, assigned.cycle);
    assigned.hears_of_pods = framework::HasPreFilterExtensions(profile, assigned.cycle);
    looks_beyond_ = looks_beyond_ || LooksBeyondItsNode(assigned);
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
  NodeSet node(state_.cache.num_rows());
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
  while (!reserved_.empty()) {
    Reserved& last = reserved_.back();
    framework::RunUnreserve(*dry_run_.tree_.profile, last.cycle, *last.assigned->info,
                            last.assigned->node_name);
    reserved_.pop_back();
  }
}

Status GroupPreemptionDryRun::JudgeTogether(const NodeSet* rows) {
  Together together(*this);
  const Assigned* before = nullptr;
  for (const Assigned& assigned : assigned_) {
    if (rows != nullptr && !rows->Test(assigned.row)) continue;
    if (before != nullptr) {
      if (Status status = together.Add(*before); !status.ok()) return status;
    }
    if (Status status = Judge(assigned); !status.ok()) return status;
    before = &assigned;
  }
  return {};
}

Status GroupPreemptionDryRun::Tell(const PodInfo& pod, NodeRow row, Comes comes) {
  const NodeView node(state_.cache, row);
  for (Assigned& assigned : assigned_) {
    if (!assigned.hears_of_pods) continue;
    framework::Cycle& cycle = assigned.cycle;
    const auto tell = comes == Comes::kBack ? framework::RunAddPod : framework::RunRemovePod;
    const Status status = tell(*tree_.profile, cycle, cycle.state, *assigned.info, pod, node);
    if (!status.ok()) return status;
  }
  return {};
}

Result<bool> GroupPreemptionDryRun::Reprieve(std::span<const PodInfo* const> pods) {
  NodeSet rows(state_.cache.num_rows());
  for (const PodInfo* pod : pods) {
    const cache::CachedPod& back = removed_.find(pod->pod->metadata.uid)->second;
    if (auto assumed = cache_trial_.Assume(back.info, back.row); !assumed) {
      return Fail(assumed.error());
    }
    if (const Status status = Tell(*pod, back.row, Comes::kBack); !status.ok()) {
      return Fail(status.message());
    }
    rows.Set(back.row);
  }
  const Status verdict = JudgeTogether(looks_beyond_ ? nullptr : &rows);
  if (verdict.ok()) return true;
  for (const PodInfo* pod : pods) {
    const std::string& uid = pod->pod->metadata.uid;
    cache_trial_.Remove(uid);
    if (const Status status = Tell(*pod, removed_.find(uid)->second.row, Comes::kAway);
        !status.ok()) {
      return Fail(status.message());
    }
  }
  if (verdict.rejected()) return false;
  return Fail(verdict.message());
}

}  // namespace berth::scheduler
