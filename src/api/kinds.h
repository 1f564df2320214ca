// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "berth/api/meta.h"
#include "berth/api/node.h"
#include "berth/api/node_resource_topology.h"
#include "berth/api/persistent_volume.h"
#include "berth/api/persistent_volume_claim.h"
#include "berth/api/pod.h"
#include "berth/api/resource_claim.h"
#include "berth/api/resource_slice.h"
#include "berth/api/scheduling.h"
#include "berth/api/storage.h"
#include "berth/api/workloads.h"

// The API's objects that berth reads, each with its apiVersion and kind. A new kind is a struct in
// include/berth/api, a field table in tables.h or a file of its own, a KindOf and a line in the
// list below.

namespace berth::api {

struct LeaseSpec {
  std::string holder_identity;
  std::optional<int32_t> lease_duration_seconds;
  std::optional<MicroTime> acquire_time;
  std::optional<MicroTime> renew_time;
  int32_t lease_transitions = 0;
  std::string strategy;
  std::string preferred_holder;

  friend bool operator==(const LeaseSpec&, const LeaseSpec&) = default;
};

// coordination.k8s.io/v1.
struct Lease {
  ObjectMeta metadata;
  LeaseSpec spec;

  friend bool operator==(const Lease&, const Lease&) = default;
};

// The type of an object that stands in an envelope, a list or a file.
struct TypeMeta {
  std::string api_version;
  std::string kind;

  friend bool operator==(const TypeMeta&, const TypeMeta&) = default;
};

// What a list says about itself.
struct ListMeta {
  std::string resource_version;
  // Not "": ask for the next page with it.
  std::string continue_;

  friend bool operator==(const ListMeta&, const ListMeta&) = default;
};

struct StatusDetails {
  std::string name;
  std::string kind;
  int32_t retry_after_seconds = 0;

  friend bool operator==(const StatusDetails&, const StatusDetails&) = default;
};

// What the API server answers instead of an object (meta/v1 Status). Not a plugin's Status.
struct ApiStatus {
  std::string status;
  std::string message;
  std::string reason;
  std::optional<StatusDetails> details;
  int32_t code = 0;

  friend bool operator==(const ApiStatus&, const ApiStatus&) = default;
};

// apiVersion and kind of T, where T is an object that can stand alone.
template <typename T>
struct KindOf;

#define BERTH_API_KIND(type, api_version, kind)                  \
  template <>                                                    \
  struct KindOf<type> {                                          \
    static constexpr std::string_view kApiVersion = api_version; \
    static constexpr std::string_view kKind = kind;              \
  };
BERTH_API_KIND(Pod, "v1", "Pod")
BERTH_API_KIND(Node, "v1", "Node")
BERTH_API_KIND(Namespace, "v1", "Namespace")
BERTH_API_KIND(Service, "v1", "Service")
BERTH_API_KIND(ReplicationController, "v1", "ReplicationController")
BERTH_API_KIND(ReplicaSet, "apps/v1", "ReplicaSet")
BERTH_API_KIND(StatefulSet, "apps/v1", "StatefulSet")
BERTH_API_KIND(PodDisruptionBudget, "policy/v1", "PodDisruptionBudget")
BERTH_API_KIND(PersistentVolume, "v1", "PersistentVolume")
BERTH_API_KIND(PersistentVolumeClaim, "v1", "PersistentVolumeClaim")
BERTH_API_KIND(StorageClass, "storage.k8s.io/v1", "StorageClass")
BERTH_API_KIND(CSINode, "storage.k8s.io/v1", "CSINode")
BERTH_API_KIND(CSIDriver, "storage.k8s.io/v1", "CSIDriver")
BERTH_API_KIND(CSIStorageCapacity, "storage.k8s.io/v1", "CSIStorageCapacity")
BERTH_API_KIND(VolumeAttachment, "storage.k8s.io/v1", "VolumeAttachment")
BERTH_API_KIND(VolumeAttributesClass, "storage.k8s.io/v1", "VolumeAttributesClass")
BERTH_API_KIND(ResourceClaim, "resource.k8s.io/v1", "ResourceClaim")
BERTH_API_KIND(ResourceClaimTemplate, "resource.k8s.io/v1", "ResourceClaimTemplate")
BERTH_API_KIND(DeviceClass, "resource.k8s.io/v1", "DeviceClass")
BERTH_API_KIND(ResourceSlice, "resource.k8s.io/v1", "ResourceSlice")
BERTH_API_KIND(DeviceTaintRule, "resource.k8s.io/v1", "DeviceTaintRule")
BERTH_API_KIND(PodGroup, "scheduling.k8s.io/v1beta1", "PodGroup")
BERTH_API_KIND(CompositePodGroup, "scheduling.k8s.io/v1alpha3", "CompositePodGroup")
BERTH_API_KIND(Workload, "scheduling.k8s.io/v1beta1", "Workload")
BERTH_API_KIND(CoschedulingPodGroup, "scheduling.x-k8s.io/v1alpha1", "PodGroup")
BERTH_API_KIND(NodeResourceTopology, "topology.node.k8s.io/v1alpha2", "NodeResourceTopology")
BERTH_API_KIND(ElasticQuota, "scheduling.x-k8s.io/v1alpha1", "ElasticQuota")
BERTH_API_KIND(Lease, "coordination.k8s.io/v1", "Lease")
BERTH_API_KIND(ApiStatus, "v1", "Status")
#undef BERTH_API_KIND

// Every kind that has a KindOf: X(type). First those that are watched, which an ObjectPtr can hold.
#define BERTH_API_KINDS(X) \
  BERTH_WATCHED_KINDS(X)   \
  X(Lease)                 \
  X(ApiStatus)

#define BERTH_WATCHED_KINDS(X) \
  X(Pod)                       \
  X(Node)                      \
  X(Namespace)                 \
  X(Service)                   \
  X(ReplicationController)     \
  X(ReplicaSet)                \
  X(StatefulSet)               \
  X(PodDisruptionBudget)       \
  X(PersistentVolume)          \
  X(PersistentVolumeClaim)     \
  X(StorageClass)              \
  X(CSINode)                   \
  X(CSIDriver)                 \
  X(CSIStorageCapacity)        \
  X(VolumeAttachment)          \
  X(VolumeAttributesClass)     \
  X(ResourceClaim)             \
  X(ResourceClaimTemplate)     \
  X(DeviceClass)               \
  X(ResourceSlice)             \
  X(DeviceTaintRule)           \
  X(PodGroup)                  \
  X(CompositePodGroup)         \
  X(Workload)                  \
  X(CoschedulingPodGroup)      \
  X(NodeResourceTopology)      \
  X(ElasticQuota)

}  // namespace berth::api
