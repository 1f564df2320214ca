// SPDX-License-Identifier: Apache-2.0
#include "tests/support/builders.h"

#include <algorithm>

#include "berth/check.h"

namespace berth::test {
namespace {

template <typename Map, typename Value>
void Put(Map& map, std::string_view key, Value value) {
  auto at = std::lower_bound(map.begin(), map.end(), key,
                             [](const auto& entry, std::string_view k) { return entry.first < k; });
  if (at != map.end() && at->first == key) {
    at->second = std::move(value);
  } else {
    map.emplace(at, std::string(key), std::move(value));
  }
}

api::Quantity ParseQuantity(std::string_view text) {
  const auto quantity = api::Quantity::Parse(text);
  BERTH_CHECK(quantity.has_value(), "a test named a bad quantity");
  return *quantity;
}

api::PodAffinityTerm MakeTerm(std::string_view topology_key, LabelText selector) {
  api::PodAffinityTerm term;
  term.topology_key = topology_key;
  term.label_selector = MakeSelector(selector);
  return term;
}

template <typename T>
auto& Ensure(T& value) {
  if (!value.has_value()) value.emplace();
  return *value;
}

}  // namespace

api::ResourceList MakeResources(ResourceText resources) {
  api::ResourceList list;
  for (const auto& [name, text] : resources) Put(list, name, ParseQuantity(text));
  return list;
}

api::StringMap MakeLabels(LabelText labels) {
  api::StringMap map;
  for (const auto& [key, value] : labels) Put(map, key, std::string(value));
  return map;
}

api::LabelSelector MakeSelector(LabelText labels) {
  api::LabelSelector selector;
  selector.match_labels = MakeLabels(labels);
  return selector;
}

api::NodeSelectorRequirement MakeRequirement(std::string_view key, std::string_view op,
                                             std::vector<std::string> values) {
  return {std::string(key), std::string(op), std::move(values)};
}

api::Container MakeContainer(ResourceText requests) {
  api::Container container;
  container.resources.requests = MakeResources(requests);
  return container;
}

api::Container MakeInitContainer(ResourceText requests, bool sidecar) {
  api::Container container = MakeContainer(requests);
  if (sidecar) container.restart_policy = "Always";
  return container;
}

PodBuilder::PodBuilder() {
  pod_.metadata.name = "pod";
  pod_.metadata.namespace_ = "default";
  pod_.spec.scheduler_name = "default-scheduler";
}

PodBuilder& PodBuilder::Name(std::string_view name) {
  pod_.metadata.name = name;
  return *this;
}

PodBuilder& PodBuilder::Namespace(std::string_view name) {
  pod_.metadata.namespace_ = name;
  return *this;
}

PodBuilder& PodBuilder::Uid(std::string_view uid) {
  pod_.metadata.uid = uid;
  return *this;
}

PodBuilder& PodBuilder::Label(std::string_view key, std::string_view value) {
  Put(pod_.metadata.labels, key, std::string(value));
  return *this;
}

PodBuilder& PodBuilder::Annotation(std::string_view key, std::string_view value) {
  Put(pod_.metadata.annotations, key, std::string(value));
  return *this;
}

PodBuilder& PodBuilder::Generation(int64_t generation) {
  pod_.metadata.generation = generation;
  return *this;
}

PodBuilder& PodBuilder::ResourceVersion(std::string_view version) {
  pod_.metadata.resource_version = version;
  return *this;
}

PodBuilder& PodBuilder::CreatedAt(Time time) {
  pod_.metadata.creation_timestamp = time;
  return *this;
}

PodBuilder& PodBuilder::DeletedAt(Time time) {
  pod_.metadata.deletion_timestamp = time;
  return *this;
}

PodBuilder& PodBuilder::Owner(std::string_view kind, std::string_view name, std::string_view uid) {
  api::OwnerReference owner;
  owner.kind = kind;
  owner.name = name;
  owner.uid = uid;
  owner.controller = true;
  pod_.metadata.owner_references.push_back(std::move(owner));
  return *this;
}

PodBuilder& PodBuilder::OnNode(std::string_view node_name) {
  pod_.spec.node_name = node_name;
  return *this;
}

PodBuilder& PodBuilder::SchedulerName(std::string_view name) {
  pod_.spec.scheduler_name = name;
  return *this;
}

PodBuilder& PodBuilder::Priority(int32_t priority) {
  pod_.spec.priority = priority;
  return *this;
}

PodBuilder& PodBuilder::PreemptionPolicy(std::string_view policy) {
  pod_.spec.preemption_policy = std::string(policy);
  return *this;
}

PodBuilder& PodBuilder::Gate(std::string_view name) {
  pod_.spec.scheduling_gates.push_back({std::string(name)});
  return *this;
}

PodBuilder& PodBuilder::HostNetwork() {
  pod_.spec.host_network = true;
  return *this;
}

PodBuilder& PodBuilder::HostUsers(bool host_users) {
  pod_.spec.host_users = host_users;
  return *this;
}

PodBuilder& PodBuilder::Tolerate(std::string_view key, std::string_view op, std::string_view value,
                                 std::string_view effect) {
  api::Toleration toleration;
  toleration.key = key;
  toleration.operator_ = op;
  toleration.value = value;
  toleration.effect = effect;
  pod_.spec.tolerations.push_back(std::move(toleration));
  return *this;
}

PodBuilder& PodBuilder::NodeSelector(std::string_view key, std::string_view value) {
  Put(pod_.spec.node_selector, key, std::string(value));
  return *this;
}

PodBuilder& PodBuilder::RequireNode(std::vector<api::NodeSelectorRequirement> expressions,
                                    std::vector<api::NodeSelectorRequirement> fields) {
  auto& affinity = Ensure(Ensure(pod_.spec.affinity).node_affinity);
  Ensure(affinity.required_during_scheduling_ignored_during_execution)
      .node_selector_terms.push_back({std::move(expressions), std::move(fields)});
  return *this;
}

PodBuilder& PodBuilder::PreferNode(int32_t weight,
                                   std::vector<api::NodeSelectorRequirement> expressions,
                                   std::vector<api::NodeSelectorRequirement> fields) {
  auto& affinity = Ensure(Ensure(pod_.spec.affinity).node_affinity);
  affinity.preferred_during_scheduling_ignored_during_execution.push_back(
      {weight, {std::move(expressions), std::move(fields)}});
  return *this;
}

api::PodAffinity& PodBuilder::Affinity() { return Ensure(Ensure(pod_.spec.affinity).pod_affinity); }

api::PodAffinity& PodBuilder::AntiAffinity() {
  return Ensure(Ensure(pod_.spec.affinity).pod_anti_affinity);
}

PodBuilder& PodBuilder::PodAffinity(std::string_view topology_key, LabelText selector) {
  Affinity().required_during_scheduling_ignored_during_execution.push_back(
      MakeTerm(topology_key, selector));
  return *this;
}

PodBuilder& PodBuilder::PodAntiAffinity(std::string_view topology_key, LabelText selector) {
  AntiAffinity().required_during_scheduling_ignored_during_execution.push_back(
      MakeTerm(topology_key, selector));
  return *this;
}

PodBuilder& PodBuilder::PreferPodAffinity(int32_t weight, std::string_view topology_key,
                                          LabelText selector) {
  Affinity().preferred_during_scheduling_ignored_during_execution.push_back(
      {weight, MakeTerm(topology_key, selector)});
  return *this;
}

PodBuilder& PodBuilder::PreferPodAntiAffinity(int32_t weight, std::string_view topology_key,
                                              LabelText selector) {
  AntiAffinity().preferred_during_scheduling_ignored_during_execution.push_back(
      {weight, MakeTerm(topology_key, selector)});
  return *this;
}

PodBuilder& PodBuilder::Spread(int32_t max_skew, std::string_view topology_key,
                               std::string_view when, LabelText selector) {
  api::TopologySpreadConstraint constraint;
  constraint.max_skew = max_skew;
  constraint.topology_key = topology_key;
  constraint.when_unsatisfiable = when;
  constraint.label_selector = MakeSelector(selector);
  pod_.spec.topology_spread_constraints.push_back(std::move(constraint));
  return *this;
}

PodBuilder& PodBuilder::Req(ResourceText requests) { return Container(MakeContainer(requests)); }

PodBuilder& PodBuilder::InitReq(ResourceText requests) {
  return InitContainer(MakeInitContainer(requests, false));
}

PodBuilder& PodBuilder::SidecarReq(ResourceText requests) {
  return InitContainer(MakeInitContainer(requests, true));
}

PodBuilder& PodBuilder::HostPort(int32_t port, std::string_view protocol, std::string_view ip) {
  api::Container container;
  container.ports.push_back({port, port, std::string(protocol), std::string(ip)});
  return Container(std::move(container));
}

PodBuilder& PodBuilder::Image(std::string_view image) {
  api::Container container;
  container.image = image;
  return Container(std::move(container));
}

PodBuilder& PodBuilder::Container(api::Container container) {
  if (container.name.empty()) {
    container.name = "container-" + std::to_string(pod_.spec.containers.size());
  }
  pod_.spec.containers.push_back(std::move(container));
  return *this;
}

PodBuilder& PodBuilder::InitContainer(api::Container container) {
  if (container.name.empty()) {
    container.name = "init-" + std::to_string(pod_.spec.init_containers.size());
  }
  pod_.spec.init_containers.push_back(std::move(container));
  return *this;
}

PodBuilder& PodBuilder::PodLevelReq(ResourceText requests) {
  Ensure(pod_.spec.resources).requests = MakeResources(requests);
  return *this;
}

PodBuilder& PodBuilder::Overhead(ResourceText overhead) {
  pod_.spec.overhead = MakeResources(overhead);
  return *this;
}

PodBuilder& PodBuilder::ImageVolume(std::string_view reference) {
  api::Volume volume;
  volume.name = "volume-" + std::to_string(pod_.spec.volumes.size());
  volume.image = api::ImageVolumeSource{std::string(reference)};
  pod_.spec.volumes.push_back(std::move(volume));
  return *this;
}

PodBuilder& PodBuilder::ClaimVolume(std::string_view claim_name) {
  api::Volume volume;
  volume.name = "volume-" + std::to_string(pod_.spec.volumes.size());
  volume.persistent_volume_claim =
      api::PersistentVolumeClaimVolumeSource{std::string(claim_name), false};
  pod_.spec.volumes.push_back(std::move(volume));
  return *this;
}

PodBuilder& PodBuilder::EphemeralVolume(std::string_view name) {
  api::Volume volume;
  volume.name = name;
  volume.ephemeral.emplace();
  return Volume(std::move(volume));
}

PodBuilder& PodBuilder::Volume(api::Volume volume) {
  pod_.spec.volumes.push_back(std::move(volume));
  return *this;
}

PodBuilder& PodBuilder::ResourceClaim(std::string_view claim_name) {
  api::PodResourceClaim& claim = pod_.spec.resource_claims.emplace_back();
  claim.name = claim_name;
  claim.resource_claim_name = claim_name;
  return *this;
}

PodBuilder& PodBuilder::SchedulingGroup(std::string_view pod_group_name) {
  pod_.spec.scheduling_group.emplace().pod_group_name = std::string(pod_group_name);
  return *this;
}

PodBuilder& PodBuilder::Phase(std::string_view phase) {
  pod_.status.phase = phase;
  return *this;
}

PodBuilder& PodBuilder::NominatedNode(std::string_view node_name) {
  pod_.status.nominated_node_name = node_name;
  return *this;
}

PodBuilder& PodBuilder::StartedAt(Time time) {
  pod_.status.start_time = time;
  return *this;
}

PodBuilder& PodBuilder::Condition(std::string_view type, std::string_view status,
                                  std::string_view reason, std::string_view message) {
  api::PodCondition condition;
  condition.type = type;
  condition.status = status;
  condition.reason = reason;
  condition.message = message;
  pod_.status.conditions.push_back(std::move(condition));
  return *this;
}

api::Pod PodBuilder::Obj() const {
  api::Pod pod = pod_;
  if (pod.metadata.uid.empty()) pod.metadata.uid = pod.metadata.Key();
  return pod;
}

std::shared_ptr<const api::Pod> PodBuilder::Ptr() const {
  return std::make_shared<const api::Pod>(Obj());
}

PodInfoPtr PodBuilder::Info(ResourceNames& names) const { return PodInfo::Make(Ptr(), names); }

NodeBuilder::NodeBuilder(std::string_view name) {
  node_.metadata.name = name;
  node_.metadata.uid = name;
  node_.status.allocatable = MakeResources({{"pods", "110"}});
}

NodeBuilder& NodeBuilder::Name(std::string_view name) {
  node_.metadata.name = name;
  node_.metadata.uid = name;
  return *this;
}

NodeBuilder& NodeBuilder::Label(std::string_view key, std::string_view value) {
  Put(node_.metadata.labels, key, std::string(value));
  return *this;
}

NodeBuilder& NodeBuilder::Annotation(std::string_view key, std::string_view value) {
  Put(node_.metadata.annotations, key, std::string(value));
  return *this;
}

NodeBuilder& NodeBuilder::Unschedulable(bool unschedulable) {
  node_.spec.unschedulable = unschedulable;
  return *this;
}

NodeBuilder& NodeBuilder::Taint(std::string_view key, std::string_view value,
                                std::string_view effect) {
  node_.spec.taints.push_back({std::string(key), std::string(value), std::string(effect)});
  return *this;
}

NodeBuilder& NodeBuilder::Allocatable(ResourceText resources) {
  for (const auto& [name, text] : resources) {
    Put(node_.status.allocatable, name, ParseQuantity(text));
  }
  return *this;
}

NodeBuilder& NodeBuilder::Image(std::vector<std::string> names, int64_t size_bytes) {
  node_.status.images.push_back({std::move(names), size_bytes});
  return *this;
}

NodeBuilder& NodeBuilder::Condition(std::string_view type, std::string_view status) {
  node_.status.conditions.push_back({std::string(type), std::string(status)});
  return *this;
}

NodeBuilder& NodeBuilder::DeclaredFeature(std::string_view name) {
  node_.status.declared_features.emplace_back(name);
  return *this;
}

}  // namespace berth::test
