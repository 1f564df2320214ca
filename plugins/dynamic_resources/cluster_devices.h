// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "berth/in_tree/handle.h"
#include "plugins/dynamic_resources/allocator/allocator.h"
#include "plugins/dynamic_resources/allocator/device_inventory.h"
#include "plugins/dynamic_resources/allocator/expressions.h"
#include "plugins/dynamic_resources/claim_holders.h"
#include "plugins/shared/extended_resource_classes.h"

namespace berth::plugins {

// The devices of the cluster as one profile's allocator sees them: what ResourceSlices publish,
// with the taints that DeviceTaintRules add, and what claims hold.
//
// Thread safety: the scheduling thread.
class ClusterDevices {
 public:
  // Both must outlive it.
  ClusterDevices(Handle& handle, dra::DeviceExpressions& expressions);

  // Takes in what has changed since the last call.
  void Update();
  // The same of what claims hold. That changes after a pod's PreFilter where a group's dry run
  // reserves for other pods, and takes it back.
  void UpdateAllocated();
  dra::Allocator& allocator() { return allocator_; }
  const dra::DeviceInventory& inventory() const { return inventory_; }
  const dra::AllocatorFeatures& features() const { return inventory_.features(); }

  // The class whose devices stand for the extended resource, or nullptr.
  const api::DeviceClass* FindClassOf(std::string_view extended_resource) const {
    return classes_.Find(extended_resource);
  }

 private:
  using SlicePtr = std::shared_ptr<const api::ResourceSlice>;
  struct KnownSlice {
    SlicePtr shown;
    // Which rules it was looked at with, and whether one added a taint.
    uint64_t rules_version = 0;
    bool tainted = false;
    uint64_t seen = 0;
  };

  void UpdateRules();
  void UpdateSlices();

  Handle& handle_;
  dra::DeviceInventory inventory_;
  dra::Allocator allocator_;
  ExtendedResourceClasses classes_;

  std::optional<uint64_t> devices_generation_;
  std::vector<api::DeviceTaintRule> rules_;
  uint64_t rules_version_ = 0;
  uint64_t scan_ = 0;
  std::map<std::string, KnownSlice, std::less<>> slices_;

  ClaimHolders holders_;
};

}  // namespace berth::plugins
