// SPDX-License-Identifier: Apache-2.0
#include "src/cache/same_objects.h"

#include <cstdint>
#include <tuple>
#include <type_traits>

#include "src/api/kinds.h"
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
  return api::kFieldsOf<T>.Apply([&](const auto&... field) { return (same(field) && ...); });
}

using Meta = api::ObjectMeta;

bool SameBesidesVersion(const Meta& a, const Meta& b) {
  return SameBut<&Meta::resource_version, &Meta::generation>(a, b);
}

auto Compared(const PodInfo& p) {
  return std::tie(p.requests, p.placed, p.non_zero_milli_cpu, p.non_zero_memory, p.host_ports);
}

template <typename T, typename... Ts>
constexpr bool kIsOneOf = (std::is_same_v<T, Ts> || ...);

}  // namespace

bool SamePlacedPod(const PodInfo& a, const PodInfo& b) {
  if (a.pod == b.pod) return true;
  return Compared(a) == Compared(b) && SameBesidesVersion(a.pod->metadata, b.pod->metadata) &&
         SameBut<&api::PodSpec::node_name>(a.pod->spec, b.pod->spec);
}

template <typename T>
bool SameObject(const T& a, const T& b) {
  if constexpr (kIsOneOf<T, api::Node, api::PersistentVolume, api::PersistentVolumeClaim,
                         api::VolumeAttachment, api::ResourceClaim>) {
    // The annotations of volumes, claims and of what is near them hold facts: migration, class,
    // binding.
    return SameBesidesVersion(a.metadata, b.metadata) && a.spec == b.spec && a.status == b.status;
  } else if constexpr (kIsOneOf<T, api::CSINode, api::CSIDriver>) {
    return SameBesidesVersion(a.metadata, b.metadata) && a.spec == b.spec;
  } else if constexpr (kIsOneOf<T, api::StorageClass, api::CSIStorageCapacity,
                                api::VolumeAttributesClass, api::NodeResourceTopology>) {
    // Without a spec: all but the metadata is a fact.
    return SameBesidesVersion(a.metadata, b.metadata) && SameBut<&T::metadata>(a, b);
  } else if constexpr (kIsOneOf<T, api::DeviceClass, api::ResourceSlice, api::DeviceTaintRule>) {
    // The name says all that metadata says.
    return a.metadata.uid == b.metadata.uid && a.spec == b.spec;
  } else if constexpr (kIsOneOf<T, api::Namespace>) {
    return SameBut<&Meta::resource_version, &Meta::generation, &Meta::creation_timestamp>(
        a.metadata, b.metadata);
  } else {
    // The statuses of pod groups are written by the scheduler, which reads them in no decision.
    if constexpr (kIsOneOf<T, api::PodDisruptionBudget>) {
      if (a.status != b.status) return false;
    }
    return SameBut<&Meta::resource_version, &Meta::generation, &Meta::creation_timestamp,
                   &Meta::annotations>(a.metadata, b.metadata) &&
           a.spec == b.spec;
  }
}

#define BERTH_INSTANTIATE(kind) template bool SameObject(const api::kind&, const api::kind&);
BERTH_WATCHED_KINDS(BERTH_INSTANTIATE)
#undef BERTH_INSTANTIATE

}  // namespace berth::cache
