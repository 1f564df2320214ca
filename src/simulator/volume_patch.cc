// SPDX-License-Identifier: Apache-2.0
#include "src/simulator/volume_patch.h"

#include <algorithm>
#include <string>

#include "berth/api/decode_value.h"
#include "src/api/time_format.h"

namespace berth::simulator {
namespace {

// Sets a string from a member of a patch: null clears it.
Result<void> SetString(const std::string& name, const ConfigValue& value, std::string& out) {
  if (value.is_null()) {
    out.clear();
  } else if (value.string() != nullptr) {
    out = *value.string();
  } else {
    return Fail(name + ": must be a string");
  }
  return {};
}

// Of a pod or of another object.
template <typename Condition>
Result<void> PatchCondition(const ConfigValue::Map& patch, Condition& condition) {
  for (const auto& [name, value] : patch) {
    Result<void> set;
    if (name == "status") set = SetString(name, value, condition.status);
    if (name == "reason") set = SetString(name, value, condition.reason);
    if (name == "message") set = SetString(name, value, condition.message);
    if (name == "observedGeneration" && value.integer() != nullptr) {
      condition.observed_generation = *value.integer();
    }
    if (name == "lastTransitionTime") {
      std::string text;
      set = SetString(name, value, text);
      condition.last_transition_time.reset();
      if (set && !text.empty()) {
        const auto time = api::ParseTime(text);
        if (!time) return Fail(time.error().Within(name));
        condition.last_transition_time = *time;
      }
    }
    if (!set) return set;
  }
  return {};
}

template <typename Condition>
Result<void> PatchConditions(const ConfigValue& list, std::vector<Condition>& conditions) {
  if (list.list() == nullptr) return Fail("must be a list");
  for (const ConfigValue& patch : *list.list()) {
    const ConfigValue* type = patch.Find("type");
    if (type == nullptr || type->string() == nullptr) return Fail("a condition without a type");
    auto it = std::find_if(conditions.begin(), conditions.end(), [&](const auto& condition) {
      return condition.type == *type->string();
    });
    if (it == conditions.end()) {
      it = conditions.emplace(conditions.end());
      it->type = *type->string();
    }
    if (auto patched = PatchCondition(*patch.map(), *it); !patched) return patched;
  }
  return {};
}

// Sets a member of a pod's status, read as a pod's is.
template <typename T>
Result<void> SetWhole(const std::string& name, const ConfigValue& value, T api::PodStatus::* member,
                      api::PodStatus& status) {
  const ConfigValue::Map of_status = {{name, value}};
  const ConfigValue pod(ConfigValue::Map{{"status", ConfigValue(of_status)}});
  auto decoded = api::DecodeValue<api::Pod>(pod, "");
  if (!decoded) return Fail(decoded.error());
  status.*member = std::move(decoded->status.*member);
  return {};
}

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

Result<void> ApplyStatusPatch(const ConfigValue& patch, api::PodStatus& status) {
  if (patch.map() == nullptr) return Fail("status: must be a map");
  for (const auto& [name, value] : *patch.map()) {
    Result<void> set;
    if (name == "nominatedNodeName") set = SetString(name, value, status.nominated_node_name);
    if (name == "conditions") set = PatchConditions(value, status.conditions);
    if (name == "extendedResourceClaimStatus") {
      set = SetWhole(name, value, &api::PodStatus::extended_resource_claim_status, status);
    }
    if (name == "nodeAllocatableResourceClaimStatuses") {
      set =
          SetWhole(name, value, &api::PodStatus::node_allocatable_resource_claim_statuses, status);
    }
    if (!set) return Fail(set.error().Within("status"));
  }
  return {};
}

Result<void> ApplyStatusPatch(const ConfigValue& patch, api::PodGroupStatus& status) {
  if (patch.map() == nullptr) return Fail("status: must be a map");
  const ConfigValue* conditions = patch.Find("conditions");
  if (conditions == nullptr) return {};
  if (auto set = PatchConditions(*conditions, status.conditions); !set) {
    return Fail(set.error().Within("status"));
  }
  return {};
}

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
