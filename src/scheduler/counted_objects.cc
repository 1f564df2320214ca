// SPDX-License-Identifier: Apache-2.0
#include "src/scheduler/counted_objects.h"

#include <algorithm>
#include <string>
#include <utility>

#include "berth/in_tree/pod_groups.h"

namespace berth::scheduler {
namespace {

constexpr std::string_view kPodGroupLabel = "scheduling.x-k8s.io/pod-group";
constexpr std::string_view kPrefixOfName = "scheduling.x-k8s.io/";

// Under which name the group of scheduling.x-k8s.io is known.
std::string NameOfGroup(const std::string& name, const Features& features) {
  return features.generic_workload ? std::string(kPrefixOfName) + name : name;
}

// The group that the pod counts for; "": for none.
std::string GroupOf(const api::Pod& pod, const Features& features, const Profiles& profiles) {
  const std::string* of_field = PodGroupNameOf(pod);
  if (of_field != nullptr && features.generic_workload) return *of_field;
  // Most pods have no such label, and each of their events is looked at.
  const std::string* label = api::Find(pod.metadata.labels, kPodGroupLabel);
  if (label == nullptr || label->empty()) return "";
  const std::string& scheduler_name = pod.spec.scheduler_name;
  const bool by_label = profiles.Find(scheduler_name) == nullptr
                            ? !pod.spec.node_name.empty()
                            : profiles.HasCoscheduling(scheduler_name);
  return by_label ? NameOfGroup(*label, features) : "";
}

api::ObjectPtr AsPodGroup(const api::ObjectPtr& object, const Features& features) {
  const auto* group = api::As<api::CoschedulingPodGroup>(object);
  if (group == nullptr) return {};
  auto counted = std::make_shared<api::PodGroup>();
  counted->metadata = group->metadata;
  counted->metadata.name = NameOfGroup(group->metadata.name, features);
  // A gang of none is one of a single pod: it starts with what fits.
  counted->spec.scheduling_policy.gang.emplace().min_count = std::max(group->spec.min_member, 1);
  counted->coscheduling = group->spec;
  return std::shared_ptr<const api::PodGroup>(std::move(counted));
}

}  // namespace

std::shared_ptr<const api::Pod> Counted(const std::shared_ptr<const api::Pod>& pod,
                                        const Features& features, const Profiles& profiles) {
  const bool claims_count = features.dra_node_allocatable_resources ||
                            pod->status.node_allocatable_resource_claim_statuses.empty();
  std::string group;
  bool group_counts = true;  // as the pod names it
  if (features.coscheduling) {
    group = GroupOf(*pod, features, profiles);
    const std::string* named = PodGroupNameOf(*pod);
    group_counts = named == nullptr ? group.empty() : *named == group;
  }
  if (claims_count && group_counts) return pod;
  auto counted = std::make_shared<api::Pod>(*pod);
  if (!claims_count) counted->status.node_allocatable_resource_claim_statuses.clear();
  if (!group_counts) {
    counted->spec.scheduling_group.reset();
    if (!group.empty()) counted->spec.scheduling_group.emplace().pod_group_name = std::move(group);
  }
  return counted;
}

informers::InformerEvent Counted(const informers::InformerEvent& event, const Features& features) {
  if (event.kind != informers::Kind::kCoschedulingPodGroup) return event;
  informers::InformerEvent counted = event;
  counted.kind = informers::Kind::kPodGroup;
  counted.old_object = AsPodGroup(event.old_object, features);
  counted.new_object = AsPodGroup(event.new_object, features);
  return counted;
}

}  // namespace berth::scheduler
