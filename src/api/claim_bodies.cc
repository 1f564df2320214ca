// SPDX-License-Identifier: Apache-2.0
#include "src/api/claim_bodies.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "berth/volumes.h"
#include "src/api/decode.h"
#include "src/api/protobuf_writer.h"
#include "src/api/stored_form.h"
#include "src/base/json.h"

namespace berth::api {
namespace {

using base::JsonObject;

// The version that is patched, and one annotation of it.
void WriteMetadata(const ObjectMeta& meta, std::string_view annotation, JsonObject& patch) {
  JsonObject metadata(patch.Key("metadata"));
  metadata.AddIfNotEmpty("uid", meta.uid);
  metadata.AddIfNotEmpty("resourceVersion", meta.resource_version);
  if (const std::string* value = Find(meta.annotations, annotation)) {
    JsonObject annotations(metadata.Key("annotations"));
    annotations.Add(annotation, *value);
  }
}

using base::JsonList;
using base::JsonObject;

constexpr SplicedField kClaimMetadata{1, "metadata"};
constexpr SplicedField kClaimFinalizers{14, "finalizers", true};
constexpr SplicedField kClaimStatus{3, "status"};
constexpr SplicedField kClaimAllocation{1, "allocation"};
constexpr SplicedField kAllocationTimestamp{5, "allocationTimestamp"};
constexpr SplicedField kClaimReservedFor{2, "reservedFor", true};
constexpr SplicedField kClaimDevices{4, "devices", true};

StoredForm Formed(const StoredForm& like, std::string bytes) {
  return {std::make_shared<const std::string>(std::move(bytes)), like.json};
}

// The claim with another list of finalizers, which `change` makes of the one that it has; false:
// there is nothing to change.
template <typename Change>
std::optional<StoredForm> ChangeFinalizers(const StoredForm& claim, const Change& change) {
  const Splicer& splicer = SplicerOf(claim);
  const std::string metadata = splicer.Inner(*claim.bytes, kClaimMetadata);
  Splicer::Values finalizers = splicer.Get(metadata, kClaimFinalizers);
  const std::string finalizer = splicer.ValueOf(kClaimFinalizer);
  if (!change(finalizers, finalizer)) return std::nullopt;
  const std::string changed = splicer.Set(metadata, kClaimFinalizers, finalizers);
  return Formed(claim, splicer.Set(*claim.bytes, kClaimMetadata, {changed}));
}

// A status as the splicer takes it apart.
std::string EncodeStatus(ResourceClaimStatus status, const StoredForm& like) {
  ResourceClaim claim;
  claim.status = std::move(status);
  std::string bytes;
  if (like.json) {
    bytes = EncodeJson(claim);
  } else {
    EncodeProtobuf(claim, nullptr, bytes);
  }
  return SplicerOf(like).Inner(bytes, kClaimStatus);
}

std::string WithConsumers(std::string_view status,
                          const std::vector<ResourceClaimConsumerReference>& old,
                          const std::vector<ResourceClaimConsumerReference>& wanted,
                          std::string_view encoded, const Splicer& splicer) {
  const Splicer::Values stored = splicer.Get(status, kClaimReservedFor);
  Splicer::Values values = splicer.Get(encoded, kClaimReservedFor);
  for (size_t i = 0; i < std::min(wanted.size(), values.size()); ++i) {
    const auto same = static_cast<size_t>(std::ranges::find(old, wanted[i]) - old.begin());
    if (same < std::min(old.size(), stored.size())) values[i] = stored[same];
  }
  return splicer.Set(status, kClaimReservedFor, values);
}

std::string WithAllocation(std::string_view status, const Boxed<AllocationResult>& old,
                           const Boxed<AllocationResult>& wanted, std::string_view encoded,
                           const Splicer& splicer) {
  const Splicer::Values fresh = splicer.Get(encoded, kClaimAllocation);
  if (!old || !wanted) return splicer.Set(status, kClaimAllocation, fresh);
  if (old->allocation_timestamp || !wanted->allocation_timestamp) return std::string(status);
  // Views point into what is taken apart, which must stay.
  const std::string allocation = splicer.Inner(encoded, kClaimAllocation);
  const std::string timed =
      splicer.Set(splicer.Inner(status, kClaimAllocation), kAllocationTimestamp,
                  splicer.Get(allocation, kAllocationTimestamp));
  return splicer.Set(status, kClaimAllocation, {timed});
}

void AddMap(std::string_view name, const StringMap& map, JsonObject& object) {
  if (map.empty()) return;
  JsonObject members(object.Key(name));
  for (const auto& [key, value] : map) members.Add(key, value);
}

// A strategic merge patch of the status of this very pod, whose members `write` adds.
template <typename Write>
std::string PodStatusPatch(const Pod& pod, const Write& write) {
  std::string body;
  JsonObject patch(body);
  JsonObject metadata(patch.Key("metadata"));
  metadata.AddIfNotEmpty("uid", pod.metadata.uid);
  metadata.Close();
  JsonObject status(patch.Key("status"));
  write(status);
  status.Close();
  patch.Close();
  return body;
}

}  // namespace

std::string VolumePatch(const PersistentVolume& volume) {
  std::string body;
  JsonObject patch(body);
  WriteMetadata(volume.metadata, kBoundByControllerAnnotation, patch);
  if (volume.spec.claim_ref) {
    JsonObject spec(patch.Key("spec"));
    JsonObject claim(spec.Key("claimRef"));
    claim.AddIfNotEmpty("apiVersion", volume.spec.claim_ref->api_version);
    claim.AddIfNotEmpty("kind", volume.spec.claim_ref->kind);
    claim.AddIfNotEmpty("namespace", volume.spec.claim_ref->namespace_);
    claim.AddIfNotEmpty("name", volume.spec.claim_ref->name);
    claim.AddIfNotEmpty("uid", volume.spec.claim_ref->uid);
    claim.AddIfNotEmpty("resourceVersion", volume.spec.claim_ref->resource_version);
  }
  patch.Close();
  return body;
}

std::string ClaimPatch(const PersistentVolumeClaim& claim) {
  std::string body;
  JsonObject patch(body);
  WriteMetadata(claim.metadata, kSelectedNodeAnnotation, patch);
  patch.Close();
  return body;
}

std::optional<StoredForm> WithFinalizer(const StoredForm& claim) {
  return ChangeFinalizers(claim, [](Splicer::Values& finalizers, std::string_view finalizer) {
    if (std::ranges::find(finalizers, finalizer) != finalizers.end()) return false;
    finalizers.push_back(finalizer);
    return true;
  });
}

std::optional<StoredForm> WithoutFinalizer(const StoredForm& claim) {
  return ChangeFinalizers(claim, [](Splicer::Values& finalizers, std::string_view finalizer) {
    return std::erase(finalizers, finalizer) > 0;
  });
}

Result<StoredForm> WithStatus(const StoredForm& claim, const ResourceClaimStatus& status) {
  const auto read =
      Decode<ResourceClaim>(claim.json ? Encoding::kJson : Encoding::kProtobuf, *claim.bytes);
  if (!read) return Fail(read.error());
  const ResourceClaimStatus& old = read->status;
  const Splicer& splicer = SplicerOf(claim);
  const std::string encoded = EncodeStatus(status, claim);
  std::string spliced = splicer.Inner(*claim.bytes, kClaimStatus);
  spliced = WithAllocation(spliced, old.allocation, status.allocation, encoded, splicer);
  spliced = WithConsumers(spliced, old.reserved_for, status.reserved_for, encoded, splicer);
  if (status.devices.empty()) spliced = splicer.Set(spliced, kClaimDevices, {});
  return Formed(claim, splicer.Set(*claim.bytes, kClaimStatus, {spliced}));
}

std::string NewClaimBody(const ResourceClaim& claim, std::string_view generate_name) {
  const ObjectMeta& meta = claim.metadata;
  std::string body;
  JsonObject object(body);
  object.Add("apiVersion", KindOf<ResourceClaim>::kApiVersion);
  object.Add("kind", KindOf<ResourceClaim>::kKind);
  JsonObject metadata(object.Key("metadata"));
  metadata.Add("generateName", generate_name);
  metadata.Add("namespace", meta.namespace_);
  AddMap("labels", meta.labels, metadata);
  AddMap("annotations", meta.annotations, metadata);
  if (!meta.owner_references.empty())
    WriteJson(meta.owner_references, metadata.Key("ownerReferences"));
  metadata.Close();
  WriteJson(claim.spec, object.Key("spec"));
  object.Close();
  return body;
}

std::string ExtendedResourceClaimStatusPatch(const Pod& pod,
                                             const PodExtendedResourceClaimStatus& status) {
  return PodStatusPatch(pod, [&status](JsonObject& pod_status) {
    WriteJson(status, pod_status.Key("extendedResourceClaimStatus"));
  });
}

std::string NodeAllocatableClaimStatusesPatch(
    const Pod& pod, const std::vector<NodeAllocatableResourceClaimStatus>& statuses) {
  return PodStatusPatch(pod, [&statuses](JsonObject& pod_status) {
    JsonList list(pod_status.Key("nodeAllocatableResourceClaimStatuses"));
    for (const NodeAllocatableResourceClaimStatus& status : statuses) {
      WriteJson(status, list.Next());
    }
  });
}

}  // namespace berth::api
