// SPDX-License-Identifier: Apache-2.0
#include "src/scheduler/pod_group_preview.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <tuple>
#include <utility>

#include "berth/in_tree/pod_groups.h"

namespace berth::scheduler {

std::optional<PreviewAttempt> BeginPreview(SchedulerState& state, const Profiles& profiles,
                                           const api::Pod& pod) {
  const std::string* name = PodGroupNameOf(pod);
  if (name == nullptr || !state.features.generic_workload) return std::nullopt;
  PreviewAttempt begun;
  engine::PodGroupPreview& preview = begun.preview;
  preview.pod_group = pod.metadata.namespace_ + "/" + *name;
  if (const auto* object = state.objects.FindPodGroup(pod.metadata.namespace_, *name)) {
    begun.group.object = std::make_shared<const api::PodGroup>(*object);
  }
  begun.group.start = state.clock.Now();
  preview.exists = begun.group.object != nullptr;
  if (preview.exists && begun.group.object->spec.scheduling_policy.gang) {
    preview.min_count = begun.group.object->spec.scheduling_policy.gang->min_count;
  }
  const PodGroupState* known = state.pod_groups.Find(pod.metadata.namespace_, *name);
  if (known == nullptr) return begun;
  preview.existing = known->members.size();
  preview.placed = known->scheduled;
  for (const auto& [uid, member] : known->members) {
    if (member.placed || member.pod->metadata.deletion_timestamp ||
        !member.pod->spec.scheduling_gates.empty()) {
      continue;
    }
    const framework::Profile* profile = profiles.Find(member.pod->spec.scheduler_name);
    if (profile == nullptr) continue;
    Attempt& attempt = begun.group.members.emplace_back().attempt;
    attempt.queued = std::make_unique<queue::QueuedPod>();
    attempt.queued->info = state.cache.MakePodInfo(member.pod);
    attempt.profile = profile;
    attempt.start = begun.group.start;
  }
  std::ranges::sort(begun.group.members, {}, [](const MemberAttempt& member) {
    return std::tuple(-static_cast<int64_t>(member.attempt.info()->priority()),
                      member.attempt.pod().metadata.name);
  });
  if (!begun.group.members.empty()) {
    begun.group.profile = begun.group.members.front().attempt.profile;
  }
  return begun;
}

std::string WhyNotTried(const SchedulerState& state, const PodGroupAttempt& group) {
  if (!state.extenders.empty()) return "not tried: extenders would be asked";
  for (const MemberAttempt& member : group.members) {
    const api::Pod& pod = member.attempt.pod();
    if (!pod.spec.resource_claims.empty()) {
      return "not tried: " + pod.metadata.Key() + " has resource claims";
    }
    if (!state.nominator.NominatedNode(pod.metadata.uid).empty()) {
      return "not tried: " + pod.metadata.Key() + " is nominated for a node";
    }
  }
  return "";
}

engine::PodGroupPreview EndPreview(PreviewAttempt tried, const GroupVerdict& verdict) {
  engine::PodGroupPreview preview = std::move(tried.preview);
  preview.starts = verdict.ok();
  preview.message = verdict.message();
  for (MemberAttempt& member : tried.group.members) {
    engine::PodGroupPreview::Member& shown = preview.waiting.emplace_back();
    shown.pod = member.attempt.pod().metadata.Key();
    if (member.result == MemberAttempt::Result::kPlaced) {
      shown.node = std::move(member.node_name);
      ++preview.fitting;
    } else {
      shown.message = std::move(member.failure.message);
    }
  }
  return preview;
}

}  // namespace berth::scheduler
