// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "berth/listers.h"
#include "berth/volumes.h"

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
    if constexpr (std::is_same_v<T, api::ResourceSlice>) {
      slices_[object.metadata.name] = std::make_shared<const T>(object);
    }
    if constexpr (std::is_same_v<T, api::NodeResourceTopology>) {
      topologies_[object.metadata.name] = std::make_shared<const T>(object);
    }
    Note(object);
    for (T& known : All<T>()) {
      if (SameName(known, object.metadata.namespace_, object.metadata.name)) {
        Note(known);
        known = std::move(object);
        return;
      }
    }
    auto& all = All<T>();
    auto at = all.begin();
    const auto key = [](const T& known) {
      return std::tie(known.metadata.namespace_, known.metadata.name);
    };
    while (at != all.end() && key(*at) < key(object)) ++at;
    all.insert(at, std::move(object));
  }

  template <typename T>
  void Remove(std::string_view namespace_, std::string_view name) {
    Bump<T>();
    if constexpr (std::is_same_v<T, api::ResourceSlice>) slices_.erase(std::string(name));
    if constexpr (std::is_same_v<T, api::NodeResourceTopology>)
      topologies_.erase(std::string(name));
    std::erase_if(All<T>(), [&](const T& known) {
      if (!SameName(known, namespace_, name)) return false;
      Note(known);
      return true;
    });
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
  const api::PersistentVolume* FindPersistentVolume(std::string_view name) const override {
    return FindOf<api::PersistentVolume>("", name);
  }
  void ForEachPersistentVolume(const Visit<api::PersistentVolume>& visit) const override {
    VisitOf("", visit);
  }
  void ForEachPersistentVolumeOfClass(std::string_view storage_class,
                                      const Visit<api::PersistentVolume>& visit) const override {
    VisitIf(visit, [&](const auto& volume) { return StorageClassOf(volume) == storage_class; });
  }
  const api::PersistentVolumeClaim* FindPersistentVolumeClaim(
      std::string_view namespace_, std::string_view name) const override {
    return FindOf<api::PersistentVolumeClaim>(namespace_, name);
  }
  const api::StorageClass* FindStorageClass(std::string_view name) const override {
    return FindOf<api::StorageClass>("", name);
  }
  const api::CSINode* FindCSINode(std::string_view name) const override {
    return FindOf<api::CSINode>("", name);
  }
  const api::CSIDriver* FindCSIDriver(std::string_view name) const override {
    return FindOf<api::CSIDriver>("", name);
  }
  void ForEachCSIStorageCapacityOfClass(
      std::string_view storage_class, const Visit<api::CSIStorageCapacity>& visit) const override {
    VisitIf(visit,
            [&](const auto& capacity) { return capacity.storage_class_name == storage_class; });
  }
  void ForEachVolumeAttachmentOfNode(std::string_view node_name,
                                     const Visit<api::VolumeAttachment>& visit) const override {
    VisitIf(visit, [&](const auto& attachment) { return attachment.spec.node_name == node_name; });
  }
  const api::VolumeAttributesClass* FindVolumeAttributesClass(
      std::string_view name) const override {
    return FindOf<api::VolumeAttributesClass>("", name);
  }
  const api::ResourceClaim* FindResourceClaim(std::string_view namespace_,
                                              std::string_view name) const override {
    return FindOf<api::ResourceClaim>(namespace_, name);
  }
  void ForEachResourceClaimOfOwner(std::string_view owner_uid,
                                   const Visit<api::ResourceClaim>& visit) const override {
    VisitIf(visit, [&](const auto& claim) {
      std::string_view controller;
      for (const auto& owner : claim.metadata.owner_references) {
        if (owner.controller && controller.empty()) controller = owner.uid;
      }
      return controller == owner_uid;
    });
  }
  const api::ResourceClaimTemplate* FindResourceClaimTemplate(
      std::string_view namespace_, std::string_view name) const override {
    return FindOf<api::ResourceClaimTemplate>(namespace_, name);
  }
  const api::DeviceClass* FindDeviceClass(std::string_view name) const override {
    return FindOf<api::DeviceClass>("", name);
  }
  void ForEachDeviceClass(const Visit<api::DeviceClass>& visit) const override {
    VisitOf("", visit);
  }
  void ForEachResourceSlice(
      const Visit<std::shared_ptr<const api::ResourceSlice>>& visit) const override {
    for (const auto& [name, slice] : slices_) visit(slice);
  }
  void ForEachDeviceTaintRule(const Visit<api::DeviceTaintRule>& visit) const override {
    VisitOf("", visit);
  }
  const api::PodGroup* FindPodGroup(std::string_view namespace_,
                                    std::string_view name) const override {
    return FindOf<api::PodGroup>(namespace_, name);
  }
  void ForEachPodGroup(std::string_view namespace_,
                       const Visit<api::PodGroup>& visit) const override {
    VisitOf(namespace_, visit);
  }
  const api::CompositePodGroup* FindCompositePodGroup(std::string_view namespace_,
                                                      std::string_view name) const override {
    return FindOf<api::CompositePodGroup>(namespace_, name);
  }
  const api::Workload* FindWorkload(std::string_view namespace_,
                                    std::string_view name) const override {
    return FindOf<api::Workload>(namespace_, name);
  }
  void ForEachElasticQuota(const Visit<api::ElasticQuota>& visit) const override {
    VisitIf<api::ElasticQuota>(visit, [](const auto&) { return true; });
  }
  std::shared_ptr<const api::NodeResourceTopology> FindNodeResourceTopology(
      std::string_view node_name) const override {
    const auto found = topologies_.find(node_name);
    return found == topologies_.end() ? nullptr : found->second;
  }
  void ForEachNodeResourceTopology(
      const Visit<std::shared_ptr<const api::NodeResourceTopology>>& visit) const override {
    for (const auto& [name, topology] : topologies_) visit(topology);
  }
  uint64_t generation() const override { return generation_; }
  uint64_t namespaces_generation() const override { return namespaces_generation_; }
  uint64_t disruption_budgets_generation() const override { return disruption_budgets_generation_; }
  uint64_t volumes_generation() const override { return volumes_generation_; }
  uint64_t devices_generation() const override { return devices_generation_; }
  uint64_t pod_groups_generation() const override { return pod_groups_generation_; }
  uint64_t node_topologies_generation() const override { return node_topologies_generation_; }
  bool VolumesChangedSince(uint64_t generation, const Visit<VolumeChange>& visit) const override {
    for (const auto& [number, change] : volume_changes_) {
      if (number > generation) visit(change);
    }
    return true;
  }

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
    if constexpr (std::is_same_v<T, api::PodDisruptionBudget>) {
      ++disruption_budgets_generation_;
    } else if constexpr (kIsOfVolumes<T>) {
      ++volumes_generation_;
    } else if constexpr (kIsOneOf<T, api::DeviceClass, api::ResourceSlice, api::DeviceTaintRule>) {
      ++devices_generation_;
    } else if constexpr (kIsOneOf<T, api::PodGroup, api::CompositePodGroup, api::Workload,
                                  api::CoschedulingPodGroup>) {
      ++pod_groups_generation_;
    } else if constexpr (std::is_same_v<T, api::NodeResourceTopology>) {
      ++node_topologies_generation_;
    } else if constexpr (!kIsOneOf<T, api::ResourceClaim, api::ResourceClaimTemplate>) {
      ++generation_;
    }
    if constexpr (std::is_same_v<T, api::Namespace>) ++namespaces_generation_;
  }
  // The object was or is part of the newest change.
  template <typename T>
  void Note(const T& object) {
    using Kind = VolumeChange::Kind;
    Kind kind = Kind::kOther;
    std::string name = object.metadata.name;
    if constexpr (std::is_same_v<T, api::PersistentVolume>) kind = Kind::kPersistentVolume;
    if constexpr (std::is_same_v<T, api::PersistentVolumeClaim>) {
      kind = Kind::kPersistentVolumeClaim;
    }
    if constexpr (std::is_same_v<T, api::StorageClass>) kind = Kind::kStorageClass;
    if constexpr (std::is_same_v<T, api::CSINode>) kind = Kind::kCsiNode;
    if constexpr (std::is_same_v<T, api::VolumeAttachment>) {
      kind = Kind::kVolumeAttachment;
      name = object.spec.node_name;
    }
    volume_changes_.push_back({volumes_generation_, {kind, object.metadata.namespace_, name}});
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

  template <typename T, typename Wanted>
  void VisitIf(const Visit<T>& visit, Wanted wanted) const {
    for (const T& object : std::get<std::vector<T>>(objects_)) {
      if (wanted(object)) visit(object);
    }
  }

  template <typename T, typename... Kinds>
  static constexpr bool kIsOneOf = (std::is_same_v<T, Kinds> || ...);
  template <typename T>
  static constexpr bool kIsOfVolumes =
      kIsOneOf<T, api::PersistentVolume, api::PersistentVolumeClaim, api::StorageClass,
               api::CSINode, api::CSIDriver, api::CSIStorageCapacity, api::VolumeAttachment,
               api::VolumeAttributesClass>;

  // Each sorted by namespace and name.
  std::tuple<std::vector<api::Namespace>, std::vector<api::Service>,
             std::vector<api::ReplicationController>, std::vector<api::ReplicaSet>,
             std::vector<api::StatefulSet>, std::vector<api::PodDisruptionBudget>,
             std::vector<api::PersistentVolume>, std::vector<api::PersistentVolumeClaim>,
             std::vector<api::StorageClass>, std::vector<api::CSINode>, std::vector<api::CSIDriver>,
             std::vector<api::CSIStorageCapacity>, std::vector<api::VolumeAttachment>,
             std::vector<api::VolumeAttributesClass>, std::vector<api::ResourceClaim>,
             std::vector<api::ResourceClaimTemplate>, std::vector<api::DeviceClass>,
             std::vector<api::ResourceSlice>, std::vector<api::DeviceTaintRule>,
             std::vector<api::PodGroup>, std::vector<api::CompositePodGroup>,
             std::vector<api::Workload>, std::vector<api::CoschedulingPodGroup>,
             std::vector<api::NodeResourceTopology>, std::vector<api::ElasticQuota>>
      objects_;
  std::map<std::string, std::shared_ptr<const api::ResourceSlice>> slices_;
  std::map<std::string, std::shared_ptr<const api::NodeResourceTopology>, std::less<>> topologies_;
  uint64_t generation_ = 0;
  uint64_t namespaces_generation_ = 0;
  uint64_t devices_generation_ = 0;
  uint64_t pod_groups_generation_ = 0;
  uint64_t node_topologies_generation_ = 0;
  uint64_t disruption_budgets_generation_ = 0;
  uint64_t volumes_generation_ = 0;
  std::vector<std::pair<uint64_t, VolumeChange>> volume_changes_;
};

}  // namespace berth::test
