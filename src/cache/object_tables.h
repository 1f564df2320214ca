// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "berth/api/object.h"
#include "berth/listers.h"
#include "src/cache/volume_change_log.h"

namespace berth::cache {

// The objects that are neither pods nor nodes, by kind, namespace and name.
//
// Thread safety: the scheduling thread.
class ObjectTables : public Listers {
 public:
  // Adds the object, or puts it in place of the version before. Pods, nodes and none are a bug.
  void Set(const api::ObjectPtr& object);
  // Takes out what has this object's kind, namespace and name; nothing happens where there is none.
  void Remove(const api::ObjectPtr& object);

  const api::Namespace* FindNamespace(std::string_view name) const override;
  void ForEachNamespace(const Visit<api::Namespace>& visit) const override;
  void ForEachService(std::string_view namespace_, const Visit<api::Service>& visit) const override;
  void ForEachPodDisruptionBudget(std::string_view namespace_,
                                  const Visit<api::PodDisruptionBudget>& visit) const override;
  const api::ReplicationController* FindReplicationController(std::string_view namespace_,
                                                              std::string_view name) const override;
  const api::ReplicaSet* FindReplicaSet(std::string_view namespace_,
                                        std::string_view name) const override;
  const api::StatefulSet* FindStatefulSet(std::string_view namespace_,
                                          std::string_view name) const override;
  const api::PersistentVolume* FindPersistentVolume(std::string_view name) const override;
  void ForEachPersistentVolume(const Visit<api::PersistentVolume>& visit) const override;
  void ForEachPersistentVolumeOfClass(std::string_view storage_class,
                                      const Visit<api::PersistentVolume>& visit) const override;
  const api::PersistentVolumeClaim* FindPersistentVolumeClaim(std::string_view namespace_,
                                                              std::string_view name) const override;
  const api::StorageClass* FindStorageClass(std::string_view name) const override;
  const api::CSINode* FindCSINode(std::string_view name) const override;
  const api::CSIDriver* FindCSIDriver(std::string_view name) const override;
  void ForEachCSIStorageCapacityOfClass(std::string_view storage_class,
                                        const Visit<api::CSIStorageCapacity>& visit) const override;
  void ForEachVolumeAttachmentOfNode(std::string_view node_name,
                                     const Visit<api::VolumeAttachment>& visit) const override;
  const api::VolumeAttributesClass* FindVolumeAttributesClass(std::string_view name) const override;
  const api::ResourceClaim* FindResourceClaim(std::string_view namespace_,
                                              std::string_view name) const override;
  void ForEachResourceClaimOfOwner(std::string_view owner_uid,
                                   const Visit<api::ResourceClaim>& visit) const override;
  const api::ResourceClaimTemplate* FindResourceClaimTemplate(std::string_view namespace_,
                                                              std::string_view name) const override;
  const api::DeviceClass* FindDeviceClass(std::string_view name) const override;
  void ForEachDeviceClass(const Visit<api::DeviceClass>& visit) const override;
  void ForEachResourceSlice(
      const Visit<std::shared_ptr<const api::ResourceSlice>>& visit) const override;
  void ForEachDeviceTaintRule(const Visit<api::DeviceTaintRule>& visit) const override;
  const api::PodGroup* FindPodGroup(std::string_view namespace_,
                                    std::string_view name) const override;
  void ForEachPodGroup(std::string_view namespace_,
                       const Visit<api::PodGroup>& visit) const override;
  const api::CompositePodGroup* FindCompositePodGroup(std::string_view namespace_,
                                                      std::string_view name) const override;
  const api::Workload* FindWorkload(std::string_view namespace_,
                                    std::string_view name) const override;
  void ForEachElasticQuota(const Visit<api::ElasticQuota>& visit) const override;
  std::shared_ptr<const api::NodeResourceTopology> FindNodeResourceTopology(
      std::string_view node_name) const override;
  void ForEachNodeResourceTopology(
      const Visit<std::shared_ptr<const api::NodeResourceTopology>>& visit) const override;
  const api::PluginObject* FindPluginObject(api::PluginKindId kind, std::string_view namespace_,
                                            std::string_view name) const override;
  void ForEachPluginObject(api::PluginKindId kind, std::optional<std::string_view> namespace_,
                           const Visit<api::PluginObject>& visit) const override;
  uint64_t generation() const override { return generation_; }
  uint64_t namespaces_generation() const override { return namespaces_generation_; }
  uint64_t disruption_budgets_generation() const override { return disruption_budgets_generation_; }
  uint64_t volumes_generation() const override { return volume_changes_.generation(); }
  uint64_t devices_generation() const override { return devices_generation_; }
  uint64_t pod_groups_generation() const override { return pod_groups_generation_; }
  uint64_t node_topologies_generation() const override { return node_topologies_generation_; }
  bool VolumesChangedSince(uint64_t generation, const Visit<VolumeChange>& visit) const override {
    return volume_changes_.Since(generation, visit);
  }

 private:
  template <typename T>
  using ByName = std::map<std::string, std::shared_ptr<const T>, std::less<>>;
  // By namespace, "" for what has none.
  template <typename T>
  using Table = std::map<std::string, ByName<T>, std::less<>>;

  // The objects of a kind that have one value in common, by that value, then namespace and name.
  template <typename T>
  using Index =
      std::map<std::string, std::map<std::pair<std::string, std::string>, std::shared_ptr<const T>>,
               std::less<>>;

  template <typename T>
  const T* Find(std::string_view namespace_, std::string_view name) const;
  template <typename T>
  void ForEach(std::string_view namespace_, const Visit<T>& visit) const;
  // From `before` to `after`; either may be nullptr.
  template <typename T>
  void CountChange(const T* before, const T* after);
  // Keeps the index of T, if it has one, in step with a change from `before` to `after`; either
  // may be nullptr.
  template <typename T>
  void Reindex(const std::shared_ptr<const T>& before, const std::shared_ptr<const T>& after);
  template <typename T>
  void ForEachIn(std::string_view value, const Visit<T>& visit) const;

  std::tuple<Table<api::Namespace>, Table<api::Service>, Table<api::ReplicationController>,
             Table<api::ReplicaSet>, Table<api::StatefulSet>, Table<api::PodDisruptionBudget>,
             Table<api::PersistentVolume>, Table<api::PersistentVolumeClaim>,
             Table<api::StorageClass>, Table<api::CSINode>, Table<api::CSIDriver>,
             Table<api::CSIStorageCapacity>, Table<api::VolumeAttachment>,
             Table<api::VolumeAttributesClass>, Table<api::ResourceClaim>,
             Table<api::ResourceClaimTemplate>, Table<api::DeviceClass>, Table<api::ResourceSlice>,
             Table<api::DeviceTaintRule>, Table<api::PodGroup>, Table<api::CompositePodGroup>,
             Table<api::Workload>, Table<api::CoschedulingPodGroup>,
             Table<api::NodeResourceTopology>, Table<api::ElasticQuota>>
      tables_;
  std::map<api::PluginKindId, Table<api::PluginObject>> plugin_objects_;
  // Volumes by class, capacities by class, attachments by node, device claims by owner.
  std::tuple<Index<api::PersistentVolume>, Index<api::CSIStorageCapacity>,
             Index<api::VolumeAttachment>, Index<api::ResourceClaim>>
      indices_;
  uint64_t generation_ = 0;
  uint64_t namespaces_generation_ = 0;
  uint64_t disruption_budgets_generation_ = 0;
  uint64_t devices_generation_ = 0;
  uint64_t pod_groups_generation_ = 0;
  uint64_t node_topologies_generation_ = 0;
  VolumeChangeLog volume_changes_;
};

}  // namespace berth::cache
