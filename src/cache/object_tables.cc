// SPDX-License-Identifier: Apache-2.0
#include "src/cache/object_tables.h"

#include <type_traits>
#include <utility>
#include <variant>

#include "berth/check.h"
#include "src/cache/same_objects.h"

namespace berth::cache {
namespace {

// Whether ObjectTables holds the kind that `Pointer` points to.
template <typename Pointer>
inline constexpr bool kIsHeld = !std::is_same_v<Pointer, std::monostate> &&
                                !std::is_same_v<Pointer, std::shared_ptr<const api::Pod>> &&
                                !std::is_same_v<Pointer, std::shared_ptr<const api::Node>>;

constexpr const char* kOtherPlace = "pods and nodes have tables of their own";

}  // namespace

void ObjectTables::Set(const api::ObjectPtr& object) {
  std::visit(
      [this]<typename Pointer>(const Pointer& held) {
        if constexpr (kIsHeld<Pointer>) {
          using T = std::remove_const_t<typename Pointer::element_type>;
          const api::ObjectMeta& meta = held->metadata;
          std::shared_ptr<const T>& known = std::get<Table<T>>(tables_)[meta.namespace_][meta.name];
          const std::shared_ptr<const T> before = std::exchange(known, held);
          if (before == nullptr || !SameObject(*before, *held)) CountChange<T>();
        } else {
          BERTH_CHECK(false, kOtherPlace);
        }
      },
      object);
}

void ObjectTables::Remove(const api::ObjectPtr& object) {
  std::visit(
      [this]<typename Pointer>(const Pointer& held) {
        if constexpr (kIsHeld<Pointer>) {
          using T = std::remove_const_t<typename Pointer::element_type>;
          auto& table = std::get<Table<T>>(tables_);
          const auto row = table.find(held->metadata.namespace_);
          if (row == table.end() || row->second.erase(held->metadata.name) == 0) return;
          if (row->second.empty()) table.erase(row);
          CountChange<T>();
        } else {
          BERTH_CHECK(false, kOtherPlace);
        }
      },
      object);
}

template <typename T>
void ObjectTables::CountChange() {
  if constexpr (std::is_same_v<T, api::PodDisruptionBudget>) {
    ++disruption_budgets_generation_;
  } else {
    ++generation_;
    if constexpr (std::is_same_v<T, api::Namespace>) ++namespaces_generation_;
  }
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

}  // namespace berth::cache
