// SPDX-License-Identifier: Apache-2.0
#include "src/cache/object_tables.h"

#include <iterator>
#include <type_traits>
#include <variant>

#include "berth/check.h"
#include "berth/volumes.h"
#include "src/cache/same_objects.h"

namespace berth::cache {
namespace {

// Whether ObjectTables has a Table in tables_ for the kind that `Pointer` points to.
template <typename Pointer>
inline constexpr bool kIsHeld = !std::is_same_v<Pointer, std::monostate> &&
                                !std::is_same_v<Pointer, std::shared_ptr<const api::Pod>> &&
                                !std::is_same_v<Pointer, std::shared_ptr<const api::Node>> &&
                                !std::is_same_v<Pointer, std::shared_ptr<const api::PluginObject>>;

template <typename T>
inline constexpr bool kIsOfVolumes =
    std::is_same_v<T, api::PersistentVolume> || std::is_same_v<T, api::PersistentVolumeClaim> ||
    std::is_same_v<T, api::StorageClass> || std::is_same_v<T, api::CSINode> ||
    std::is_same_v<T, api::CSIDriver> || std::is_same_v<T, api::CSIStorageCapacity> ||
    std::is_same_v<T, api::VolumeAttachment> || std::is_same_v<T, api::VolumeAttributesClass>;

template <typename T>
inline constexpr bool kIsOfDevices =
    std::is_same_v<T, api::DeviceClass> || std::is_same_v<T, api::ResourceSlice> ||
    std::is_same_v<T, api::DeviceTaintRule>;

template <typename T>
inline constexpr bool kIsOfPodGroups =
    std::is_same_v<T, api::PodGroup> || std::is_same_v<T, api::CompositePodGroup> ||
    std::is_same_v<T, api::Workload> || std::is_same_v<T, api::CoschedulingPodGroup>;

// What the kinds that have an index are looked up by, besides their name.
std::string_view IndexedBy(const api::PersistentVolume& volume) { return StorageClassOf(volume); }
std::string_view IndexedBy(const api::CSIStorageCapacity& capacity) {
  return capacity.storage_class_name;
}
std::string_view IndexedBy(const api::VolumeAttachment& attachment) {
  return attachment.spec.node_name;
}
std::string_view IndexedBy(const api::ResourceClaim& claim) {
  for (const api::OwnerReference& owner : claim.metadata.owner_references) {
    if (owner.controller) return owner.uid;
  }
  return "";
}

constexpr const char* kOtherPlace = "pods and nodes have tables of their own";

}  // namespace

void ObjectTables::Set(const api::ObjectPtr& object) {
  if (const auto* own = std::get_if<std::shared_ptr<const api::PluginObject>>(&object)) {
    const api::ObjectMeta& meta = (*own)->metadata;
    plugin_objects_[(*own)->kind][meta.namespace_][meta.name] = *own;
    return;
  }
  std::visit(
      [this]<typename Pointer>(const Pointer& held) {
        if constexpr (kIsHeld<Pointer>) {
          using T = std::remove_const_t<typename Pointer::element_type>;
          const api::ObjectMeta& meta = held->metadata;
          std::shared_ptr<const T>& known = std::get<Table<T>>(tables_)[meta.namespace_][meta.name];
          const std::shared_ptr<const T> before = std::exchange(known, held);
          Reindex(before, held);
          if (before == nullptr || !SameObject(*before, *held))
            CountChange<T>(before.get(), held.get());
        } else {
          BERTH_CHECK(false, kOtherPlace);
        }
      },
      object);
}

void ObjectTables::Remove(const api::ObjectPtr& object) {
  if (const auto* own = api::As<api::PluginObject>(object)) {
    auto& table = plugin_objects_[own->kind];
    const auto row = table.find(own->metadata.namespace_);
    if (row == table.end()) return;
    row->second.erase(own->metadata.name);
    if (row->second.empty()) table.erase(row);
    return;
  }
  std::visit(
      [this]<typename Pointer>(const Pointer& held) {
        if constexpr (kIsHeld<Pointer>) {
          using T = std::remove_const_t<typename Pointer::element_type>;
          auto& table = std::get<Table<T>>(tables_);
          const auto row = table.find(held->metadata.namespace_);
          if (row == table.end()) return;
          const auto known = row->second.find(held->metadata.name);
          if (known == row->second.end()) return;
          const std::shared_ptr<const T> before = known->second;
          Reindex<T>(before, nullptr);
          row->second.erase(known);
          if (row->second.empty()) table.erase(row);
          CountChange<T>(before.get(), nullptr);
        } else {
          BERTH_CHECK(false, kOtherPlace);
        }
      },
      object);
}

template <typename T>
void ObjectTables::CountChange(const T* before, const T* after) {
  if constexpr (std::is_same_v<T, api::PodDisruptionBudget>) {
    ++disruption_budgets_generation_;
  } else if constexpr (kIsOfVolumes<T>) {
    volume_changes_.Append(before, after);
  } else if constexpr (kIsOfDevices<T>) {
    ++devices_generation_;
  } else if constexpr (kIsOfPodGroups<T>) {
    ++pod_groups_generation_;
  } else if constexpr (std::is_same_v<T, api::NodeResourceTopology>) {
    ++node_topologies_generation_;
  } else if constexpr (!std::is_same_v<T, api::ResourceClaim> &&
                       !std::is_same_v<T, api::ResourceClaimTemplate>) {
    ++generation_;
    if constexpr (std::is_same_v<T, api::Namespace>) ++namespaces_generation_;
  }
}

template <typename T>
void ObjectTables::Reindex(const std::shared_ptr<const T>& before,
                           const std::shared_ptr<const T>& after) {
  if constexpr (requires(const T& object) { IndexedBy(object); }) {
    auto& index = std::get<Index<T>>(indices_);
    const auto key = [](const T& object) {
      return std::pair(object.metadata.namespace_, object.metadata.name);
    };
    if (before != nullptr && (after == nullptr || IndexedBy(*before) != IndexedBy(*after))) {
      const auto row = index.find(IndexedBy(*before));
      row->second.erase(key(*before));
      if (row->second.empty()) index.erase(row);
    }
    if (after != nullptr) index[std::string(IndexedBy(*after))][key(*after)] = after;
  }
}

template <typename T>
void ObjectTables::ForEachIn(std::string_view value, const Visit<T>& visit) const {
  const auto& index = std::get<Index<T>>(indices_);
  const auto row = index.find(value);
  if (row == index.end()) return;
  for (const auto& [key, object] : row->second) visit(*object);
}

template <typename T>
const T* ObjectTables::Find(std::string_view namespace_, std::string_view name) const {
  const auto& table = std::get<Table<T>>(tables_);
  const auto row = table.find(namespace_);
  if (row == table.end()) return nullptr;
  const auto object = row->second.find(name);
  return object == row->second.end() ? nullptr : object->second.get();
}

template <typename T>
void ObjectTables::ForEach(std::string_view namespace_, const Visit<T>& visit) const {
  const auto& table = std::get<Table<T>>(tables_);
  const auto row = table.find(namespace_);
  if (row == table.end()) return;
  for (const auto& [name, object] : row->second) visit(*object);
}

const api::Namespace* ObjectTables::FindNamespace(std::string_view name) const {
  return Find<api::Namespace>("", name);
}

void ObjectTables::ForEachNamespace(const Visit<api::Namespace>& visit) const {
  ForEach<api::Namespace>("", visit);
}

void ObjectTables::ForEachService(std::string_view namespace_,
                                  const Visit<api::Service>& visit) const {
  ForEach<api::Service>(namespace_, visit);
}

void ObjectTables::ForEachPodDisruptionBudget(std::string_view namespace_,
                                              const Visit<api::PodDisruptionBudget>& visit) const {
  ForEach<api::PodDisruptionBudget>(namespace_, visit);
}

const api::ReplicationController* ObjectTables::FindReplicationController(
    std::string_view namespace_, std::string_view name) const {
  return Find<api::ReplicationController>(namespace_, name);
}

const api::ReplicaSet* ObjectTables::FindReplicaSet(std::string_view namespace_,
                                                    std::string_view name) const {
  return Find<api::ReplicaSet>(namespace_, name);
}

const api::StatefulSet* ObjectTables::FindStatefulSet(std::string_view namespace_,
                                                      std::string_view name) const {
  return Find<api::StatefulSet>(namespace_, name);
}

const api::PersistentVolume* ObjectTables::FindPersistentVolume(std::string_view name) const {
  return Find<api::PersistentVolume>("", name);
}

void ObjectTables::ForEachPersistentVolume(const Visit<api::PersistentVolume>& visit) const {
  ForEach<api::PersistentVolume>("", visit);
}

void ObjectTables::ForEachPersistentVolumeOfClass(std::string_view storage_class,
                                                  const Visit<api::PersistentVolume>& visit) const {
  ForEachIn<api::PersistentVolume>(storage_class, visit);
}

const api::PersistentVolumeClaim* ObjectTables::FindPersistentVolumeClaim(
    std::string_view namespace_, std::string_view name) const {
  return Find<api::PersistentVolumeClaim>(namespace_, name);
}

const api::StorageClass* ObjectTables::FindStorageClass(std::string_view name) const {
  return Find<api::StorageClass>("", name);
}

const api::CSINode* ObjectTables::FindCSINode(std::string_view name) const {
  return Find<api::CSINode>("", name);
}

const api::CSIDriver* ObjectTables::FindCSIDriver(std::string_view name) const {
  return Find<api::CSIDriver>("", name);
}

void ObjectTables::ForEachCSIStorageCapacityOfClass(
    std::string_view storage_class, const Visit<api::CSIStorageCapacity>& visit) const {
  ForEachIn<api::CSIStorageCapacity>(storage_class, visit);
}

void ObjectTables::ForEachVolumeAttachmentOfNode(std::string_view node_name,
                                                 const Visit<api::VolumeAttachment>& visit) const {
  ForEachIn<api::VolumeAttachment>(node_name, visit);
}

const api::VolumeAttributesClass* ObjectTables::FindVolumeAttributesClass(
    std::string_view name) const {
  return Find<api::VolumeAttributesClass>("", name);
}

const api::ResourceClaim* ObjectTables::FindResourceClaim(std::string_view namespace_,
                                                          std::string_view name) const {
  return Find<api::ResourceClaim>(namespace_, name);
}

void ObjectTables::ForEachResourceClaimOfOwner(std::string_view owner_uid,
                                               const Visit<api::ResourceClaim>& visit) const {
  ForEachIn<api::ResourceClaim>(owner_uid, visit);
}

const api::ResourceClaimTemplate* ObjectTables::FindResourceClaimTemplate(
    std::string_view namespace_, std::string_view name) const {
  return Find<api::ResourceClaimTemplate>(namespace_, name);
}

const api::DeviceClass* ObjectTables::FindDeviceClass(std::string_view name) const {
  return Find<api::DeviceClass>("", name);
}

void ObjectTables::ForEachDeviceClass(const Visit<api::DeviceClass>& visit) const {
  ForEach<api::DeviceClass>("", visit);
}

void ObjectTables::ForEachResourceSlice(
    const Visit<std::shared_ptr<const api::ResourceSlice>>& visit) const {
  const auto& table = std::get<Table<api::ResourceSlice>>(tables_);
  const auto row = table.find("");
  if (row == table.end()) return;
  for (const auto& [name, slice] : row->second) visit(slice);
}

void ObjectTables::ForEachDeviceTaintRule(const Visit<api::DeviceTaintRule>& visit) const {
  ForEach<api::DeviceTaintRule>("", visit);
}

const api::PodGroup* ObjectTables::FindPodGroup(std::string_view namespace_,
                                                std::string_view name) const {
  return Find<api::PodGroup>(namespace_, name);
}

void ObjectTables::ForEachPodGroup(std::string_view namespace_,
                                   const Visit<api::PodGroup>& visit) const {
  ForEach<api::PodGroup>(namespace_, visit);
}

const api::CompositePodGroup* ObjectTables::FindCompositePodGroup(std::string_view namespace_,
                                                                  std::string_view name) const {
  return Find<api::CompositePodGroup>(namespace_, name);
}

const api::Workload* ObjectTables::FindWorkload(std::string_view namespace_,
                                                std::string_view name) const {
  return Find<api::Workload>(namespace_, name);
}

void ObjectTables::ForEachElasticQuota(const Visit<api::ElasticQuota>& visit) const {
  for (const auto& [namespace_, quotas] : std::get<Table<api::ElasticQuota>>(tables_)) {
    for (const auto& [name, quota] : quotas) visit(*quota);
  }
}

std::shared_ptr<const api::NodeResourceTopology> ObjectTables::FindNodeResourceTopology(
    std::string_view node_name) const {
  const auto& table = std::get<Table<api::NodeResourceTopology>>(tables_);
  const auto row = table.find("");
  if (row == table.end()) return nullptr;
  const auto object = row->second.find(node_name);
  return object == row->second.end() ? nullptr : object->second;
}

void ObjectTables::ForEachNodeResourceTopology(
    const Visit<std::shared_ptr<const api::NodeResourceTopology>>& visit) const {
  const auto& table = std::get<Table<api::NodeResourceTopology>>(tables_);
  const auto row = table.find("");
  if (row == table.end()) return;
  for (const auto& [name, topology] : row->second) visit(topology);
}

const api::PluginObject* ObjectTables::FindPluginObject(api::PluginKindId kind,
                                                        std::string_view namespace_,
                                                        std::string_view name) const {
  const auto table = plugin_objects_.find(kind);
  if (table == plugin_objects_.end()) return nullptr;
  const auto row = table->second.find(namespace_);
  if (row == table->second.end()) return nullptr;
  const auto object = row->second.find(name);
  return object == row->second.end() ? nullptr : object->second.get();
}

void ObjectTables::ForEachPluginObject(api::PluginKindId kind,
                                       std::optional<std::string_view> namespace_,
                                       const Visit<api::PluginObject>& visit) const {
  const auto table = plugin_objects_.find(kind);
  if (table == plugin_objects_.end()) return;
  const auto& rows = table->second;
  const auto begin = namespace_ ? rows.find(*namespace_) : rows.begin();
  const auto end = !namespace_ ? rows.end() : begin == rows.end() ? begin : std::next(begin);
  for (auto row = begin; row != end; ++row) {
    for (const auto& [name, object] : row->second) visit(*object);
  }
}

}  // namespace berth::cache
