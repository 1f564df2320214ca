// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "berth/in_tree/pod_groups.h"
#include "plugins/default_preemption/default_preemption.h"

// How DefaultPreemption makes room for a pod group.
namespace berth::plugins {
namespace {

constexpr std::string_view kGroupPrefix = "pod group preemption: ";
// The metric of evaluations has one name for both, as in kube-scheduler.
constexpr std::string_view kEvaluated = "podgroup";

// As metrics, events and conditions call it.
std::string_view KindOf(const PodGroupInfo& group) {
  return group.object.composite != nullptr ? "compositepodgroup" : "podgroup";
}

int32_t PriorityOf(const PodGroupInfo& group) { return group.object.priority(); }

constexpr std::string_view kNever = "Never";

// As what the API server knows it.
std::string_view ApiVersionOf(const AnyPodGroup& group) {
  if (group.composite != nullptr) return "scheduling.k8s.io/v1alpha3";
  return group.pod_group->coscheduling ? "scheduling.x-k8s.io/v1alpha1"
                                       : "scheduling.k8s.io/v1beta1";
}

// What an event calls the group by.
api::ObjectReference ReferenceTo(const PodGroupInfo& group) {
  const bool composite = group.object.composite != nullptr;
  const api::ObjectMeta& metadata = group.object.metadata();
  return {.kind = composite ? "CompositePodGroup" : "PodGroup",
          .namespace_ = metadata.namespace_,
          .name = metadata.name.substr(metadata.name.rfind('/') + 1),
          .uid = metadata.uid,
          .api_version = std::string(ApiVersionOf(group.object)),
          .resource_version = metadata.resource_version};
}

std::vector<const PodInfo*> PodsOf(const Victim& victim) {
  std::vector<const PodInfo*> pods;
  for (const PlacedPod& pod : victim.pods()) pods.push_back(pod.info);
  return pods;
}

}  // namespace

bool MayEvictOthers(const PodGroupInfo& group, const Features& features) {
  const auto never = [](const PodInfo* pod) { return pod->pod->spec.preemption_policy == kNever; };
  const auto& pods = group.unscheduled_pods;
  if (group.object.pod_group != nullptr && group.object.pod_group->coscheduling) {
    return std::ranges::none_of(pods, never);
  }
  return features.pod_group_preemption_policy ? group.object.preemption_policy() != kNever
                                              : !never(pods.front());
}

Preemptor PreemptorOf(const PodGroupInfo& group) {
  Preemptor preemptor{
      group.object.metadata().uid, KindOf(group), PriorityOf(group), {}, ReferenceTo(group)};
  for (const PodInfo* pod : group.unscheduled_pods) {
    preemptor.pod_keys.push_back(pod->pod->metadata.Key());
  }
  return preemptor;
}

PodGroupPostFilterResult DefaultPreemption::PodGroupPostFilter(CycleState& state,
                                                               const PodGroupInfo& group,
                                                               const Snapshot& snapshot,
                                                               PodGroupDryRun& dry_run) {
  PodGroupPostFilterResult result = PreemptFor(state, group, snapshot, dry_run);
  const Code code = result.status.code();
  result.status = state.reasons().Make(code, std::string(kGroupPrefix) + result.status.message());
  handle_.CountMetric("workload_preemption_attempts_total", {CodeName(code)}, 1);
  return result;
}

PodGroupPostFilterResult DefaultPreemption::PreemptFor(CycleState& state, const PodGroupInfo& group,
                                                       const Snapshot& snapshot,
                                                       PodGroupDryRun& dry_run) {
  if (!MayEvictOthers(group, handle_.features())) {
    return {
        state.reasons().Make(Code::kUnschedulable, "not eligible due to preemptionPolicy=Never.")};
  }
  PodGroupPostFilterResult result;
  if (PreemptionGoesOn(group, snapshot)) {
    for (const PodInfo* pod : group.unscheduled_pods) {
      result.nominations.push_back({pod->pod->metadata.uid, pod->pod->status.nominated_node_name});
    }
    result.status = state.reasons().Make(Code::kSuccess, "ongoing preemption on nominated nodes");
    return result;
  }
  const Time start = handle_.stopwatch().Now();
  Victims victims(handle_, snapshot);
  std::vector<RankedVictim> evicted;
  result.status = SelectVictims(state, group, victims, dry_run, evicted);
  const std::chrono::duration<double> took = handle_.stopwatch().Now() - start;
  handle_.ObserveMetric("preemption_evaluation_duration_seconds",
                        {kEvaluated, CodeName(result.status.code())}, took.count());
  if (!result.status.ok()) return result;
  size_t num_pods = 0;
  for (const RankedVictim& ranked : evicted) num_pods += ranked.victim.pods().size();
  for (const ProposedAssignment& assignment : dry_run.assignments()) {
    result.nominations.push_back(
        {assignment.pod->pod->metadata.uid, std::string(assignment.node_name)});
  }
  Execute(group, snapshot, evicted);
  result.status =
      state.reasons().Make(Code::kSuccess, "found a placement for podgroup, preempting " +
                                               std::to_string(num_pods) + " victims");
  return result;
}

bool DefaultPreemption::PreemptionGoesOn(const PodGroupInfo& group,
                                         const Snapshot& snapshot) const {
  const Victims victims(handle_, snapshot);
  return std::ranges::any_of(group.unscheduled_pods, [&](const PodInfo* pod) {
    const std::string& nominated = pod->pod->status.nominated_node_name;
    const NodeRow row = nominated.empty() ? kNoRow : snapshot.FindNode(nominated);
    if (row == kNoRow) return false;
    return std::ranges::any_of(snapshot.pods(row), [&](const PodInfo* placed) {
      return TerminatingByPreemption(*placed->pod) &&
             victims.PriorityOf(*placed) < PriorityOf(group);
    });
  });
}

Status DefaultPreemption::SelectVictims(CycleState& state, const PodGroupInfo& group,
                                        Victims& victims, PodGroupDryRun& dry_run,
                                        std::vector<RankedVictim>& evicted) {
  std::vector<RankedVictim> potential;
  for (const Victim& victim : victims.InCluster()) {
    if (victim.priority() < PriorityOf(group)) potential.push_back({victim, 0, potential.size()});
  }
  if (potential.empty()) {
    return state.reasons().Make(Code::kUnschedulableAndUnresolvable,
                                "No preemption victims found for incoming preemptor");
  }
  for (const RankedVictim& ranked : potential) dry_run.RemovePods(PodsOf(ranked.victim));
  if (const Status status = dry_run.Schedule(); !status.ok()) return status;

  const Time now = handle_.clock().WallNow();
  DisruptionBudgets budgets(handle_.listers());
  OrderForReprieve(potential, budgets, now);
  for (const RankedVictim& ranked : potential) {
    const Result<bool> reprieved = dry_run.Reprieve(PodsOf(ranked.victim));
    if (!reprieved) return state.reasons().Error(reprieved.error().message);
    if (!*reprieved) evicted.push_back(ranked);
  }
  SortEvicted(evicted, now);
  return {};
}

void DefaultPreemption::Execute(const PodGroupInfo& group, const Snapshot& snapshot,
                                const std::vector<RankedVictim>& evicted) {
  std::vector<const PodInfo*> whole;
  for (const RankedVictim& ranked : evicted) {
    if (ranked.victim.group() != nullptr) whole.push_back(ranked.victim.pods().front().info);
  }
  std::vector<EvictedPod> pods = OnGoneNodes(snapshot, whole);
  size_t num_pods = 0;
  int64_t disruptions = 0;
  int64_t broken_budgets = 0;
  for (const RankedVictim& ranked : evicted) {
    disruptions += ranked.victim.of_group() ? 1 : 0;
    broken_budgets += ranked.broken_budgets;
    num_pods += ranked.victim.pods().size();
    for (const PlacedPod& pod : ranked.victim.pods()) {
      if (pod.info->pod->metadata.deletion_timestamp) continue;
      pods.push_back({pod.info->pod, snapshot.node(pod.row).metadata.name});
    }
  }
  handle_.ObserveMetric("workload_preemption_victims", {}, static_cast<double>(num_pods));
  if (disruptions > 0) {
    handle_.ObserveMetric("preemption_workload_disruptions", {KindOf(group)},
                          static_cast<double>(disruptions));
  }
  if (broken_budgets > 0) {
    handle_.CountMetric("preemption_pdb_violations_total", {KindOf(group)},
                        static_cast<double>(broken_budgets));
  }
  evictions_->Start(PreemptorOf(group), "cluster", std::move(pods));
}

}  // namespace berth::plugins
