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
  if (a.disrupts() != b.disrupts()) return a.disrupts() > b.disrupts();
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
  return group == nullptr ? pod.priority() : Find(*group).priority;
}

Victims::Standing Victims::Find(const api::PodGroup& group) const {
  Standing standing;
  const std::string* parent = nullptr;
  const auto add = [&](const auto& object, Disrupts disrupts) {
    standing.priority = object.spec.priority.value_or(0);
    if (object.spec.disruption_mode && object.spec.disruption_mode->all) {
      standing.evicted_with = &object.metadata;
      standing.disrupts = disrupts;
    }
    const auto& name = object.spec.parent_composite_pod_group_name;
    parent = trees_on_ && name ? &*name : nullptr;
  };
  add(group, Disrupts::kPodGroup);
  for (int depth = 2; parent != nullptr && depth <= kMaxPodGroupTreeDepth; ++depth) {
    const api::CompositePodGroup* composite =
        handle_.listers().FindCompositePodGroup(group.metadata.namespace_, *parent);
    if (composite == nullptr) break;
    add(*composite, Disrupts::kCompositePodGroup);
  }
  return standing;
}

const Victims::Standing& Victims::StandingOf(const api::PodGroup& group) {
  const auto [it, added] = standings_.try_emplace(&group);
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
      const api::ObjectMeta* whole = StandingOf(*object).evicted_with;
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
    const Standing& standing = StandingOf(*object);
    if (standing.evicted_with == nullptr) {
      victims.emplace_back(PlacedPod{pod, row}, standing.priority, standing.disrupts);
      continue;
    }
    FindPodsOfGroups();
    Group& group = groups_[standing.evicted_with];
    if (std::exchange(group.listed_in, lists_) != lists_) {
      victims.emplace_back(group.pods, standing.priority, standing.disrupts);
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
