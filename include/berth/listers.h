// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "berth/api/device_class.h"
#include "berth/api/meta.h"
#include "berth/api/node_resource_topology.h"
#include "berth/api/persistent_volume.h"
#include "berth/api/persistent_volume_claim.h"
#include "berth/api/plugin_object.h"
#include "berth/api/pod_disruption_budget.h"
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
// Find functions return nullptr when there is no such object. Visits go in order of name. Pointers
// and references stay valid until the scheduling thread takes its next message, so at least to the
// end of the running cycle.
//
// Thread safety: the scheduling thread only.
class Listers {
 public:
  template <typename T>
  using Visit = std::function<void(const T&)>;

  virtual ~Listers() = default;

  virtual const api::Namespace* FindNamespace(std::string_view name) const = 0;
  virtual void ForEachNamespace(const Visit<api::Namespace>& visit) const = 0;

  // The objects of one namespace.
  virtual void ForEachService(std::string_view namespace_,
                              const Visit<api::Service>& visit) const = 0;
  virtual void ForEachPodDisruptionBudget(std::string_view namespace_,
                                          const Visit<api::PodDisruptionBudget>& visit) const = 0;

  virtual const api::ReplicationController* FindReplicationController(
      std::string_view namespace_, std::string_view name) const = 0;
  virtual const api::ReplicaSet* FindReplicaSet(std::string_view namespace_,
                                                std::string_view name) const = 0;
  virtual const api::StatefulSet* FindStatefulSet(std::string_view namespace_,
                                                  std::string_view name) const = 0;

  virtual const api::PersistentVolume* FindPersistentVolume(std::string_view name) const = 0;
  virtual void ForEachPersistentVolume(const Visit<api::PersistentVolume>& visit) const = 0;
  // The volumes whose storage class (StorageClassOf in berth/volumes.h) is `storage_class`.
  virtual void ForEachPersistentVolumeOfClass(std::string_view storage_class,
                                              const Visit<api::PersistentVolume>& visit) const = 0;
  virtual const api::PersistentVolumeClaim* FindPersistentVolumeClaim(
      std::string_view namespace_, std::string_view name) const = 0;
  virtual const api::StorageClass* FindStorageClass(std::string_view name) const = 0;
  virtual const api::CSINode* FindCSINode(std::string_view name) const = 0;
  virtual const api::CSIDriver* FindCSIDriver(std::string_view name) const = 0;
  // Of every namespace, in order of namespace and name.
  virtual void ForEachCSIStorageCapacityOfClass(
      std::string_view storage_class, const Visit<api::CSIStorageCapacity>& visit) const = 0;
  // What is attached to the node, or on its way there.
  virtual void ForEachVolumeAttachmentOfNode(std::string_view node_name,
                                             const Visit<api::VolumeAttachment>& visit) const = 0;
  virtual const api::VolumeAttributesClass* FindVolumeAttributesClass(
      std::string_view name) const = 0;

  virtual const api::ResourceClaim* FindResourceClaim(std::string_view namespace_,
                                                      std::string_view name) const = 0;
  // The claims that the object of this uid owns as their controller, of every namespace, in order
  // of namespace and name. "": those that have no controller.
  virtual void ForEachResourceClaimOfOwner(std::string_view owner_uid,
                                           const Visit<api::ResourceClaim>& visit) const = 0;
  // Templates are known from files only: nothing watches them.
  virtual const api::ResourceClaimTemplate* FindResourceClaimTemplate(
      std::string_view namespace_, std::string_view name) const = 0;
  virtual const api::DeviceClass* FindDeviceClass(std::string_view name) const = 0;
  virtual void ForEachDeviceClass(const Visit<api::DeviceClass>& visit) const = 0;
  virtual void ForEachResourceSlice(
      const Visit<std::shared_ptr<const api::ResourceSlice>>& visit) const = 0;
  // With the gate DRADeviceTaintRules.
  virtual void ForEachDeviceTaintRule(const Visit<api::DeviceTaintRule>& visit) const = 0;

  // With the gate GenericWorkload, and CompositePodGroup.
  virtual const api::PodGroup* FindPodGroup(std::string_view namespace_,
                                            std::string_view name) const = 0;
  virtual void ForEachPodGroup(std::string_view namespace_,
                               const Visit<api::PodGroup>& visit) const = 0;
  virtual const api::CompositePodGroup* FindCompositePodGroup(std::string_view namespace_,
                                                              std::string_view name) const = 0;
  virtual const api::Workload* FindWorkload(std::string_view namespace_,
                                            std::string_view name) const = 0;

  // Where a profile has the plugin CapacityScheduling.
  virtual void ForEachElasticQuota(const Visit<api::ElasticQuota>& visit) const = 0;

  // Where a profile has the plugin NodeResourceTopologyMatch.
  virtual std::shared_ptr<const api::NodeResourceTopology> FindNodeResourceTopology(
      std::string_view node_name) const = 0;
  virtual void ForEachNodeResourceTopology(
      const Visit<std::shared_ptr<const api::NodeResourceTopology>>& visit) const = 0;

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
};

}  // namespace berth
