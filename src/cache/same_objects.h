// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "berth/api/device_class.h"
#include "berth/api/meta.h"
#include "berth/api/node.h"
#include "berth/api/persistent_volume.h"
#include "berth/api/persistent_volume_claim.h"
#include "berth/api/pod_disruption_budget.h"
#include "berth/api/resource_claim.h"
#include "berth/api/resource_slice.h"
#include "berth/api/scheduling.h"
#include "berth/api/storage.h"
#include "berth/api/workloads.h"
#include "berth/pod_info.h"

namespace berth::cache {

// Whether two versions of a pod, placed on the same node, are alike to a plugin that looks at the
// pods on a node: metadata but resourceVersion and generation, spec but nodeName, and what the pod
// takes. What the status says besides does not count.
bool SamePlacedPod(const PodInfo& a, const PodInfo& b);

// Whether two versions of a node differ in resourceVersion and generation at most.
bool SameNode(const api::Node& a, const api::Node& b);

// Whether two versions of an object are alike in all that Listers' generations count.
bool SameObject(const api::Namespace& a, const api::Namespace& b);
bool SameObject(const api::Service& a, const api::Service& b);
bool SameObject(const api::ReplicationController& a, const api::ReplicationController& b);
bool SameObject(const api::ReplicaSet& a, const api::ReplicaSet& b);
bool SameObject(const api::StatefulSet& a, const api::StatefulSet& b);
bool SameObject(const api::PodDisruptionBudget& a, const api::PodDisruptionBudget& b);
bool SameObject(const api::PersistentVolume& a, const api::PersistentVolume& b);
bool SameObject(const api::PersistentVolumeClaim& a, const api::PersistentVolumeClaim& b);
bool SameObject(const api::StorageClass& a, const api::StorageClass& b);
bool SameObject(const api::CSINode& a, const api::CSINode& b);
bool SameObject(const api::CSIDriver& a, const api::CSIDriver& b);
bool SameObject(const api::CSIStorageCapacity& a, const api::CSIStorageCapacity& b);
bool SameObject(const api::VolumeAttachment& a, const api::VolumeAttachment& b);
bool SameObject(const api::VolumeAttributesClass& a, const api::VolumeAttributesClass& b);
bool SameObject(const api::ResourceClaim& a, const api::ResourceClaim& b);
bool SameObject(const api::ResourceClaimTemplate& a, const api::ResourceClaimTemplate& b);
bool SameObject(const api::DeviceClass& a, const api::DeviceClass& b);
bool SameObject(const api::ResourceSlice& a, const api::ResourceSlice& b);
bool SameObject(const api::DeviceTaintRule& a, const api::DeviceTaintRule& b);
bool SameObject(const api::PodGroup& a, const api::PodGroup& b);
bool SameObject(const api::CompositePodGroup& a, const api::CompositePodGroup& b);
bool SameObject(const api::Workload& a, const api::Workload& b);
bool SameObject(const api::CoschedulingPodGroup& a, const api::CoschedulingPodGroup& b);
bool SameObject(const api::NodeResourceTopology& a, const api::NodeResourceTopology& b);
bool SameObject(const api::ElasticQuota& a, const api::ElasticQuota& b);

}  // namespace berth::cache
