// SPDX-License-Identifier: Apache-2.0
#include "src/cache/same_objects.h"

#include <cstdint>
#include <tuple>

#include "src/api/tables_meta.h"
#include "src/api/tables_pod.h"
#include "src/api/tables_storage.h"

namespace berth::cache {
namespace {

template <auto a, auto b>
constexpr bool kSameMember = false;
template <auto member>
constexpr bool kSameMember<member, member> = true;

// Whether all fields of T's table are equal but those named: a new field counts until it is named.
template <auto... left_out, typename T>
bool SameBut(const T& a, const T& b) {
  const auto same = [&]<uint32_t number, auto member>(const api::Field<number, member>&) {
    return (kSameMember<member, left_out> || ...) || a.*member == b.*member;
  };
  return api::FieldsOf<T>::kFields.Apply(
      [&](const auto&... field) { return (same(field) && ...); });
}

using Meta = api::ObjectMeta;

bool SameBesidesVersion(const Meta& a, const Meta& b) {
  return SameBut<&Meta::resource_version, &Meta::generation>(a, b);
}

auto Compared(const PodInfo& p) {
  return std::tie(p.requests, p.placed, p.non_zero_milli_cpu, p.non_zero_memory, p.host_ports);
}

// The annotations of volumes, claims and of what is near them hold facts: migration, class,
// binding.
template <typename T>
bool SameAnnotatedSpec(const T& a, const T& b) {
  return SameBesidesVersion(a.metadata, b.metadata) && a.spec == b.spec;
}

// A kind without a spec: all but the metadata is a fact.
template <typename T>
bool SameAnnotatedFields(const T& a, const T& b) {
  return SameBesidesVersion(a.metadata, b.metadata) && SameBut<&T::metadata>(a, b);
}

template <typename T>
bool SameSpec(const T& a, const T& b) {
  return SameBut<&Meta::resource_version, &Meta::generation, &Meta::creation_timestamp,
                 &Meta::annotations>(a.metadata, b.metadata) &&
         a.spec == b.spec;
}

// Of devices the name says all that metadata says.
template <typename T>
bool SameDevices(const T& a, const T& b) {
  return a.metadata.uid == b.metadata.uid && a.spec == b.spec;
}

}  // namespace

bool SamePlacedPod(const PodInfo& a, const PodInfo& b) {
  if (a.pod == b.pod) return true;
  return Compared(a) == Compared(b) && SameBesidesVersion(a.pod->metadata, b.pod->metadata) &&
         SameBut<&api::PodSpec::node_name>(a.pod->spec, b.pod->spec);
}

bool SameNode(const api::Node& a, const api::Node& b) {
  return SameBesidesVersion(a.metadata, b.metadata) && a.spec == b.spec && a.status == b.status;
}

bool SameObject(const api::Namespace& a, const api::Namespace& b) {
  return SameBut<&Meta::resource_version, &Meta::generation, &Meta::creation_timestamp>(a.metadata,
                                                                                        b.metadata);
}

bool SameObject(const api::Service& a, const api::Service& b) { return SameSpec(a, b); }

bool SameObject(const api::ReplicationController& a, const api::ReplicationController& b) {
  return SameSpec(a, b);
}

bool SameObject(const api::ReplicaSet& a, const api::ReplicaSet& b) { return SameSpec(a, b); }

bool SameObject(const api::StatefulSet& a, const api::StatefulSet& b) { return SameSpec(a, b); }

bool SameObject(const api::PodDisruptionBudget& a, const api::PodDisruptionBudget& b) {
  return SameSpec(a, b) && a.status == b.status;
}

bool SameObject(const api::PersistentVolume& a, const api::PersistentVolume& b) {
  return SameAnnotatedSpec(a, b) && a.status == b.status;
}

bool SameObject(const api::PersistentVolumeClaim& a, const api::PersistentVolumeClaim& b) {
  return SameAnnotatedSpec(a, b) && a.status == b.status;
}

bool SameObject(const api::StorageClass& a, const api::StorageClass& b) {
  return SameAnnotatedFields(a, b);
}

bool SameObject(const api::CSINode& a, const api::CSINode& b) { return SameAnnotatedSpec(a, b); }

bool SameObject(const api::CSIDriver& a, const api::CSIDriver& b) {
  return SameAnnotatedSpec(a, b);
}

bool SameObject(const api::CSIStorageCapacity& a, const api::CSIStorageCapacity& b) {
  return SameAnnotatedFields(a, b);
}

bool SameObject(const api::VolumeAttachment& a, const api::VolumeAttachment& b) {
  return SameAnnotatedSpec(a, b) && a.status == b.status;
}

bool SameObject(const api::VolumeAttributesClass& a, const api::VolumeAttributesClass& b) {
  return SameAnnotatedFields(a, b);
}

bool SameObject(const api::ResourceClaim& a, const api::ResourceClaim& b) {
  return SameAnnotatedSpec(a, b) && a.status == b.status;
}

bool SameObject(const api::ResourceClaimTemplate& a, const api::ResourceClaimTemplate& b) {
  return SameSpec(a, b);
}

bool SameObject(const api::DeviceClass& a, const api::DeviceClass& b) { return SameDevices(a, b); }

bool SameObject(const api::ResourceSlice& a, const api::ResourceSlice& b) {
  return SameDevices(a, b);
}

bool SameObject(const api::DeviceTaintRule& a, const api::DeviceTaintRule& b) {
  return SameDevices(a, b);
}

// Their statuses are written by the scheduler, which reads them in no decision.
bool SameObject(const api::PodGroup& a, const api::PodGroup& b) { return SameSpec(a, b); }

bool SameObject(const api::CompositePodGroup& a, const api::CompositePodGroup& b) {
  return SameSpec(a, b);
}

bool SameObject(const api::Workload& a, const api::Workload& b) { return SameSpec(a, b); }

bool SameObject(const api::CoschedulingPodGroup& a, const api::CoschedulingPodGroup& b) {
  return SameSpec(a, b);
}

bool SameObject(const api::NodeResourceTopology& a, const api::NodeResourceTopology& b) {
  return SameAnnotatedFields(a, b);
}

bool SameObject(const api::ElasticQuota& a, const api::ElasticQuota& b) { return SameSpec(a, b); }

}  // namespace berth::cache
