// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "berth/api/resource_claim.h"
#include "berth/api/resource_slice.h"

namespace berth::test {

// A claim of namespace "default", version 1, uid "default/<name>".
class DeviceClaimBuilder {
 public:
  explicit DeviceClaimBuilder(std::string_view name) {
    claim_.metadata.namespace_ = "default";
    claim_.metadata.name = name;
    claim_.metadata.uid = "default/" + std::string(name);
    claim_.metadata.resource_version = "1";
  }

  DeviceClaimBuilder&& Version(std::string_view version) && {
    claim_.metadata.resource_version = version;
    return std::move(*this);
  }
  DeviceClaimBuilder&& Uid(std::string_view uid) && {
    claim_.metadata.uid = uid;
    return std::move(*this);
  }
  DeviceClaimBuilder&& Owner(std::string_view pod, std::string_view uid) && {
    api::OwnerReference owner;
    owner.api_version = "v1";
    owner.kind = "Pod";
    owner.name = pod;
    owner.uid = uid;
    owner.controller = true;
    claim_.metadata.owner_references.push_back(std::move(owner));
    return std::move(*this);
  }
  DeviceClaimBuilder&& Annotation(std::string_view key, std::string_view value) && {
    claim_.metadata.annotations.emplace_back(key, value);
    return std::move(*this);
  }
  DeviceClaimBuilder&& Deleting() && {
    claim_.metadata.deletion_timestamp = Time(std::chrono::seconds(1));
    return std::move(*this);
  }
  // `count` devices of the class.
  DeviceClaimBuilder&& Request(std::string_view request, std::string_view device_class,
                               int64_t count = 1) && {
    api::DeviceRequest made;
    made.name = request;
    api::ExactDeviceRequest& exactly = made.exactly.emplace();
    exactly.device_class_name = device_class;
    exactly.allocation_mode = api::kExactCount;
    exactly.count = count;
    claim_.spec.devices.requests.push_back(std::move(made));
    return std::move(*this);
  }
  // A device of the pool, of driver "gpu.example.com", that the first request was given.
  DeviceClaimBuilder&& Allocated(std::string_view pool, std::string_view device) && {
    if (!claim_.status.allocation) claim_.status.allocation.emplace();
    api::DeviceRequestAllocationResult result;
    result.request =
        claim_.spec.devices.requests.empty() ? "gpu" : claim_.spec.devices.requests[0].name;
    result.driver = "gpu.example.com";
    result.pool = pool;
    result.device = device;
    claim_.status.allocation->devices.results.push_back(std::move(result));
    return std::move(*this);
  }
  // The only node that reaches what is allocated.
  DeviceClaimBuilder&& OnNode(std::string_view node) && {
    api::NodeSelectorTerm term;
    term.match_fields.push_back({"metadata.name", "In", {std::string(node)}});
    claim_.status.allocation->node_selector.emplace().node_selector_terms.push_back(
        std::move(term));
    return std::move(*this);
  }
  DeviceClaimBuilder&& ReservedFor(std::string_view pod, std::string_view uid) && {
    claim_.status.reserved_for.push_back({"", "pods", std::string(pod), std::string(uid)});
    return std::move(*this);
  }

  api::ResourceClaim* operator->() { return &claim_; }
  api::ResourceClaim Obj() && { return std::move(claim_); }
  std::shared_ptr<const api::ResourceClaim> Ptr() && {
    return std::make_shared<const api::ResourceClaim>(std::move(claim_));
  }

 private:
  api::ResourceClaim claim_;
};

inline DeviceClaimBuilder MakeDeviceClaim(std::string_view name) {
  return DeviceClaimBuilder(name);
}

// With an extended resource: the class stands for it.
inline api::DeviceClass MakeDeviceClass(std::string_view name,
                                        std::string_view extended_resource = {}) {
  api::DeviceClass made;
  made.metadata.name = name;
  made.metadata.uid = name;
  if (!extended_resource.empty()) made.spec.extended_resource_name = extended_resource;
  return made;
}

// The slice of a node's pool of driver "gpu.example.com", with devices gpu-0, gpu-1, ...
inline api::ResourceSlice MakeNodeSlice(std::string_view node, int devices) {
  api::ResourceSlice slice;
  slice.metadata.name = std::string(node) + "-gpus";
  slice.metadata.uid = slice.metadata.name;
  slice.spec.driver = "gpu.example.com";
  slice.spec.pool.name = node;
  slice.spec.pool.generation = 1;
  slice.spec.pool.resource_slice_count = 1;
  slice.spec.node_name = node;
  for (int i = 0; i < devices; ++i) {
    slice.spec.devices.emplace_back().name = "gpu-" + std::to_string(i);
  }
  return slice;
}

}  // namespace berth::test
