// SPDX-License-Identifier: Apache-2.0
#include "plugins/shared/extended_resource_classes.h"

#include "berth/resources.h"

namespace berth::plugins {
namespace {

constexpr std::string_view kImplicitResourcePrefix = "deviceclass.resource.kubernetes.io/";

}  // namespace

bool IsDeviceResourceName(std::string_view name) {
  return IsExtendedResourceName(name) || name.starts_with(kImplicitResourcePrefix);
}

std::string ImplicitResourceOf(std::string_view device_class) {
  return std::string(kImplicitResourcePrefix).append(device_class);
}

const api::DeviceClass* ExtendedResourceClasses::Find(std::string_view resource) const {
  if (generation_ != listers_.devices_generation()) Update();
  const auto name = class_of_.find(resource);
  return name == class_of_.end() ? nullptr : listers_.Find<api::DeviceClass>(name->second);
}

void ExtendedResourceClasses::Update() const {
  generation_ = listers_.devices_generation();
  class_of_.clear();
  std::map<std::string_view, std::optional<Time>> made;
  listers_.ForEach<api::DeviceClass>([&](const api::DeviceClass& device_class) {
    const std::string& name = device_class.metadata.name;
    class_of_[ImplicitResourceOf(name)] = name;
    const std::optional<std::string>& resource = device_class.spec.extended_resource_name;
    if (!resource) return;
    const std::optional<Time>& created = device_class.metadata.creation_timestamp;
    const auto [before, first] = made.try_emplace(*resource, created);
    if (!first && created <= before->second) return;
    before->second = created;
    class_of_[*resource] = name;
  });
}

}  // namespace berth::plugins
