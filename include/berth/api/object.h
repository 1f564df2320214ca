// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <absl/functional/function_ref.h>

#include <memory>
#include <utility>
#include <variant>

#include "berth/api/node.h"
#include "berth/api/node_resource_topology.h"
#include "berth/api/persistent_volume.h"
#include "berth/api/persistent_volume_claim.h"
#include "berth/api/plugin_object.h"
#include "berth/api/pod.h"
#include "berth/api/resource_claim.h"
#include "berth/api/resource_slice.h"
#include "berth/api/scheduling.h"
#include "berth/api/storage.h"
#include "berth/api/workloads.h"

namespace berth::api {

using ObjectOfAnyKind =
    std::variant<std::monostate, std::shared_ptr<const Pod>, std::shared_ptr<const Node>,
                 std::shared_ptr<const Namespace>, std::shared_ptr<const Service>,
                 std::shared_ptr<const ReplicationController>, std::shared_ptr<const ReplicaSet>,
                 std::shared_ptr<const StatefulSet>, std::shared_ptr<const PodDisruptionBudget>,
                 std::shared_ptr<const PersistentVolume>,
                 std::shared_ptr<const PersistentVolumeClaim>, std::shared_ptr<const StorageClass>,
                 std::shared_ptr<const CSINode>, std::shared_ptr<const CSIDriver>,
                 std::shared_ptr<const CSIStorageCapacity>, std::shared_ptr<const VolumeAttachment>,
                 std::shared_ptr<const VolumeAttributesClass>, std::shared_ptr<const ResourceClaim>,
                 std::shared_ptr<const ResourceClaimTemplate>, std::shared_ptr<const DeviceClass>,
                 std::shared_ptr<const ResourceSlice>, std::shared_ptr<const DeviceTaintRule>,
                 std::shared_ptr<const PodGroup>, std::shared_ptr<const CompositePodGroup>,
                 std::shared_ptr<const Workload>, std::shared_ptr<const CoschedulingPodGroup>,
                 std::shared_ptr<const NodeResourceTopology>, std::shared_ptr<const ElasticQuota>,
                 std::shared_ptr<const PluginObject>>;

// One watched object of any kind, shared and immutable; monostate is "none". Copies and moves are
// in src/sdk: compiled wherever an object is passed on, 29 kinds were a tenth of the whole build.
class ObjectPtr : public ObjectOfAnyKind {
 public:
  ObjectPtr();
  ObjectPtr(std::monostate);  // NOLINT(google-explicit-constructor): as the variant's own
  template <typename T>
  ObjectPtr(std::shared_ptr<T> object)  // NOLINT(google-explicit-constructor): as the variant's own
      : ObjectOfAnyKind(std::in_place_type<std::shared_ptr<const T>>, std::move(object)) {}
  ObjectPtr(const ObjectPtr& other);
  ObjectPtr(ObjectPtr&& other) noexcept;
  ObjectPtr& operator=(const ObjectPtr& other);
  ObjectPtr& operator=(ObjectPtr&& other) noexcept;
  ~ObjectPtr();
};

// The object's metadata; nullptr: there is none.
const ObjectMeta* MetaOf(const ObjectPtr& object);
// A copy whose metadata `change` has changed.
ObjectPtr WithMeta(const ObjectPtr& object, absl::FunctionRef<void(ObjectMeta&)> change);
// Whether both are objects of one kind with the same content.
bool AreEqual(const ObjectPtr& one, const ObjectPtr& other);

// The object when `object` holds one of kind T, else nullptr.
template <typename T>
const T* As(const ObjectPtr& object) {
  const auto* pointer = std::get_if<std::shared_ptr<const T>>(&object);
  return pointer == nullptr ? nullptr : pointer->get();
}

}  // namespace berth::api
