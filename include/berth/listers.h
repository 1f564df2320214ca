// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "berth/api/meta.h"
#include "berth/api/persistent_volume.h"
#include "berth/api/persistent_volume_claim.h"
#include "berth/api/pod_disruption_budget.h"
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

  // Grows when one of these objects comes, goes or changes, PodDisruptionBudgets and the kinds of
  // volumes_generation() apart: what was derived from them is good for as long as the number stays.
  // A change is one of labels, owners, deletion or what the struct holds besides metadata; of a
  // Namespace one of annotations, too. Other versions (most of them writes of a status that is not
  // decoded) are shown and not counted.
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
  // Calls visit(change) for what volumes_generation() has counted after `generation`, in any order.
  // False: it is not known any more, and anything may have changed.
  virtual bool VolumesChangedSince(uint64_t generation, const Visit<VolumeChange>& visit) const = 0;
};

}  // namespace berth
