// SPDX-License-Identifier: Apache-2.0
#include "src/cache/same_objects.h"

#include <tuple>

namespace berth::cache {
namespace {

auto Compared(const api::ObjectMeta& m) {
  return std::tie(m.name, m.namespace_, m.uid, m.creation_timestamp, m.deletion_timestamp, m.labels,
                  m.annotations, m.owner_references);
}

auto Compared(const api::PodSpec& s) {
  return std::tie(s.scheduler_name, s.priority, s.preemption_policy, s.host_network,
                  s.node_selector, s.affinity, s.tolerations, s.topology_spread_constraints,
                  s.init_containers, s.containers, s.overhead, s.resources, s.scheduling_gates,
                  s.volumes, s.resource_claims, s.scheduling_group);
}

auto Compared(const PodInfo& p) {
  return std::tie(p.requests, p.placed, p.non_zero_milli_cpu, p.non_zero_memory, p.host_ports);
}

// The annotations of volumes, claims and of what is near them hold facts: migration, class,
// binding.
auto CountedWithAnnotations(const api::ObjectMeta& m) {
  return std::tie(m.uid, m.creation_timestamp, m.deletion_timestamp, m.labels, m.annotations,
                  m.owner_references);
}

template <typename T>
bool SameAnnotatedSpec(const T& a, const T& b) {
  return CountedWithAnnotations(a.metadata) == CountedWithAnnotations(b.metadata) &&
         a.spec == b.spec;
}

// A kind without a spec: all but the metadata is a fact.
template <typename T>
bool SameBesidesVersion(const T& a, T b) {
  if (CountedWithAnnotations(a.metadata) != CountedWithAnnotations(b.metadata)) return false;
  b.metadata = a.metadata;
  return a == b;
}

auto Counted(const api::ObjectMeta& m) {
  return std::tie(m.uid, m.deletion_timestamp, m.labels, m.owner_references);
}

template <typename T>
bool SameSpec(const T& a, const T& b) {
  return Counted(a.metadata) == Counted(b.metadata) && a.spec == b.spec;
}

// Of devices the name says all that metadata says.
template <typename T>
bool SameDevices(const T& a, const T& b) {
  return a.metadata.uid == b.metadata.uid && a.spec == b.spec;
}

}  // namespace

bool SamePlacedPod(const PodInfo& a, const PodInfo& b) {
  if (a.pod == b.pod) return true;
  return Compared(a) == Compared(b) && Compared(a.pod->metadata) == Compared(b.pod->metadata) &&
         Compared(a.pod->spec) == Compared(b.pod->spec);
}

bool SameNode(const api::Node& a, const api::Node& b) {
  return Compared(a.metadata) == Compared(b.metadata) && a.spec == b.spec && a.status == b.status;
}

bool SameObject(const api::Namespace& a, const api::Namespace& b) {
  return Counted(a.metadata) == Counted(b.metadata) &&
         a.metadata.annotations == b.metadata.annotations;
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
  return SameBesidesVersion(a, b);
}

bool SameObject(const api::CSINode& a, const api::CSINode& b) { return SameAnnotatedSpec(a, b); }

bool SameObject(const api::CSIDriver& a, const api::CSIDriver& b) {
  return SameAnnotatedSpec(a, b);
}

bool SameObject(const api::CSIStorageCapacity& a, const api::CSIStorageCapacity& b) {
  return SameBesidesVersion(a, b);
}

bool SameObject(const api::VolumeAttachment& a, const api::VolumeAttachment& b) {
  return SameAnnotatedSpec(a, b) && a.status == b.status;
}

bool SameObject(const api::VolumeAttributesClass& a, const api::VolumeAttributesClass& b) {
  return SameBesidesVersion(a, b);
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

bool SameObject(const api::PodGroup& a, const api::PodGroup& b) {
  return SameSpec(a, b) && a.status == b.status;
}

bool SameObject(const api::CompositePodGroup& a, const api::CompositePodGroup& b) {
  return SameSpec(a, b) && a.status == b.status;
}

bool SameObject(const api::Workload& a, const api::Workload& b) { return SameSpec(a, b); }

}  // namespace berth::cache
