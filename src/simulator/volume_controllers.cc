// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

#include "berth/api/storage.h"
#include "berth/label_selector.h"
#include "berth/volumes.h"
#include "src/simulator/controllers.h"

namespace berth::simulator {
namespace {

using informers::Kind;

constexpr std::string_view kDefaultClassAnnotations[] = {
    "storageclass.kubernetes.io/is-default-class",
    "storageclass.beta.kubernetes.io/is-default-class"};
constexpr std::string_view kYes = "yes";

std::string ClaimKey(const api::ObjectReference& claim) {
  return api::NamespacedKey(claim.namespace_, claim.name);
}

bool IsDefault(const api::StorageClass& storage_class) {
  return std::ranges::any_of(kDefaultClassAnnotations, [&](std::string_view key) {
    const std::string* value = api::Find(storage_class.metadata.annotations, key);
    return value != nullptr && *value == "true";
  });
}

bool WaitsForConsumer(const MemoryApi& api, const api::PersistentVolumeClaim& claim) {
  const auto storage_class =
      FindIn<api::StorageClass>(api, Kind::kStorageClass, StorageClassOf(claim));
  return storage_class != nullptr &&
         storage_class->volume_binding_mode == api::kBindWaitForFirstConsumer;
}

}  // namespace

void VolumeControllers::See(const informers::InformerEvent& event) {
  const api::ObjectPtr& object = std::holds_alternative<std::monostate>(event.new_object)
                                     ? event.old_object
                                     : event.new_object;
  if (const auto* pod = api::As<api::Pod>(event.new_object)) {
    const bool has_ephemeral = std::ranges::any_of(
        pod->spec.volumes, [](const api::Volume& volume) { return volume.ephemeral.has_value(); });
    if (has_ephemeral) due_pods_.insert(pod->metadata.Key());
  } else if (const auto* claim = api::As<api::PersistentVolumeClaim>(object)) {
    due_claims_.insert(claim->metadata.Key());
    // A volume may have lost its claim.
    if (event.type == informers::EventType::kDeleted) due_volumes_.insert(claim->spec.volume_name);
  } else if (api::As<api::PersistentVolume>(object) != nullptr) {
    SeeVolume(api::As<api::PersistentVolume>(event.old_object),
              api::As<api::PersistentVolume>(event.new_object));
  } else if (api::As<api::StorageClass>(object) != nullptr) {
    due_claims_.insert(unbound_claims_.begin(), unbound_claims_.end());
  }
  if (!due_pods_.empty() || !due_volumes_.empty() || !due_claims_.empty()) Wake();
}

void VolumeControllers::SeeVolume(const api::PersistentVolume* before,
                                  const api::PersistentVolume* after) {
  const auto names_with = [this](const api::PersistentVolume& volume) -> Names& {
    return volume.spec.claim_ref ? volumes_of_[ClaimKey(*volume.spec.claim_ref)]
                                 : free_volumes_[std::string(StorageClassOf(volume))];
  };
  if (before != nullptr) {
    names_with(*before).erase(before->metadata.name);
    if (before->spec.claim_ref) due_claims_.insert(ClaimKey(*before->spec.claim_ref));
  }
  if (after == nullptr) return;
  names_with(*after).insert(after->metadata.name);
  due_volumes_.insert(after->metadata.name);
  if (after->spec.claim_ref) {
    due_claims_.insert(ClaimKey(*after->spec.claim_ref));
  } else {
    due_claims_.insert(unbound_claims_.begin(), unbound_claims_.end());
  }
}

void VolumeControllers::Work() {
  for (const std::string& key : std::exchange(due_pods_, {})) MakeClaimsOf(key);
  for (const std::string& name : std::exchange(due_volumes_, {})) SyncVolume(name);
  for (const std::string& key : std::exchange(due_claims_, {})) SyncClaim(key);
}

void VolumeControllers::MakeClaimsOf(const std::string& pod_key) {
  const auto pod = api_.FindPod(pod_key);
  if (pod == nullptr || pod->metadata.deletion_timestamp || !SeesTo(pod->metadata)) return;
  for (const api::Volume& volume : pod->spec.volumes) {
    if (!volume.ephemeral || !volume.ephemeral->volume_claim_template) continue;
    const api::PersistentVolumeClaimTemplate& from = *volume.ephemeral->volume_claim_template;
    auto claim = std::make_shared<api::PersistentVolumeClaim>();
    claim->metadata.labels = from.metadata.labels;
    claim->metadata.annotations = from.metadata.annotations;
    claim->metadata.namespace_ = pod->metadata.namespace_;
    claim->metadata.name = *ClaimNameOf(*pod, volume);
    claim->metadata.uid = "PersistentVolumeClaim/" + claim->metadata.Key();
    claim->metadata.owner_references = {
        {"v1", "Pod", pod->metadata.name, pod->metadata.uid, /*controller=*/true}};
    claim->spec = from.spec;
    claim->status.phase = api::kClaimPending;
    const auto known = api_.Find(Kind::kPersistentVolumeClaim, claim->metadata.Key());
    if (!std::holds_alternative<std::monostate>(known)) continue;
    api_.Apply(std::shared_ptr<const api::PersistentVolumeClaim>(std::move(claim)));
  }
}

void VolumeControllers::SyncVolume(const std::string& name) {
  const auto volume = FindIn<api::PersistentVolume>(api_, Kind::kPersistentVolume, name);
  if (volume == nullptr || !SeesTo(volume->metadata)) return;
  std::string phase = volume->status.phase;
  // A manifest with a phase is a volume of some cluster, where a controller has seen it.
  if (of_ == ControllersOf::kManifests && !phase.empty()) return;
  const auto& reference = volume->spec.claim_ref;
  if (!reference || reference->uid.empty()) {
    // Free, or promised; what was released stays so.
    if (phase != api::kVolumeReleased) phase = api::kVolumeAvailable;
  } else {
    const auto claim = FindIn<api::PersistentVolumeClaim>(api_, Kind::kPersistentVolumeClaim,
                                                          ClaimKey(*reference));
    if ((claim == nullptr || claim->metadata.uid != reference->uid) && phase == api::kVolumeBound) {
      if (volume->spec.persistent_volume_reclaim_policy == "Delete") {
        api_.Delete(Kind::kPersistentVolume, name);
        return;
      }
      phase = api::kVolumeReleased;
    }
  }
  if (phase == volume->status.phase) return;
  auto synced = std::make_shared<api::PersistentVolume>(*volume);
  synced->status.phase = std::move(phase);
  api_.Apply(VolumePtr(std::move(synced)));
}

void VolumeControllers::SyncClaim(const std::string& key) {
  auto claim = FindIn<api::PersistentVolumeClaim>(api_, Kind::kPersistentVolumeClaim, key);
  unbound_claims_.erase(key);
  if (claim == nullptr || claim->metadata.deletion_timestamp || !SeesTo(claim->metadata)) return;
  if (api::Find(claim->metadata.annotations, kBindCompletedAnnotation) != nullptr) {
    SyncBoundClaim(claim);
    return;
  }
  unbound_claims_.insert(key);
  claim = WithDefaultClass(std::move(claim));
  const std::string& wanted = claim->spec.volume_name;
  VolumePtr volume;
  if (!wanted.empty()) {
    volume = FindIn<api::PersistentVolume>(api_, Kind::kPersistentVolume, wanted);
    const bool free = volume != nullptr && (volume->spec.claim_ref ? IsPromisedTo(*volume, *claim)
                                                                   : MayServe(*volume, *claim) &&
                                                                         HasModes(*volume, *claim));
    if (!free) return;
  } else {
    // With a selected node a volume is made there; one that is free would be anywhere.
    const bool waits = WaitsForConsumer(api_, *claim);
    const bool has_node =
        api::Find(claim->metadata.annotations, kSelectedNodeAnnotation) != nullptr;
    volume = FindVolumeFor(*claim, waits);
    if (volume == nullptr && (!waits || has_node)) volume = Provision(api_, *claim);
  }
  if (volume != nullptr) Bind(std::move(volume), claim);
}

void VolumeControllers::SyncBoundClaim(const ClaimPtr& claim) {
  const auto volume =
      FindIn<api::PersistentVolume>(api_, Kind::kPersistentVolume, claim->spec.volume_name);
  // A volume that forgot its claim gets it again.
  if (volume != nullptr && !volume->spec.claim_ref) return Bind(volume, claim);
  const bool lost = volume == nullptr || !IsPromisedTo(*volume, *claim);
  if (!lost || claim->status.phase == api::kClaimLost) return;
  auto synced = std::make_shared<api::PersistentVolumeClaim>(*claim);
  synced->status = {};
  synced->status.phase = api::kClaimLost;
  api_.Apply(ClaimPtr(std::move(synced)));
}

VolumeControllers::ClaimPtr VolumeControllers::WithDefaultClass(ClaimPtr claim) {
  if (claim->spec.storage_class_name ||
      api::Find(claim->metadata.annotations, kStorageClassAnnotation) != nullptr) {
    return claim;
  }
  std::shared_ptr<const api::StorageClass> newest;
  api_.ForEach(Kind::kStorageClass, [&](const api::ObjectPtr& object) {
    const auto& storage_class = std::get<std::shared_ptr<const api::StorageClass>>(object);
    // By name where both are of one age.
    if (IsDefault(*storage_class) &&
        (newest == nullptr ||
         newest->metadata.creation_timestamp < storage_class->metadata.creation_timestamp)) {
      newest = storage_class;
    }
  });
  if (newest == nullptr) return claim;
  auto classed = std::make_shared<api::PersistentVolumeClaim>(*claim);
  classed->spec.storage_class_name = newest->metadata.name;
  api_.Apply(ClaimPtr(std::move(classed)));
  return FindIn<api::PersistentVolumeClaim>(api_, Kind::kPersistentVolumeClaim,
                                            claim->metadata.Key());
}

VolumeControllers::VolumePtr VolumeControllers::FindVolumeFor(
    const api::PersistentVolumeClaim& claim, bool waits_for_consumer) const {
  const auto find = [this](const std::string& name) {
    return FindIn<api::PersistentVolume>(api_, Kind::kPersistentVolume, name);
  };
  if (const auto promised = volumes_of_.find(claim.metadata.Key()); promised != volumes_of_.end()) {
    for (const std::string& name : promised->second) {
      VolumePtr volume = find(name);
      if (volume != nullptr && IsPromisedTo(*volume, claim) && MayServe(*volume, claim))
        return volume;
    }
  }
  const auto free = free_volumes_.find(StorageClassOf(claim));
  if (waits_for_consumer || free == free_volumes_.end()) return nullptr;
  std::optional<LabelSelectorMatcher> selector;
  if (claim.spec.selector) {
    auto made = LabelSelectorMatcher::Make(claim.spec.selector);
    if (!made) return nullptr;
    selector = *std::move(made);
  }
  // The fewest access modes, then the smallest, then the first by name.
  VolumePtr best;
  const auto rank = [](const api::PersistentVolume& volume) {
    return std::tuple(volume.spec.access_modes.size(), StorageIn(volume.spec.capacity));
  };
  for (const std::string& name : free->second) {
    VolumePtr volume = find(name);
    if (volume == nullptr || volume->status.phase != api::kVolumeAvailable) continue;
    if (!MayServe(*volume, claim) || !HasModes(*volume, claim)) continue;
    if (selector && !selector->Matches(volume->metadata.labels)) continue;
    if (best == nullptr || rank(*volume) < rank(*best)) best = std::move(volume);
  }
  return best;
}

void VolumeControllers::Bind(VolumePtr volume, const ClaimPtr& claim) {
  auto bound = std::make_shared<api::PersistentVolume>(*volume);
  if (!bound->spec.claim_ref) {
    api::Put(kBoundByControllerAnnotation, kYes, bound->metadata.annotations);
  }
  bound->spec.claim_ref = {"PersistentVolumeClaim",
                           claim->metadata.namespace_,
                           claim->metadata.name,
                           claim->metadata.uid,
                           "v1",
                           claim->metadata.resource_version};
  bound->status.phase = api::kVolumeBound;
  auto taken = std::make_shared<api::PersistentVolumeClaim>(*claim);
  if (taken->spec.volume_name.empty()) {
    api::Put(kBoundByControllerAnnotation, kYes, taken->metadata.annotations);
    taken->spec.volume_name = bound->metadata.name;
  }
  api::Put(kBindCompletedAnnotation, kYes, taken->metadata.annotations);
  taken->status.phase = api::kClaimBound;
  taken->status.access_modes = bound->spec.access_modes;
  taken->status.capacity = bound->spec.capacity;
  taken->status.current_volume_attributes_class_name = bound->spec.volume_attributes_class_name;
  unbound_claims_.erase(taken->metadata.Key());
  api_.Apply(VolumePtr(std::move(bound)));
  api_.Apply(ClaimPtr(std::move(taken)));
}

}  // namespace berth::simulator
