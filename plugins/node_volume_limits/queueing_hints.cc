// SPDX-License-Identifier: Apache-2.0
#include "plugins/node_volume_limits/queueing_hints.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "berth/api/storage.h"
#include "berth/volumes.h"
#include "plugins/node_volume_limits/attached_volumes.h"
#include "plugins/shared/csi_migration.h"
#include "plugins/shared/hint_objects.h"
#include "plugins/shared/pod_claims.h"

namespace berth::plugins {
namespace {

// 0 also where there is no limit, as upstream compares.
int32_t LimitIn(const api::CSINodeDriver& driver) {
  return driver.allocatable ? driver.allocatable->count.value_or(0) : 0;
}

int32_t LimitIn(const api::CSINode& node, std::string_view driver) {
  int32_t limit = 0;
  for (const api::CSINodeDriver& known : node.spec.drivers) {
    if (known.name == driver) limit = LimitIn(known);
  }
  return limit;
}

Result<QueueingHint> AfterCsiNodeUpdate(const api::Pod&, const api::ObjectPtr& old_object,
                                        const api::ObjectPtr& new_object) {
  const auto change = AsUpdate<api::CSINode>(old_object, new_object);
  if (!change) return Fail(change.error());
  if (change->old_object == nullptr) return Fail("the event has no old object");
  return QueueIf(
      std::ranges::any_of(change->new_object->spec.drivers, [&](const api::CSINodeDriver& driver) {
        return LimitIn(driver) > LimitIn(*change->old_object, driver.name);
      }));
}

Result<QueueingHint> AfterPodDelete(const api::Pod&, const api::ObjectPtr& old_object,
                                    const api::ObjectPtr& new_object) {
  const auto change = AsChange<api::Pod>(old_object, new_object);
  if (!change) return Fail(change.error());
  if (change->old_object == nullptr) return Fail("the event has no deleted object");
  return QueueIf(IsPlaced(*change->old_object) &&
                 std::ranges::any_of(change->old_object->spec.volumes, MayBeAttached));
}

Result<QueueingHint> AfterClaimAdd(const api::Pod& pod, const api::ObjectPtr& old_object,
                                   const api::ObjectPtr& new_object) {
  const auto change = AsUpdate<api::PersistentVolumeClaim>(old_object, new_object);
  if (!change) return Fail(change.error());
  const api::ObjectMeta& claim = change->new_object->metadata;
  if (claim.namespace_ != pod.metadata.namespace_) return QueueingHint::kQueueSkip;
  return QueueIf(std::ranges::any_of(pod.spec.volumes, [&](const api::Volume& volume) {
    return ClaimNameOf(pod, volume) == claim.name;
  }));
}

// Generic ephemeral volumes are left out, as upstream.
Result<QueueingHint> AfterDetach(const api::Pod& pod, const api::ObjectPtr& old_object,
                                 const api::ObjectPtr& new_object) {
  const auto change = AsChange<api::VolumeAttachment>(old_object, new_object);
  if (!change) return Fail(change.error());
  if (change->old_object == nullptr) return Fail("the event has no deleted object");
  for (const api::Volume& volume : pod.spec.volumes) {
    if (volume.persistent_volume_claim) return QueueingHint::kQueue;
    const std::string_view plugin = InTreePluginOf(volume);
    if (plugin.empty()) continue;
    if (const auto handle = CsiHandleOf(volume); !handle) {
      return Fail("converting volume(" + volume.name +
                  ") from inline to csi: " + handle.error().message);
    }
    if (change->old_object->spec.attacher == CsiDriverOf(plugin)) return QueueingHint::kQueue;
  }
  return QueueingHint::kQueueSkip;
}

}  // namespace

std::vector<ClusterEventWithHint> VolumeLimitEvents() {
  return {
      {{EventResource::kCsiNode, action::kAdd}, nullptr},
      {{EventResource::kCsiNode, action::kUpdate}, AfterCsiNodeUpdate},
      {{EventResource::kAssignedPod, action::kDelete}, AfterPodDelete},
      {{EventResource::kPersistentVolumeClaim, action::kAdd}, AfterClaimAdd},
      {{EventResource::kVolumeAttachment, action::kDelete}, AfterDetach},
  };
}

}  // namespace berth::plugins
