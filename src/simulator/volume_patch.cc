// SPDX-License-Identifier: Apache-2.0
#include "src/simulator/volume_patch.h"

#include <algorithm>
#include <string>

namespace berth::simulator {
namespace {

void PatchAnnotations(const ConfigValue& patch, api::StringMap& annotations) {
  const ConfigValue* metadata = patch.Find("metadata");
  const ConfigValue* changes = metadata == nullptr ? nullptr : metadata->Find("annotations");
  if (changes == nullptr || changes->map() == nullptr) return;
  for (const auto& change : *changes->map()) {
    const std::string& key = change.first;
    const ConfigValue& value = change.second;
    std::erase_if(annotations, [&key](const auto& entry) { return entry.first == key; });
    if (value.string() == nullptr) continue;
    const auto at =
        std::ranges::lower_bound(annotations, key, {}, &api::StringMap::value_type::first);
    annotations.emplace(at, key, *value.string());
  }
}

void SetString(const ConfigValue& object, std::string_view name, std::string& out) {
  const ConfigValue* value = object.Find(name);
  if (value != nullptr) out = value->string() == nullptr ? "" : *value->string();
}

}  // namespace

void ApplyPatch(const ConfigValue& patch, api::PersistentVolume& volume) {
  PatchAnnotations(patch, volume.metadata.annotations);
  const ConfigValue* spec = patch.Find("spec");
  const ConfigValue* claim = spec == nullptr ? nullptr : spec->Find("claimRef");
  if (claim == nullptr) return;
  if (claim->is_null()) {
    volume.spec.claim_ref.reset();
    return;
  }
  if (!volume.spec.claim_ref) volume.spec.claim_ref.emplace();
  api::ObjectReference& reference = *volume.spec.claim_ref;
  SetString(*claim, "apiVersion", reference.api_version);
  SetString(*claim, "kind", reference.kind);
  SetString(*claim, "namespace", reference.namespace_);
  SetString(*claim, "name", reference.name);
  SetString(*claim, "uid", reference.uid);
  SetString(*claim, "resourceVersion", reference.resource_version);
}

void ApplyPatch(const ConfigValue& patch, api::PersistentVolumeClaim& claim) {
  PatchAnnotations(patch, claim.metadata.annotations);
}

}  // namespace berth::simulator
