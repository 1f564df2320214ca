// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "berth/listers.h"

namespace berth::test {

// Listers of what a test puts in. Set and Remove may move the objects of their kind: pointers are
// good until the next one. Thread safety: one owner.
class PlainListers final : public Listers {
 public:
  // Adds the object, or puts it in place of the one of its namespace and name. T is one of the
  // kinds that Listers offers.
  template <typename T>
  void Set(T object) {
    Bump<T>();
    for (T& known : All<T>()) {
      if (SameName(known, object.metadata.namespace_, object.metadata.name)) {
        known = std::move(object);
        return;
      }
    }
    auto& all = All<T>();
    auto at = all.begin();
    while (at != all.end() && at->metadata.name < object.metadata.name) ++at;
    all.insert(at, std::move(object));
  }

  template <typename T>
  void Remove(std::string_view namespace_, std::string_view name) {
    Bump<T>();
    std::erase_if(All<T>(), [&](const T& known) { return SameName(known, namespace_, name); });
  }

  const api::Namespace* FindNamespace(std::string_view name) const override {
    return FindOf<api::Namespace>("", name);
  }
  void ForEachNamespace(const Visit<api::Namespace>& visit) const override { VisitOf("", visit); }
  void ForEachService(std::string_view namespace_,
                      const Visit<api::Service>& visit) const override {
    VisitOf(namespace_, visit);
  }
  void ForEachPodDisruptionBudget(std::string_view namespace_,
                                  const Visit<api::PodDisruptionBudget>& visit) const override {
    VisitOf(namespace_, visit);
  }
  const api::ReplicationController* FindReplicationController(
      std::string_view namespace_, std::string_view name) const override {
    return FindOf<api::ReplicationController>(namespace_, name);
  }
  const api::ReplicaSet* FindReplicaSet(std::string_view namespace_,
                                        std::string_view name) const override {
    return FindOf<api::ReplicaSet>(namespace_, name);
  }
  const api::StatefulSet* FindStatefulSet(std::string_view namespace_,
                                          std::string_view name) const override {
    return FindOf<api::StatefulSet>(namespace_, name);
  }
  uint64_t generation() const override { return generation_; }
  uint64_t namespaces_generation() const override { return namespaces_generation_; }
  uint64_t disruption_budgets_generation() const override { return disruption_budgets_generation_; }

 private:
  template <typename T>
  std::vector<T>& All() {
    return std::get<std::vector<T>>(objects_);
  }
  template <typename T>
  static bool SameName(const T& object, std::string_view namespace_, std::string_view name) {
    return object.metadata.namespace_ == namespace_ && object.metadata.name == name;
  }
  template <typename T>
  void Bump() {
    ++(std::is_same_v<T, api::PodDisruptionBudget> ? disruption_budgets_generation_ : generation_);
    if constexpr (std::is_same_v<T, api::Namespace>) ++namespaces_generation_;
  }
  template <typename T>
  const T* FindOf(std::string_view namespace_, std::string_view name) const {
    for (const T& object : std::get<std::vector<T>>(objects_)) {
      if (SameName(object, namespace_, name)) return &object;
    }
    return nullptr;
  }
  template <typename T>
  void VisitOf(std::string_view namespace_, const Visit<T>& visit) const {
    for (const T& object : std::get<std::vector<T>>(objects_)) {
      if (object.metadata.namespace_ == namespace_) visit(object);
    }
  }

  // Each sorted by name.
  std::tuple<std::vector<api::Namespace>, std::vector<api::Service>,
             std::vector<api::ReplicationController>, std::vector<api::ReplicaSet>,
             std::vector<api::StatefulSet>, std::vector<api::PodDisruptionBudget>>
      objects_;
  uint64_t generation_ = 0;
  uint64_t namespaces_generation_ = 0;
  uint64_t disruption_budgets_generation_ = 0;
};

}  // namespace berth::test
