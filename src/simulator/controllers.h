// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "berth/api/persistent_volume.h"
#include "berth/api/persistent_volume_claim.h"
#include "src/base/executor.h"
#include "src/informers/informer_event.h"
#include "src/simulator/memory_api.h"

namespace berth::simulator {

// Does its work on an API server in memory, on the executor's next turn after a change that asks
// for it.
//
// Thread safety: one owner, who runs the executor too.
class Controller {
 public:
  // Both must outlive it.
  Controller(MemoryApi& api, base::Executor& executor, ControllersOf of = ControllersOf::kAll)
      : api_(api), of_(of), executor_(executor) {}
  Controller(const Controller&) = delete;
  Controller& operator=(const Controller&) = delete;

 protected:
  using Names = std::set<std::string, std::less<>>;

  ~Controller() = default;
  bool SeesTo(const api::ObjectMeta& meta) const {
    return of_ == ControllersOf::kAll || IsOfManifest(meta);
  }
  void Wake() {
    if (std::exchange(awake_, true)) return;
    executor_.Post([this] {
      awake_ = false;
      Work();
    });
  }

  MemoryApi& api_;
  const ControllersOf of_;

 private:
  virtual void Work() = 0;

  base::Executor& executor_;
  bool awake_ = false;
};

// What kube-controller-manager and a CSI provisioner do about volumes, over an API server in
// memory, at once and without fail:
//
//   the ephemeral volume controller makes a pod's claims from its volumes' templates;
//   the PV controller gives claims without a class the default one, binds claims of immediate
//     classes, completes the binding of volumes that name a claim, and sets the phases of both;
//   the provisioner makes a volume for each claim of an immediate class that finds none, and for
//     each claim with a selected node (Provision()).
class VolumeControllers final : public Controller {
 public:
  using Controller::Controller;

  // Takes a change of the API in; of every kind, in order.
  void See(const informers::InformerEvent& event);

 private:
  using VolumePtr = std::shared_ptr<const api::PersistentVolume>;
  using ClaimPtr = std::shared_ptr<const api::PersistentVolumeClaim>;

  void SeeVolume(const api::PersistentVolume* before, const api::PersistentVolume* after);
  void Work() override;

  void MakeClaimsOf(const std::string& pod_key);
  void SyncVolume(const std::string& name);
  void SyncClaim(const std::string& key);
  void SyncBoundClaim(const ClaimPtr& claim);
  // The claim with the default class where it has none and there is one.
  ClaimPtr WithDefaultClass(ClaimPtr claim);
  // The volume that the claim is to be bound to; nullptr: there is none.
  VolumePtr FindVolumeFor(const api::PersistentVolumeClaim& claim, bool waits_for_consumer) const;
  void Bind(VolumePtr volume, const ClaimPtr& claim);

  // Keys of what has to be looked at.
  Names due_pods_;
  Names due_volumes_;
  Names due_claims_;
  Names unbound_claims_;
  // Names of volumes: those without a claim by class, the others by their claim's key.
  std::map<std::string, Names, std::less<>> free_volumes_;
  std::map<std::string, Names, std::less<>> volumes_of_;
};

// Makes a volume for the claim, of the size that it asks for, as a CSI driver's provisioner would:
// reachable where the nodes have the labels, named by the driver's topology keys (CSINode), of the
// selected node or, where none is selected, of the first node in order of name that has the driver
// and that the class allows. Without topology keys the class's allowed topologies are its reach.
//
// For a class of an in-tree plugin the driver that stands for it makes a volume of that plugin, in
// the zone of the node, if driver and cluster call that zone by one name.
//
// Where the driver tells of its room, the CSIStorageCapacity that the volume comes from has less of
// it afterwards; without enough the selected node is taken off the claim, so that its pod is
// scheduled again.
//
// nullptr: no volume can be made, or not there.
std::shared_ptr<const api::PersistentVolume> Provision(MemoryApi& api,
                                                       const api::PersistentVolumeClaim& claim);

// What kube-controller-manager does about ResourceClaims, over an API server in memory, at once and
// without fail:
//
//   a pod's claims are made from their templates, and named in status.resourceClaimStatuses;
//   a claim is no longer reserved for a pod that is done or gone; without any reservation left it
//     is deallocated, and deleted if it was made for that pod.
class ClaimController final : public Controller {
 public:
  using Controller::Controller;

  // Takes a change of the API in; of every kind, in order.
  void See(const informers::InformerEvent& event);

 private:
  void SeePod(const api::Pod* before, const api::Pod* after);
  void SeeEndOf(const api::Pod& pod);
  void Work() override;

  void MakeClaimsOf(const std::string& pod_key);
  // The name of the claim made for that entry of the pod's.
  std::string MakeClaim(const api::Pod& pod, const api::PodResourceClaim& entry,
                        const api::ResourceClaimTemplate& from);
  void SyncClaim(const std::string& key);
  bool IsGone(std::string_view pod_namespace, std::string_view name, const std::string& uid) const;

  uint64_t made_ = 0;
  // Keys of what has to be looked at.
  Names due_pods_;
  Names due_claims_;
  // Keys of pods, by that of the template that they wait for.
  std::map<std::string, Names, std::less<>> waiting_;
  // Uids of pods that are done or gone.
  Names gone_;
};

}  // namespace berth::simulator
