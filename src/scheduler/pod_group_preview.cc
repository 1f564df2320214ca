// SPDX-License-Identifier: Apache-2.0
#include "src/scheduler/pod_group_preview.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <tuple>
#include <utility>

#include "berth/in_tree/pod_groups.h"

namespace berth::scheduler {

namespace {

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
    attempt.queued->info = state.cache.MakePodInfo(member.pod);
    attempt.profile = profile;
    attempt.start = start;
  }
  std::ranges::sort(group.members, {}, [](const MemberAttempt& member) {
    return std::tuple(-static_cast<int64_t>(member.attempt.info()->priority()),
                      member.attempt.pod().metadata.name);
  });
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

std::optional<PreviewAttempt> BeginPreview(SchedulerState& state, const Profiles& profiles,
                                           const api::Pod& pod) {
  const std::string* name = PodGroupNameOf(pod);
  if (name == nullptr || !state.features.generic_workload) return std::nullopt;
  PreviewAttempt begun;
  engine::PodGroupPreview& preview = begun.preview;
  const std::string& namespace_ = pod.metadata.namespace_;
  preview.pod_group = api::NamespacedKey(namespace_, *name);
  const PodGroupNode* node = state.pod_group_forest.Find(namespace_, *name);
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
    const PodGroupState* known = state.pod_groups.Find(
        namespace_, group.object ? group.object.metadata().name : std::string_view(*name));
    if (known == nullptr) continue;
    preview.existing += known->members.size();
    preview.placed += known->scheduled;
    AddWaiting(state, profiles, *known, start, group.pods);
  }
  tree.SetProfile();
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
    } else if (!state.nominator.NominatedNode(pod.metadata.uid).empty()) {
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
