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
