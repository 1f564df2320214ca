// SPDX-License-Identifier: Apache-2.0
#include "tests/scenarios/runner/objects.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <memory>
#include <type_traits>

#include "berth/plugin_kinds.h"
#include "src/api/decode.h"
#include "src/api/plugin_object.h"
#include "src/documents/parse.h"
#include "src/informers/kinds.h"
#include "src/simulator/memory_api.h"
#include "src/simulator/object_checks.h"

namespace berth::scenarios {
namespace {

using informers::Kind;
using Map = ConfigValue::Map;

constexpr std::array<std::pair<std::string_view, Kind>, 27> kLists = {{
    {"pods", Kind::kPod},
    {"nodes", Kind::kNode},
    {"namespaces", Kind::kNamespace},
    {"services", Kind::kService},
    {"replicationControllers", Kind::kReplicationController},
    {"replicaSets", Kind::kReplicaSet},
    {"statefulSets", Kind::kStatefulSet},
    {"podDisruptionBudgets", Kind::kPodDisruptionBudget},
    {"persistentVolumes", Kind::kPersistentVolume},
    {"persistentVolumeClaims", Kind::kPersistentVolumeClaim},
    {"storageClasses", Kind::kStorageClass},
    {"csiNodes", Kind::kCsiNode},
    {"csiDrivers", Kind::kCsiDriver},
    {"csiStorageCapacities", Kind::kCsiStorageCapacity},
    {"volumeAttachments", Kind::kVolumeAttachment},
    {"volumeAttributesClasses", Kind::kVolumeAttributesClass},
    {"resourceClaims", Kind::kResourceClaim},
    {"resourceClaimTemplates", Kind::kResourceClaimTemplate},
    {"deviceClasses", Kind::kDeviceClass},
    {"resourceSlices", Kind::kResourceSlice},
    {"deviceTaintRules", Kind::kDeviceTaintRule},
    {"podGroups", Kind::kPodGroup},
    {"compositePodGroups", Kind::kCompositePodGroup},
    {"workloads", Kind::kWorkload},
    {"coschedulingPodGroups", Kind::kCoschedulingPodGroup},
    {"nodeResourceTopologies", Kind::kNodeResourceTopology},
    {"elasticQuotas", Kind::kElasticQuota},
}};
constexpr std::array<std::string_view, 4> kMetadataShortCuts = {"name", "namespace", "labels",
                                                                "annotations"};

bool HasNamespace(Kind kind) {
  if (const auto own = informers::PluginKindOf(kind)) return PluginKinds()[*own].namespaced;
  switch (kind) {
    case Kind::kNode:
    case Kind::kNamespace:
    case Kind::kPersistentVolume:
    case Kind::kStorageClass:
    case Kind::kCsiNode:
    case Kind::kCsiDriver:
    case Kind::kVolumeAttachment:
    case Kind::kVolumeAttributesClass:
    case Kind::kDeviceClass:
    case Kind::kResourceSlice:
    case Kind::kDeviceTaintRule:
    case Kind::kNodeResourceTopology:
      return false;
    default:
      return true;
  }
}

ConfigValue Text(std::string_view text, int line) { return ConfigValue(std::string(text), line); }

// The member, or nullptr; unlike ConfigValue::Find, a null member is one.
const ConfigValue* Member(const Map& map, std::string_view key) {
  const auto it =
      std::find_if(map.begin(), map.end(), [&](const auto& member) { return member.first == key; });
  return it == map.end() ? nullptr : &it->second;
}

Map MapOf(const ConfigValue* value) {
  return value == nullptr || value->map() == nullptr ? Map() : *value->map();
}

void Set(Map& map, std::string_view key, ConfigValue value) {
  for (auto& [name, held] : map) {
    if (name != key) continue;
    held = std::move(value);
    return;
  }
  map.emplace_back(std::string(key), std::move(value));
}

// The value at `path` below `map`, or nullptr.
const ConfigValue* FindAt(const Map& map, std::string_view first, std::string_view second) {
  const ConfigValue* value = Member(map, first);
  return value == nullptr ? nullptr : value->Find(second);
}

void SetAt(Map& map, std::string_view first, std::string_view second, ConfigValue value) {
  Map inner = MapOf(Member(map, first));
  const int line = value.line();
  Set(inner, second, std::move(value));
  Set(map, first, ConfigValue(std::move(inner), line));
}

// A pod's only container, with these requests (nullptr: none).
ConfigValue MainContainer(const ConfigValue* requests, int line) {
  Map container;
  Set(container, "name", Text("main", line));
  if (requests != nullptr) SetAt(container, "resources", "requests", *requests);
  ConfigValue::List containers;
  containers.emplace_back(std::move(container), line);
  return ConfigValue(std::move(containers), line);
}

ConfigValue DefaultAllocatable(int line) {
  Map allocatable;
  Set(allocatable, "cpu", Text("8", line));
  Set(allocatable, "memory", Text("32Gi", line));
  Set(allocatable, "pods", Text("110", line));
  return ConfigValue(std::move(allocatable), line);
}

// RFC 7386.
ConfigValue Merge(const ConfigValue& target, const ConfigValue& patch) {
  if (patch.map() == nullptr) return patch;
  Map merged = MapOf(&target);
  for (const auto& [key, value] : *patch.map()) {
    if (value.is_null()) {
      std::erase_if(merged, [&name = key](const auto& member) { return member.first == name; });
    } else {
      const ConfigValue* held = Member(merged, key);
      Set(merged, key, Merge(held == nullptr ? ConfigValue() : *held, value));
    }
  }
  return ConfigValue(std::move(merged), patch.line());
}

template <typename T>
Result<api::ObjectPtr> Decode(const ConfigValue& tree) {
  auto object = api::DecodeValue<T>(tree, "", api::UnknownFields::kFail);
  if (!object) return Fail(object.error());
  api::ObjectPtr pointer = std::make_shared<const T>(*std::move(object));
  if (auto problem = simulator::FindBadSelector(pointer)) return Fail(*std::move(problem));
  return pointer;
}

Result<api::ObjectPtr> Decode(Kind kind, const ConfigValue& tree) {
  if (const auto own = informers::PluginKindOf(kind)) {
    auto object = api::ReadPluginObject(*own, tree.ToJson());
    if (!object) return Fail(object.error());
    return api::ObjectPtr(std::make_shared<const api::PluginObject>(*std::move(object)));
  }
  switch (kind) {
    case Kind::kPod:
      return Decode<api::Pod>(tree);
    case Kind::kNode:
      return Decode<api::Node>(tree);
    case Kind::kNamespace:
      return Decode<api::Namespace>(tree);
    case Kind::kService:
      return Decode<api::Service>(tree);
    case Kind::kReplicationController:
      return Decode<api::ReplicationController>(tree);
    case Kind::kReplicaSet:
      return Decode<api::ReplicaSet>(tree);
    case Kind::kStatefulSet:
      return Decode<api::StatefulSet>(tree);
    case Kind::kPodDisruptionBudget:
      return Decode<api::PodDisruptionBudget>(tree);
    case Kind::kPersistentVolume:
      return Decode<api::PersistentVolume>(tree);
    case Kind::kPersistentVolumeClaim:
      return Decode<api::PersistentVolumeClaim>(tree);
    case Kind::kStorageClass:
      return Decode<api::StorageClass>(tree);
    case Kind::kCsiNode:
      return Decode<api::CSINode>(tree);
    case Kind::kCsiDriver:
      return Decode<api::CSIDriver>(tree);
    case Kind::kCsiStorageCapacity:
      return Decode<api::CSIStorageCapacity>(tree);
    case Kind::kVolumeAttachment:
      return Decode<api::VolumeAttachment>(tree);
    case Kind::kVolumeAttributesClass:
      return Decode<api::VolumeAttributesClass>(tree);
    case Kind::kResourceClaim:
      return Decode<api::ResourceClaim>(tree);
    case Kind::kResourceClaimTemplate:
      return Decode<api::ResourceClaimTemplate>(tree);
    case Kind::kDeviceClass:
      return Decode<api::DeviceClass>(tree);
    case Kind::kResourceSlice:
      return Decode<api::ResourceSlice>(tree);
    case Kind::kDeviceTaintRule:
      return Decode<api::DeviceTaintRule>(tree);
    case Kind::kPodGroup:
      return Decode<api::PodGroup>(tree);
    case Kind::kCompositePodGroup:
      return Decode<api::CompositePodGroup>(tree);
    case Kind::kWorkload:
      return Decode<api::Workload>(tree);
    case Kind::kCoschedulingPodGroup:
      return Decode<api::CoschedulingPodGroup>(tree);
    case Kind::kNodeResourceTopology:
      return Decode<api::NodeResourceTopology>(tree);
    case Kind::kElasticQuota:
    case Kind::kFirstPluginKind:
      break;
  }
  return Decode<api::ElasticQuota>(tree);
}

std::string Encode(const api::ObjectPtr& object) {
  return std::visit(
      [](const auto& held) -> std::string {
        using Held = std::decay_t<decltype(held)>;
        if constexpr (std::is_same_v<Held, std::monostate>) {
          return "{}";
        } else if constexpr (std::is_same_v<Held, std::shared_ptr<const api::PluginObject>>) {
          return *held->json;
        } else {
          return api::EncodeJson(*held);
        }
      },
      object);
}

// "$i" becomes the index, "$i%7" what is left of it divided by 7.
std::string ReplaceIndex(std::string_view text, size_t index) {
  std::string out;
  for (size_t at = text.find("$i"); at != std::string_view::npos; at = text.find("$i")) {
    out += text.substr(0, at);
    text.remove_prefix(at + 2);
    size_t written = index;
    if (text.starts_with('%') || text.starts_with('/')) {
      const char* end = text.data() + text.size();
      size_t divisor = 0;
      const char* rest = std::from_chars(text.data() + 1, end, divisor).ptr;
      if (divisor > 0) {
        written = text.front() == '%' ? index % divisor : index / divisor;
        text = {rest, static_cast<size_t>(end - rest)};
      }
    }
    out += std::to_string(written);
  }
  return out.append(text);
}

}  // namespace

std::span<const std::pair<std::string_view, Kind>> Lists() { return kLists; }

std::optional<Kind> KindOfList(std::string_view list) {
  for (const auto& [name, kind] : kLists) {
    if (name == list) return kind;
  }
  for (const Kind kind : informers::AllKinds()) {
    if (informers::PluginKindOf(kind) && informers::InfoOf(kind).resource == list) return kind;
  }
  return std::nullopt;
}

std::string KeyOf(Kind kind, std::string_view name) {
  if (!HasNamespace(kind) || name.find('/') != std::string_view::npos) return std::string(name);
  return "default/" + std::string(name);
}

Result<ConfigValue> ExpandShortCuts(Kind kind, const ConfigValue& written) {
  if (written.map() == nullptr)
    return Fail("expected a map, got " + std::string(written.TypeName()));
  Map expanded;
  for (const auto& [key, value] : *written.map()) {
    const bool is_short = std::find(kMetadataShortCuts.begin(), kMetadataShortCuts.end(), key) !=
                              kMetadataShortCuts.end() ||
                          (kind == Kind::kPod && key == "requests");
    if (!is_short) Set(expanded, key, value);
  }
  for (std::string_view key : kMetadataShortCuts) {
    const ConfigValue* value = Member(*written.map(), key);
    if (value == nullptr) continue;
    if (FindAt(expanded, "metadata", key) != nullptr) {
      return Fail(std::string(key) + ": stands in metadata, too");
    }
    SetAt(expanded, "metadata", key, *value);
  }
  if (kind == Kind::kPod) {
    if (const ConfigValue* requests = written.Find("requests")) {
      if (FindAt(expanded, "spec", "containers") != nullptr) {
        return Fail("requests: the pod has spec.containers, too");
      }
      SetAt(expanded, "spec", "containers", MainContainer(requests, requests->line()));
    }
  }
  return ConfigValue(std::move(expanded), written.line());
}

std::string KeyOfExpanded(Kind kind, const ConfigValue& expanded) {
  const ConfigValue* name = FindAt(*expanded.map(), "metadata", "name");
  if (name == nullptr || name->string() == nullptr) return "";
  const ConfigValue* space = FindAt(*expanded.map(), "metadata", "namespace");
  if (space == nullptr || space->string() == nullptr) return KeyOf(kind, *name->string());
  return *space->string() + "/" + *name->string();
}

Result<api::ObjectPtr> MakeObject(Kind kind, const ConfigValue& expanded, std::string_view uid) {
  const int line = expanded.line();
  Map object = *expanded.map();
  const auto fill = [&](std::string_view first, std::string_view second, ConfigValue value) {
    if (FindAt(object, first, second) == nullptr) SetAt(object, first, second, std::move(value));
  };
  if (FindAt(object, "metadata", "name") == nullptr) return Fail("name: is missing");
  if (HasNamespace(kind)) fill("metadata", "namespace", Text("default", line));
  fill("metadata", "uid", Text(uid, line));
  if (kind == Kind::kNode) fill("status", "allocatable", DefaultAllocatable(line));
  if (kind == Kind::kPod) {
    fill("spec", "schedulerName", Text("default-scheduler", line));
    fill("spec", "containers", MainContainer(nullptr, line));
  }
  return Decode(kind, ConfigValue(std::move(object), line));
}

Result<ConfigValue> TreeOf(const api::ObjectPtr& object) {
  return documents::ParseJson(Encode(object), "");
}

Result<api::ObjectPtr> PatchObject(const api::ObjectPtr& object,
                                   const ConfigValue& expanded_patch) {
  const auto tree = TreeOf(object);
  if (!tree) return Fail(tree.error());
  return Decode(simulator::KindOf(object), Merge(*tree, expanded_patch));
}

ConfigValue WithIndex(const ConfigValue& value, size_t index) {
  if (const std::string* text = value.string()) {
    return ConfigValue(ReplaceIndex(*text, index), value.line());
  }
  if (const ConfigValue::List* list = value.list()) {
    ConfigValue::List out;
    for (const ConfigValue& element : *list) out.push_back(WithIndex(element, index));
    return ConfigValue(std::move(out), value.line());
  }
  if (const Map* map = value.map()) {
    Map out;
    for (const auto& [key, member] : *map) {
      out.emplace_back(ReplaceIndex(key, index), WithIndex(member, index));
    }
    return ConfigValue(std::move(out), value.line());
  }
  return value;
}

}  // namespace berth::scenarios
