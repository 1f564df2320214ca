// SPDX-License-Identifier: Apache-2.0
#include "plugins/dynamic_resources/cluster_devices.h"

#include <tuple>
#include <utility>

namespace berth::plugins {
namespace {

dra::AllocatorFeatures FeaturesOf(const Features& features) {
  return {
      .admin_access = true,
      .compatibility_groups = features.dra_device_compatibility_groups,
      .consumable_capacity = features.dra_consumable_capacity,
      .derived_attributes = features.dra_derived_attributes,
      .device_binding_and_status = features.dra_device_binding_conditions,
      .device_taints = features.dra_device_taints,
      .fractional_capacity_range = features.dra_fractional_capacity_range,
      .list_type_attributes = features.dra_list_type_attributes,
      .optional_node_operations = features.dra_optional_node_operations,
      .partitionable_devices = features.dra_partitionable_devices,
      .prioritized_list = true,
  };
}

bool Concerns(const api::DeviceTaintRule& rule, const api::ResourceSlice& slice) {
  const auto& selector = rule.spec.device_selector;
  return selector && (!selector->driver || *selector->driver == slice.spec.driver) &&
         (!selector->pool || *selector->pool == slice.spec.pool.name);
}

// The slice with the taints that the rules add, or nullptr where they add none.
std::shared_ptr<const api::ResourceSlice> Tainted(const api::ResourceSlice& slice,
                                                  const std::vector<api::DeviceTaintRule>& rules) {
  std::shared_ptr<api::ResourceSlice> tainted;
  for (const api::DeviceTaintRule& rule : rules) {
    if (!Concerns(rule, slice)) continue;
    const std::optional<std::string>& name = rule.spec.device_selector->device;
    for (size_t i = 0; i < slice.spec.devices.size(); ++i) {
      if (name && *name != slice.spec.devices[i].name) continue;
      if (tainted == nullptr) tainted = std::make_shared<api::ResourceSlice>(slice);
      tainted->spec.devices[i].taints.push_back(rule.spec.taint);
    }
  }
  return tainted;
}

}  // namespace

ClusterDevices::ClusterDevices(Handle& handle, dra::DeviceExpressions& expressions)
    : handle_(handle),
      inventory_(FeaturesOf(handle.features())),
      allocator_(inventory_, expressions),
      classes_(handle.listers()),
      holders_([this](const api::ResourceClaim& claim, bool holds) {
        if (holds) {
          inventory_.AddAllocation(*claim.status.allocation);
        } else {
          inventory_.RemoveAllocation(*claim.status.allocation);
        }
      }) {}

void ClusterDevices::Update() {
  const uint64_t generation = handle_.listers().devices_generation();
  if (devices_generation_ != generation) {
    UpdateRules();
    UpdateSlices();
    devices_generation_ = generation;
  }
  UpdateAllocated();
}

void ClusterDevices::UpdateAllocated() { holders_.Update(handle_.claims()); }

void ClusterDevices::UpdateRules() {
  const Features& features = handle_.features();
  if (!features.dra_device_taints || !features.dra_device_taint_rules) return;
  std::vector<api::DeviceTaintRule> rules;
  handle_.listers().ForEachDeviceTaintRule([&](const api::DeviceTaintRule& rule) {
    api::DeviceTaintRule& kept = rules.emplace_back();
    kept.spec = rule.spec;
  });
  if (rules == rules_) return;
  rules_ = std::move(rules);
  ++rules_version_;
}

void ClusterDevices::UpdateSlices() {
  ++scan_;
  handle_.listers().ForEachResourceSlice([&](const SlicePtr& slice) {
    KnownSlice& known = slices_[slice->metadata.name];
    const bool is_new = known.shown != slice;
    known.seen = scan_;
    if (!is_new && known.rules_version == rules_version_) return;
    const SlicePtr tainted = Tainted(*slice, rules_);
    if (is_new || tainted != nullptr || known.tainted) {
      inventory_.SetSlice(tainted != nullptr ? tainted : slice);
    }
    known.shown = slice;
    known.rules_version = rules_version_;
    known.tainted = tainted != nullptr;
  });
  for (auto known = slices_.begin(); known != slices_.end();) {
    if (known->second.seen == scan_) {
      ++known;
    } else {
      inventory_.RemoveSlice(known->first);
      known = slices_.erase(known);
    }
  }
}

}  // namespace berth::plugins
