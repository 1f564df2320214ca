// SPDX-License-Identifier: Apache-2.0
#include "src/api/claim_patches.h"

#include "src/api/decode.h"
#include "src/base/json.h"

namespace berth::api {
namespace {

using base::JsonList;
using base::JsonObject;

// The version that is patched, and `list` of its metadata with the finalizer.
std::string FinalizerPatch(const ObjectMeta& meta, std::string_view list) {
  std::string body;
  JsonObject patch(body);
  JsonObject metadata(patch.Key("metadata"));
  metadata.AddIfNotEmpty("uid", meta.uid);
  metadata.AddIfNotEmpty("resourceVersion", meta.resource_version);
  JsonList finalizers(metadata.Key(list));
  base::AppendJson(kClaimFinalizer, finalizers.Next());
  finalizers.Close();
  metadata.Close();
  patch.Close();
  return body;
}

// An operation that sets what is at `path`; its value is appended next.
JsonObject SetAt(std::string_view path, JsonList& operations) {
  JsonObject operation(operations.Next());
  operation.Add("op", "add");
  operation.Add("path", path);
  operation.Key("value");
  return operation;
}

void SetText(std::string_view path, std::string_view text, JsonList& operations,
             std::string& body) {
  if (text.empty()) return;
  JsonObject operation = SetAt(path, operations);
  base::AppendJson(text, body);
  operation.Close();
}

void AddMap(std::string_view name, const StringMap& map, JsonObject& object) {
  if (map.empty()) return;
  JsonObject members(object.Key(name));
  for (const auto& [key, value] : map) members.Add(key, value);
  members.Close();
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

std::string AddFinalizerPatch(const ResourceClaim& claim) {
  return FinalizerPatch(claim.metadata, "finalizers");
}

std::string RemoveFinalizerPatch(const ResourceClaim& claim) {
  return FinalizerPatch(claim.metadata, "$deleteFromPrimitiveList/finalizers");
}

std::string ClaimStatusPatch(const ResourceClaim& claim) {
  std::string body;
  JsonList operations(body);
  SetText("/metadata/uid", claim.metadata.uid, operations, body);
  SetText("/metadata/resourceVersion", claim.metadata.resource_version, operations, body);
  JsonObject status = SetAt("/status", operations);
  WriteJson(claim.status, body);
  status.Close();
  operations.Close();
  return body;
}

std::string RemoveReservationPatch(const ResourceClaim& claim, std::string_view consumer_uid) {
  std::string body;
  JsonObject patch(body);
  JsonObject metadata(patch.Key("metadata"));
  metadata.Add("uid", claim.metadata.uid);
  metadata.Close();
  JsonObject status(patch.Key("status"));
  JsonList reserved_for(status.Key("reservedFor"));
  JsonObject consumer(reserved_for.Next());
  consumer.Add("$patch", "delete");
  consumer.Add("uid", consumer_uid);
  consumer.Close();
  reserved_for.Close();
  status.Close();
  patch.Close();
  return body;
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
    list.Close();
  });
}

}  // namespace berth::api
