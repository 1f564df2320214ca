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

bool HasAntiAffinity(const PodInfo& pod) {
  return pod.affinity != nullptr && !pod.affinity->required_anti_affinity.empty();
}

}  // namespace

GroupPreemptionDryRun::GroupPreemptionDryRun(SchedulerState& state, PodGroupTrial& trial,
                                             framework::Cycle& cycle, PodGroupAttempt& group)
    : state_(state),
      trial_(trial),
      cycle_(cycle),
      group_(group),
      cache_trial_(state.cache.BeginTrial()) {}

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

Status GroupPreemptionDryRun::Schedule() {
  // What the cycle found of each member is still to be told.
  PodGroupAttempt tried;
  tried.object = group_.object;
  tried.profile = group_.profile;
  for (MemberAttempt& member : group_.members) {
    MemberAttempt& again = tried.members.emplace_back();
    again.attempt.queued = std::move(member.attempt.queued);
    again.attempt.profile = member.attempt.profile;
    again.attempt.cycle.observer = &state_.observer;
  }
  const GroupVerdict verdict = trial_.Try(tried);
  for (size_t i = 0; i < tried.members.size(); ++i) {
    MemberAttempt& again = tried.members[i];
    if (again.result == MemberAttempt::Result::kPlaced) {
      assigned_.push_back({again.attempt.info(), state_.cache.FindNode(again.node_name),
                           std::move(again.node_name),
                           std::string(state_.nominator.NominatedNode(again.attempt.uid()))});
      state_.nominator.DeleteNominatedPodIfExists(again.attempt.pod());
    }
    group_.members[i].attempt.queued = std::move(again.attempt.queued);
  }
  if (!verdict.ok()) return cycle_.state.reasons().Make(verdict.code, verdict.message());
  for (const Assigned& assigned : assigned_) {
    assignments_.push_back({assigned.info.get(), assigned.node_name});
  }
  looks_beyond_ = AnyLooksBeyondItsNode();
  return {};
}

bool GroupPreemptionDryRun::AnyLooksBeyondItsNode() {
  for (const Assigned& assigned : assigned_) {
    framework::Cycle cycle;
    NodeSet candidates;
    diagnosis_.Reset(state_.cache.num_rows());
    if (!engine::PreFilterNodes(*group_.profile, cycle, *assigned.info, state_.cache, diagnosis_,
                                candidates)
             .ok()) {
      return true;
    }
    for (const framework::FilterEntry& entry : group_.profile->plugins().filter) {
      if (cycle.skip_filter.test(entry.index)) continue;
      if (LooksBeyondTheNode(entry.instance->inputs)) return true;
    }
  }
  return false;
}

Status GroupPreemptionDryRun::Judge(const Assigned& assigned, framework::Cycle& cycle) {
  const framework::Profile& profile = *group_.profile;
  cycle.observer = &state_.observer;
  diagnosis_.Reset(state_.cache.num_rows());
  NodeSet nodes;
  if (Status status =
          engine::PreFilterNodes(profile, cycle, *assigned.info, state_.cache, diagnosis_, nodes);
      !status.ok()) {
    return status;
  }
  if (!nodes.Test(assigned.row)) return Status(Code::kUnschedulable);
  NodeSet node(state_.cache.num_rows());
  node.Set(assigned.row);
  const engine::ClusterState cluster = ClusterOf(state_);
  if (Status status = engine::FilterPass(profile, cycle, *assigned.info, cluster).Run(node);
      !status.ok()) {
    return status;
  }
  if (node.Empty()) return Status(Code::kUnschedulable);
  return framework::RunReserve(profile, cycle, *assigned.info, assigned.node_name).status;
}

Status GroupPreemptionDryRun::JudgeTogether(const NodeSet* rows) {
  cache::Trial together = state_.cache.BeginTrial();
  struct Held {
    const Assigned* assigned;
    framework::Cycle cycle;
  };
  std::vector<Held> held;
  Status verdict;
  for (const Assigned& assigned : assigned_) {
    if (rows != nullptr && !rows->Test(assigned.row)) continue;
    Held& member = held.emplace_back(Held{&assigned, {}});
    const Status status = Judge(assigned, member.cycle);
    if (!status.ok()) {
      // The reasons live as long as the member's cycle.
      verdict = cycle_.state.reasons().Make(status.code(), status.message());
      break;
    }
    if (auto assumed = together.Assume(assigned.info, assigned.row); !assumed) {
      verdict = cycle_.state.reasons().Error(assumed.error().message);
      break;
    }
  }
  while (!held.empty()) {
    Held& member = held.back();
    framework::RunUnreserve(*group_.profile, member.cycle, *member.assigned->info,
                            member.assigned->node_name);
    held.pop_back();
  }
  return verdict;
}

Result<bool> GroupPreemptionDryRun::Reprieve(std::span<const PodInfo* const> pods) {
  NodeSet rows(state_.cache.num_rows());
  bool beyond = looks_beyond_;
  for (const PodInfo* pod : pods) {
    const cache::CachedPod& back = removed_.find(pod->pod->metadata.uid)->second;
    if (auto assumed = cache_trial_.Assume(back.info, back.row); !assumed) {
      return Fail(assumed.error());
    }
    rows.Set(back.row);
    beyond = beyond || HasAntiAffinity(*pod);
  }
  const Status verdict = JudgeTogether(beyond ? nullptr : &rows);
  if (verdict.ok()) return true;
  for (const PodInfo* pod : pods) cache_trial_.Remove(pod->pod->metadata.uid);
  if (verdict.rejected()) return false;
  return Fail(verdict.message());
}

}  // namespace berth::scheduler
