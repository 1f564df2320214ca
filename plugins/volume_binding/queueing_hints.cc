// SPDX-License-Identifier: Apache-2.0
#include "plugins/volume_binding/queueing_hints.h"

#include <algorithm>
#include <optional>
#include <string>

#include "berth/volumes.h"
#include "plugins/shared/csi_migration.h"
#include "plugins/shared/hint_objects.h"

namespace berth::plugins {
namespace {

using api::ObjectPtr;

Result<QueueingHint> AfterStorageClassChange(const api::Pod&, const ObjectPtr& old_object,
                                             const ObjectPtr& new_object) {
  const auto change = AsUpdate<api::StorageClass>(old_object, new_object);
  if (!change) return Fail(change.error());
  return QueueIf(change->old_object == nullptr ||
                 change->old_object->allowed_topologies != change->new_object->allowed_topologies);
}

Result<QueueingHint> AfterClaimChange(const api::Pod& pod, const ObjectPtr& old_object,
                                      const ObjectPtr& new_object) {
  const auto change = AsUpdate<api::PersistentVolumeClaim>(old_object, new_object);
  if (!change) return Fail(change.error());
  const api::ObjectMeta& claim = change->new_object->metadata;
  if (claim.namespace_ != pod.metadata.namespace_) return QueueingHint::kQueueSkip;
  return QueueIf(std::ranges::any_of(pod.spec.volumes, [&](const api::Volume& volume) {
    return ClaimNameOf(pod, volume) == claim.name;
  }));
}

Result<QueueingHint> AfterCsiNodeChange(const api::Pod&, const ObjectPtr& old_object,
                                        const ObjectPtr& new_object) {
  const auto change = AsUpdate<api::CSINode>(old_object, new_object);
  if (!change) return Fail(change.error());
  if (change->old_object == nullptr) return QueueingHint::kQueue;
  const auto migrated = [](const api::CSINode& node) {
    const std::string* plugins = api::Find(node.metadata.annotations, kMigratedPluginsAnnotation);
    return plugins == nullptr ? std::string() : *plugins;
  };
  return QueueIf(migrated(*change->old_object) != migrated(*change->new_object));
}

Result<QueueingHint> AfterCsiDriverChange(const api::Pod& pod, const ObjectPtr& old_object,
                                          const ObjectPtr& new_object) {
  const auto change = AsUpdate<api::CSIDriver>(old_object, new_object);
  if (!change) return Fail(change.error());
  const auto tells = [](const api::CSIDriver* driver) {
    return driver != nullptr && driver->spec.storage_capacity.value_or(false);
  };
  if (!tells(change->old_object) || tells(change->new_object)) return QueueingHint::kQueueSkip;
  return QueueIf(std::ranges::any_of(pod.spec.volumes, [&](const api::Volume& volume) {
    return volume.csi && volume.csi->driver == change->new_object->metadata.name;
  }));
}

std::optional<int64_t> LimitValue(const api::CSIStorageCapacity& capacity) {
  if (capacity.maximum_volume_size) return capacity.maximum_volume_size->Value();
  if (capacity.capacity) return capacity.capacity->Value();
  return std::nullopt;
}

Result<QueueingHint> AfterCapacityChange(const api::Pod&, const ObjectPtr& old_object,
                                         const ObjectPtr& new_object) {
  const auto change = AsUpdate<api::CSIStorageCapacity>(old_object, new_object);
  if (!change) return Fail(change.error());
  if (change->old_object == nullptr) return QueueingHint::kQueue;
  // Nothing is less than any limit.
  return QueueIf(LimitValue(*change->new_object) > LimitValue(*change->old_object));
}

}  // namespace

std::vector<ClusterEventWithHint> VolumeBindingEvents() {
  using action::kAdd;
  using action::kUpdate;
  return {
      {{EventResource::kStorageClass, kAdd | kUpdate}, AfterStorageClassChange},
      {{EventResource::kPersistentVolumeClaim, kAdd | kUpdate}, AfterClaimChange},
      {{EventResource::kPersistentVolume, kAdd | kUpdate}},
      {{EventResource::kNode, kAdd | action::kUpdateNodeLabel}},
      {{EventResource::kCsiNode, kAdd | kUpdate}, AfterCsiNodeChange},
      {{EventResource::kCsiDriver, kUpdate}, AfterCsiDriverChange},
      {{EventResource::kCsiStorageCapacity, kAdd | kUpdate}, AfterCapacityChange},
  };
}

}  // namespace berth::plugins
