// SPDX-License-Identifier: Apache-2.0
#include "plugins/gang_scheduling/gang_scheduling.h"

#include <chrono>
#include <string>

#include "plugins/shared/gang.h"
#include "plugins/shared/hint_objects.h"

namespace berth::plugins {
namespace {

constexpr std::string_view kGangSearchSteps = "searchSteps";

GangSchedulingArgs ReadGangArgs(FieldReader& fields) {
  GangSchedulingArgs args;
  fields.Read(kGangSearchSteps, args.search_steps);
  return args;
}

std::vector<std::string> GangProblems(const GangSchedulingArgs& args, const std::string& path) {
  std::vector<std::string> problems;
  CheckRange(args.search_steps, 0, INT64_MAX, FieldPath(path, kGangSearchSteps), problems);
  return problems;
}

// How long a decided pod waits for the others of its gang.
constexpr Duration kPermitTimeout = std::chrono::minutes(5);

// How many pods the group needs, or children: of a group that is no gang, one.
size_t MinCount(const AnyPodGroup& group) {
  if (group.composite != nullptr) {
    const auto& gang = group.composite->spec.scheduling_policy.gang;
    return gang ? static_cast<size_t>(gang->min_group_count) : 1;
  }
  const auto& gang = group.pod_group->spec.scheduling_policy.gang;
  return gang ? static_cast<size_t>(gang->min_count) : 1;
}

}  // namespace

constexpr ArgsKind<GangSchedulingArgs> kGangSchedulingArgs =
    MakeArgsKind<"GangScheduling", ReadGangArgs, GangProblems>();

GangScheduling::GangScheduling(const GangSchedulingArgs& args, Handle& handle)
    : handle_(handle),
      args_(args),
      too_few_pods_(
          handle.reasons().Make(Code::kUnschedulableAndUnresolvable,
                                "waiting for minCount pods from a gang to appear in scheduling "
                                "queue")),
      waiting_(handle.reasons().Make(Code::kWait,
                                     "waiting for minCount pods from a gang to be scheduled")) {}

const PodGroupNode* GangScheduling::NodeOf(const api::Pod& pod) const {
  const std::string* name = PodGroupNameOf(pod);
  if (name == nullptr) return nullptr;
  return handle_.pod_group_forest().Find(pod.metadata.namespace_, *name);
}

Status GangScheduling::PreEnqueue(const PodInfo& pod) {
  const std::string* name = PodGroupNameOf(*pod.pod);
  if (name == nullptr) return {};
  const PodGroupNode* group = NodeOf(*pod.pod);
  if (group == nullptr) {
    return reasons_.emplace().Make(
        Code::kUnschedulableAndUnresolvable,
        "waiting for pods's pod group \"" + *name + "\" to appear in scheduling queue");
  }
  if (IsCoscheduled(group->object)) return {};
  if (group->parent != nullptr) return PreEnqueueInTree(*group);
  // Its own pods are there: one is enough for a group that is no gang.
  if (!group->object.pod_group->spec.scheduling_policy.gang) return {};
  return IsReady(*group, Count::kAll) ? Status() : too_few_pods_;
}

Status GangScheduling::PreEnqueueInTree(const PodGroupNode& group) {
  const PodGroupNode* root = RootOf(group);
  if (root != nullptr && IsReady(*root, Count::kAll)) return {};
  const std::string why =
      root == nullptr ? "failed to build hierarchy snapshot: a composite pod group above pod group "
                      : "waiting for composite pod group ";
  const PodGroupNode& named = root == nullptr ? group : *root;
  return reasons_.emplace().Make(Code::kUnschedulableAndUnresolvable,
                                 why + "\"" + named.object.metadata().name + "\" " +
                                     (root == nullptr ? "is not found" : "tree to meet quorum"));
}

bool GangScheduling::IsReady(const PodGroupNode& group, Count count, int depth) const {
  if (!group.object || depth > kMaxPodGroupTreeDepth) return false;
  size_t ready = 0;
  if (group.composite) {
    for (const PodGroupNode* child : group.children) {
      if (IsReady(*child, count, depth + 1)) ++ready;
    }
  } else {
    const api::ObjectMeta& metadata = group.object.metadata();
    const PodGroupState* pods = handle_.pod_groups().Find(metadata.namespace_, metadata.name);
    if (pods != nullptr) ready = count == Count::kAll ? pods->members.size() : pods->scheduled;
  }
  return ready >= MinCount(group.object);
}

template <typename Visit>
void GangScheduling::ForEachState(const PodGroupNode& group, Visit visit, int depth) const {
  if (depth > kMaxPodGroupTreeDepth) return;
  for (const PodGroupNode* child : group.children) ForEachState(*child, visit, depth + 1);
  if (group.composite) return;
  const api::ObjectMeta& metadata = group.object.metadata();
  const PodGroupState* pods = handle_.pod_groups().Find(metadata.namespace_, metadata.name);
  if (pods != nullptr) visit(*pods);
}

PermitResult GangScheduling::Permit(CycleState& state, const PodInfo& pod, std::string_view) {
  const std::string* name = PodGroupNameOf(*pod.pod);
  if (name == nullptr) return {};
  const PodGroupNode* group = NodeOf(*pod.pod);
  if (group == nullptr) {
    return {.status = state.reasons().Error("failed to get podGroup " +
                                            pod.pod->metadata.namespace_ + "/" + *name)};
  }
  if (IsCoscheduled(group->object)) return {};
  const PodGroupNode* root = RootOf(*group);
  if (root == nullptr) {
    return {.status = state.reasons().Error(
                "failed to build hierarchy snapshot: a composite pod group above pod group \"" +
                *name + "\" is not found")};
  }
  if (root == group && !group->object.pod_group->spec.scheduling_policy.gang) return {};
  if (IsReady(*root, Count::kScheduled)) {
    ForEachState(*root, [&](const PodGroupState& pods) { AllowAssumed(pods, kName, handle_); });
    return {};
  }
  Activate(*root);
  if (root == group) return {.status = waiting_, .timeout = kPermitTimeout};
  return {.status = state.reasons().Make(Code::kWait, "waiting for composite pod group \"" +
                                                          root->object.metadata().name +
                                                          "\" tree to meet quorum"),
          .timeout = kPermitTimeout};
}

void GangScheduling::Activate(const PodGroupNode& root) {
  bool done = false;
  ForEachState(root,
               [&](const PodGroupState& group) { done = done || ActivateOne(group, handle_); });
}

Status GangScheduling::PlacementFeasible(CycleState& state, const AnyPodGroup& group,
                                         const PlacementProgress& progress) {
  if (IsCoscheduled(group)) return {};
  const size_t min_count = MinCount(group);
  if (progress.scheduled >= min_count) return {};
  const bool hopeless = progress.scheduled + progress.remaining < min_count;
  return state.reasons().Make(
      hopeless ? Code::kUnschedulable : Code::kWait,
      "minCount (" + std::to_string(min_count) + ") " + (hopeless ? "cannot be" : "is not yet") +
          " satisfied: " + std::to_string(progress.scheduled) + " scheduled, " +
          std::to_string(progress.remaining) + " remaining");
}

bool GangScheduling::SameRoot(const api::Pod& pod, const PodGroupNode* other) const {
  const PodGroupNode* group = NodeOf(pod);
  if (group == nullptr || other == nullptr) return false;
  const PodGroupNode* root = RootOf(*group);
  return root != nullptr && root == RootOf(*other);
}

// A pod of the same tree may complete what its groups need.
Result<QueueingHint> GangScheduling::AfterPodAdded(const api::Pod& pod,
                                                   const api::ObjectPtr& added) const {
  const auto* other = api::As<api::Pod>(added);
  return QueueIf(other != nullptr && SameRoot(pod, NodeOf(*other)));
}

// Fewer pods may be enough now.
Result<QueueingHint> GangScheduling::AfterPodGroupUpdated(const api::Pod& pod,
                                                          const api::ObjectPtr& before,
                                                          const api::ObjectPtr& after) const {
  const auto* old_group = api::As<api::PodGroup>(before);
  const auto* group = api::As<api::PodGroup>(after);
  if (old_group == nullptr || group == nullptr) return QueueingHint::kQueueSkip;
  const auto& old_gang = old_group->spec.scheduling_policy.gang;
  const auto& gang = group->spec.scheduling_policy.gang;
  if (!old_gang || !gang || gang->min_count >= old_gang->min_count) return QueueingHint::kQueueSkip;
  const PodGroupForest& forest = handle_.pod_group_forest();
  return QueueIf(SameRoot(pod, forest.Find(group->metadata.namespace_, group->metadata.name)));
}

std::vector<ClusterEventWithHint> GangScheduling::EventsToRegister() const {
  const auto after_pod = [this](const api::Pod& pod, const api::ObjectPtr&,
                                const api::ObjectPtr& added) { return AfterPodAdded(pod, added); };
  const auto after_group = [this](const api::Pod& pod, const api::ObjectPtr&,
                                  const api::ObjectPtr& added) -> Result<QueueingHint> {
    const PodGroupForest& forest = handle_.pod_group_forest();
    const PodGroupNode* other = nullptr;
    if (const auto* group = api::As<api::PodGroup>(added)) {
      other = forest.Find(group->metadata.namespace_, group->metadata.name);
    } else if (const auto* composite = api::As<api::CompositePodGroup>(added)) {
      other = forest.FindComposite(composite->metadata.namespace_, composite->metadata.name);
    }
    return QueueIf(SameRoot(pod, other));
  };
  const auto after_update = [this](const api::Pod& pod, const api::ObjectPtr& before,
                                   const api::ObjectPtr& after) {
    return AfterPodGroupUpdated(pod, before, after);
  };
  std::vector<ClusterEventWithHint> events = {
      {{EventResource::kUnscheduledPod, action::kAdd}, after_pod},
      {{EventResource::kAssignedPod, action::kAdd}, after_pod},
      {{EventResource::kPodGroup, action::kAdd}, after_group},
      {{EventResource::kPodGroup, action::kUpdate}, after_update}};
  if (handle_.features().composite_pod_group) {
    events.push_back({{EventResource::kCompositePodGroup, action::kAdd}, after_group});
  }
  return events;
}

}  // namespace berth::plugins
