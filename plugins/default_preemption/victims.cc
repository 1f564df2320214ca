// SPDX-License-Identifier: Apache-2.0
#include "plugins/default_preemption/victims.h"

#include <algorithm>
#include <utility>

#include "berth/in_tree/pod_groups.h"

namespace berth::plugins {
namespace {

Time EarliestStart(const Victim& victim, Time now) {
  Time earliest = Time::max();
  for (const PlacedPod& pod : victim.pods()) {
    earliest = std::min(earliest, pod.info->start_time.value_or(now));
  }
  return earliest;
}

}  // namespace

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
  if (a.of_group() != b.of_group()) return a.of_group();
  if (a.pods().size() != b.pods().size()) return a.pods().size() > b.pods().size();
  return EarliestStart(a, now) < EarliestStart(b, now);
}

const api::PodGroup* Victims::GroupOf(const PodInfo& pod) const {
  const std::string* name = groups_on_ ? PodGroupNameOf(*pod.pod) : nullptr;
  return name == nullptr ? nullptr
                         : handle_.listers().FindPodGroup(pod.pod->metadata.namespace_, *name);
}

int32_t Victims::PriorityOf(const PodInfo& pod) const {
  const api::PodGroup* group = GroupOf(pod);
  return group == nullptr ? pod.priority() : group->spec.priority.value_or(0);
}

Victims::Group& Victims::StateOf(const api::PodGroup& group) {
  const auto [it, added] = groups_.try_emplace(&group);
  if (added) {
    it->second.priority = group.spec.priority.value_or(0);
    it->second.evicted_whole = group.spec.disruption_mode && group.spec.disruption_mode->all;
  }
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
      Group& group = StateOf(*object);
      if (group.evicted_whole) group.pods.push_back({pod, row});
    }
  });
}

void Victims::Add(NodeRow row, std::vector<Victim>& victims) {
  for (const PodInfo* pod : snapshot_.pods(row)) {
    const bool may_have_group = groups_on_ && PodGroupNameOf(*pod->pod) != nullptr;
    const api::PodGroup* object = may_have_group ? GroupOf(*pod) : nullptr;
    if (object == nullptr) {
      victims.emplace_back(PlacedPod{pod, row}, pod->priority(), may_have_group);
      continue;
    }
    Group& group = StateOf(*object);
    if (!group.evicted_whole) {
      victims.emplace_back(PlacedPod{pod, row}, group.priority, true);
      continue;
    }
    FindPodsOfGroups();
    if (std::exchange(group.listed_in, lists_) != lists_) {
      victims.emplace_back(group.pods, group.priority);
    }
  }
}

void Victims::OnNode(NodeRow row, std::vector<Victim>& victims) {
  ++lists_;
  Add(row, victims);
}

std::vector<Victim> Victims::InCluster() {
  ++lists_;
  std::vector<Victim> victims;
  snapshot_.nodes().ForEach([&](NodeRow row) { Add(row, victims); });
  return victims;
}

}  // namespace berth::plugins
