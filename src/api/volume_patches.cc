// SPDX-License-Identifier: Apache-2.0
#include "src/api/volume_patches.h"

#include "berth/volumes.h"
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
    annotations.Close();
  }
  metadata.Close();
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
    claim.Close();
    spec.Close();
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

}  // namespace berth::api
