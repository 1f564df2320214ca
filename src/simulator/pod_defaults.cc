// SPDX-License-Identifier: Apache-2.0
#include "src/simulator/pod_defaults.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "berth/field_errors.h"
#include "berth/resources.h"

namespace berth::simulator {
namespace {

void SetIfMissing(const api::ResourceList::value_type& amount, api::ResourceList& list) {
  if (api::Find(list, amount.first) != nullptr) return;
  list.push_back(amount);
  std::ranges::sort(list, {}, &api::ResourceList::value_type::first);
}

void SetMissingRequests(std::vector<api::Container>& containers) {
  for (api::Container& container : containers) {
    for (const auto& limit : container.resources.limits) {
      SetIfMissing(limit, container.resources.requests);
    }
  }
}

bool MayBeOvercommitted(std::string_view resource) {
  return resource == "cpu" || resource == "memory";
}

// The resources that a pod may ask for as a whole.
bool IsOfPods(std::string_view resource) {
  return MayBeOvercommitted(resource) || resource.starts_with("hugepages-");
}

// A pod's own requests are those of its containers, or else its limits.
void SetMissingPodRequests(api::Pod& pod) {
  if (!pod.spec.resources || pod.spec.resources->limits.empty()) return;
  api::ResourceRequirements own = *pod.spec.resources;
  api::Pod without = pod;
  without.spec.overhead.clear();
  PodRequestsOptions options;
  options.pod_level = false;
  for (const auto& request : PodRequests(without, options)) {
    if (MayBeOvercommitted(request.first)) SetIfMissing(request, own.requests);
  }
  for (const auto& limit : own.limits) {
    if (IsOfPods(limit.first)) SetIfMissing(limit, own.requests);
  }
  pod.spec.resources = std::move(own);
}

void SetHostPorts(std::vector<api::Container>& containers) {
  for (api::Container& container : containers) {
    for (api::ContainerPort& port : container.ports) {
      if (port.host_port == 0) port.host_port = port.container_port;
    }
  }
}

// For five minutes, as the API server's admission lets pods stay.
void SetToleration(std::string_view taint, std::vector<api::Toleration>& tolerations) {
  constexpr std::string_view kEffect = "NoExecute";
  const bool there = std::ranges::any_of(tolerations, [&](const api::Toleration& toleration) {
    return (toleration.key.empty() || toleration.key == taint) &&
           (toleration.effect.empty() || toleration.effect == kEffect);
  });
  if (there) return;
  api::Toleration toleration;
  toleration.key = taint;
  toleration.operator_ = "Exists";
  toleration.effect = kEffect;
  toleration.toleration_seconds = 300;
  tolerations.push_back(std::move(toleration));
}

}  // namespace

std::shared_ptr<const api::Pod> WithDefaults(const api::Pod& pod) {
  auto defaulted = std::make_shared<api::Pod>(pod);
  api::PodSpec& spec = defaulted->spec;
  SetMissingRequests(spec.containers);
  SetMissingRequests(spec.init_containers);
  SetMissingPodRequests(*defaulted);
  if (spec.host_network) {
    SetHostPorts(spec.containers);
    SetHostPorts(spec.init_containers);
  }
  SetToleration("node.kubernetes.io/not-ready", spec.tolerations);
  SetToleration("node.kubernetes.io/unreachable", spec.tolerations);
  return defaulted;
}

Result<PriorityClass> ReadPriorityClass(const ConfigValue& value, std::string_view path) {
  PriorityClass read;
  FieldReader fields(value, std::string(path));
  if (const ConfigValue* metadata = fields.Get("metadata")) {
    if (const ConfigValue* name = metadata->Find("name"); name != nullptr && name->string())
      read.name = *name->string();
  }
  if (read.name.empty()) fields.Problem(RequiredField(fields.PathOf("metadata.name"), ""));
  fields.Read("value", read.value);
  fields.Read("globalDefault", read.global_default);
  std::string policy;
  if (fields.Read("preemptionPolicy", policy)) read.preemption_policy = std::move(policy);
  // Others are none of a scheduler's business.
  if (const ConfigValue::Map* members = value.map()) {
    for (const auto& [name, unused] : *members) fields.Get(name);
  }
  if (auto error = fields.Finish()) return Fail(*std::move(error));
  return read;
}

PriorityClasses::PriorityClasses() {
  seen_["system-cluster-critical"].value = 2'000'000'000;
  seen_["system-node-critical"].value = 2'000'001'000;
}

void PriorityClasses::Add(const PriorityClass& stated) {
  PriorityClass& held = stated_[stated.name];
  held = stated;
  // Of several defaults the API server takes the lowest.
  if (held.global_default && (default_ == nullptr || held.value < default_->value))
    default_ = &held;
}

void PriorityClasses::See(const api::Pod& pod) {
  const api::PodSpec& spec = pod.spec;
  if (spec.priority_class_name.empty() || !spec.priority) return;
  seen_[spec.priority_class_name] = {spec.priority_class_name, *spec.priority,
                                     spec.preemption_policy, false};
}

bool PriorityClasses::Concerns(const api::Pod& pod) const {
  return !pod.spec.priority && (!pod.spec.priority_class_name.empty() || default_ != nullptr);
}

Result<std::shared_ptr<const api::Pod>> PriorityClasses::Resolve(
    std::shared_ptr<const api::Pod> pod) const {
  if (!Concerns(*pod)) return pod;
  const std::string& name = pod->spec.priority_class_name;
  const PriorityClass* meant = name.empty() ? default_ : nullptr;
  for (const auto* classes : {&stated_, &seen_}) {
    if (meant != nullptr) break;
    if (const auto found = classes->find(name); found != classes->end()) meant = &found->second;
  }
  if (meant == nullptr) {
    return Fail("spec.priorityClassName: Not found: " + Quoted(name) +
                ": no pod of the cluster tells what it means; state spec.priority");
  }
  auto resolved = std::make_shared<api::Pod>(*pod);
  resolved->spec.priority = meant->value;
  if (name.empty()) resolved->spec.priority_class_name = meant->name;
  if (!resolved->spec.preemption_policy) {
    resolved->spec.preemption_policy = meant->preemption_policy;
  }
  return resolved;
}

}  // namespace berth::simulator
