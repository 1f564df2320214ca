// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "berth/api/meta.h"
#include "berth/api/node_resource_topology.h"
#include "berth/api/persistent_volume.h"
#include "berth/api/persistent_volume_claim.h"
#include "berth/api/plugin_object.h"
#include "berth/api/resource_claim.h"
#include "berth/api/resource_slice.h"
#include "berth/api/scheduling.h"
#include "berth/api/storage.h"
#include "berth/api/workloads.h"

namespace berth {

// A change of an object of volumes.
struct VolumeChange {
  enum class Kind : uint8_t {
    kPersistentVolume,
    kPersistentVolumeClaim,
    kStorageClass,
    kCsiNode,
    kVolumeAttachment,
    kOther,
  };

  Kind kind = Kind::kOther;
  std::string namespace_ = {};
  std::string name = {};  // of a VolumeAttachment that of its node
};

// What the API server has shown of the kinds that are neither pods nor nodes.
//
// Find functions return nullptr when there is no such object. Visits go in order of namespace and
// name; visit() takes a const T& or a const std::shared_ptr<const T>&. Pointers and references stay
// valid until the scheduling thread takes its next message, so at least to the end of the running
// cycle.
//
// Thread safety: the scheduling thread only.
class Listers {
 public:
  template <typename T>
  using Visit = std::function<void(const T&)>;

  virtual ~Listers() = default;

  template <typename T>
  const T* Find(std::string_view namespace_, std::string_view name) const {
    const auto* entry = FindEntry<T>(namespace_, name);
    return entry == nullptr ? nullptr : entry->get();
  }
  // Of a kind without namespaces.
  template <typename T>
  const T* Find(std::string_view name) const {
    return Find<T>("", name);
  }
  template <typename T>
  std::shared_ptr<const T> FindShared(std::string_view name) const {
    const auto* entry = FindEntry<T>("", name);
    return entry == nullptr ? nullptr : *entry;
  }

  template <typename T>
  void ForEach(auto&& visit) const {
    for (const auto& [namespace_, objects] : std::get<Table<T>>(tables_)) {
      for (const auto& [name, object] : objects) Call<T>(visit, object);
    }
  }
  // The objects of one namespace.
  template <typename T>
  void ForEach(std::string_view namespace_, auto&& visit) const {
    const auto& table = std::get<Table<T>>(tables_);
    const auto row = table.find(namespace_);
    if (row == table.end()) return;
    for (const auto& [name, object] : row->second) Call<T>(visit, object);
  }
  // PersistentVolumes whose storage class (StorageClassOf in berth/volumes.h) is `value`,
  // CSIStorageCapacities of that class, VolumeAttachments of that node, and ResourceClaims whose
  // controller has that uid, "" for those that have none.
  template <typename T>
  void ForEachBy(std::string_view value, auto&& visit) const {
    const auto& index = std::get<Index<T>>(indices_);
    const auto row = index.find(value);
    if (row == index.end()) return;
    for (const auto& [key, object] : row->second) Call<T>(visit, object);
  }

  // Of a kind that a profile's plugin asks for; nothing counts its changes, so a Filter or Score
  // that reads it must not declare its inputs.
  virtual const api::PluginObject* FindPluginObject(api::PluginKindId kind,
                                                    std::string_view namespace_,
                                                    std::string_view name) const = 0;
  // In order of namespace and name. `namespace_`: nullopt for all.
  virtual void ForEachPluginObject(api::PluginKindId kind,
                                   std::optional<std::string_view> namespace_,
                                   const Visit<api::PluginObject>& visit) const = 0;

  // Grows when one of these objects comes, goes or changes, those apart that have a generation of
  // their own, ResourceClaims (ClaimTracker has theirs), ResourceClaimTemplates and PluginObjects:
  // what was
  // derived from them is good for as long as the number stays. A change is one of labels, owners,
  // deletion or what the struct holds besides metadata; of a Namespace one of annotations, too.
  // Other versions (most of them writes of a status that is not decoded) are shown and not counted.
  virtual uint64_t generation() const = 0;
  // The same for namespaces alone.
  virtual uint64_t namespaces_generation() const = 0;
  // The same for PodDisruptionBudgets alone. Their status moves with every pod that becomes ready,
  // and what keeps verdicts does not look here: a Filter or Score that reads them must not declare
  // its inputs.
  virtual uint64_t disruption_budgets_generation() const = 0;
  // The same for PersistentVolumes, PersistentVolumeClaims, StorageClasses, CSINodes, CSIDrivers,
  // CSIStorageCapacities, VolumeAttachments and VolumeAttributesClasses alone. A change of their
  // annotations counts, too; of a status only what the struct holds.
  virtual uint64_t volumes_generation() const = 0;
  // The same for DeviceClasses, ResourceSlices and DeviceTaintRules alone. Of their
  // metadata only the uid counts.
  virtual uint64_t devices_generation() const = 0;
  // The same for PodGroups, CompositePodGroups and Workloads alone, whose statuses do not count.
  // What keeps verdicts does not look here; what keeps victims does.
  virtual uint64_t pod_groups_generation() const = 0;
  // The same for NodeResourceTopologies alone, whose annotations count, too. What keeps verdicts
  // does not look here.
  virtual uint64_t node_topologies_generation() const = 0;
  // Calls visit(change) for what volumes_generation() has counted after `generation`, in any order.
  // False: it is not known any more, and anything may have changed.
  virtual bool VolumesChangedSince(uint64_t generation, const Visit<VolumeChange>& visit) const = 0;

 protected:
  // By namespace, "" for what has none, and name.
  template <typename T>
  using Table = std::map<std::string, std::map<std::string, std::shared_ptr<const T>, std::less<>>,
                         std::less<>>;
  // The objects of a kind that have one value in common, by that value, then namespace and name.
  template <typename T>
  using Index =
      std::map<std::string, std::map<std::pair<std::string, std::string>, std::shared_ptr<const T>>,
               std::less<>>;

  std::tuple<
      Table<api::Namespace>, Table<api::Service>, Table<api::ReplicationController>,
      Table<api::ReplicaSet>, Table<api::StatefulSet>, Table<api::PodDisruptionBudget>,
      Table<api::PersistentVolume>, Table<api::PersistentVolumeClaim>, Table<api::StorageClass>,
      Table<api::CSINode>, Table<api::CSIDriver>, Table<api::CSIStorageCapacity>,
      Table<api::VolumeAttachment>, Table<api::VolumeAttributesClass>, Table<api::ResourceClaim>,
      // Known from files only: nothing watches them.
      Table<api::ResourceClaimTemplate>, Table<api::DeviceClass>, Table<api::ResourceSlice>,
      // With the gate DRADeviceTaintRules.
      Table<api::DeviceTaintRule>,
      // With the gate GenericWorkload, and CompositePodGroup.
      Table<api::PodGroup>, Table<api::CompositePodGroup>, Table<api::Workload>,
      // Where a profile has the plugin Coscheduling, NodeResourceTopologyMatch, CapacityScheduling.
      Table<api::CoschedulingPodGroup>, Table<api::NodeResourceTopology>, Table<api::ElasticQuota>>
      tables_;
  std::tuple<Index<api::PersistentVolume>, Index<api::CSIStorageCapacity>,
             Index<api::VolumeAttachment>, Index<api::ResourceClaim>>
      indices_;

 private:
  template <typename T>
  const std::shared_ptr<const T>* FindEntry(std::string_view namespace_,
                                            std::string_view name) const {
    const auto& table = std::get<Table<T>>(tables_);
    const auto row = table.find(namespace_);
    if (row == table.end()) return nullptr;
    const auto object = row->second.find(name);
    return object == row->second.end() ? nullptr : &object->second;
  }

  template <typename T, typename Visitor>
  static void Call(Visitor& visit, const std::shared_ptr<const T>& object) {
    if constexpr (std::is_invocable_v<Visitor&, const T&>) {
      visit(*object);
    } else {
      visit(object);
    }
  }
};

}  // namespace berth
