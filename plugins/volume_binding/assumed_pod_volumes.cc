// SPDX-License-Identifier: Apache-2.0
#include "plugins/volume_binding/assumed_pod_volumes.h"

#include <algorithm>
#include <utility>

#include "berth/volumes.h"
#include "plugins/shared/csi_migration.h"
#include "plugins/volume_binding/volume_affinity.h"

namespace berth::plugins {
namespace {

void SetAnnotation(api::ObjectMeta& meta, std::string_view key, std::string_view value) {
  const auto at = std::ranges::lower_bound(
      meta.annotations, key, {}, [](const auto& entry) { return std::string_view(entry.first); });
  if (at != meta.annotations.end() && at->first == key) {
    at->second = value;
  } else {
    meta.annotations.emplace(at, key, value);
  }
}

bool HasAnnotation(const api::ObjectMeta& meta, std::string_view key) {
  return api::Find(meta.annotations, key) != nullptr;
}

bool RefersTo(const std::optional<api::ObjectReference>& reference, const api::ObjectMeta& claim) {
  return reference && reference->name == claim.name && reference->namespace_ == claim.namespace_ &&
         reference->uid == claim.uid;
}

// Whether binding the volume to the claim changes it. One that its owner promised to the claim gets
// no annotation: the PV controller would take it for its own binding.
bool NeedsBinding(const api::PersistentVolume& volume, const api::PersistentVolumeClaim& claim) {
  return !RefersTo(volume.spec.claim_ref, claim.metadata) ||
         (!IsPromisedTo(volume, claim) &&
          !HasAnnotation(volume.metadata, kBoundByControllerAnnotation));
}

api::PersistentVolume Bound(const api::PersistentVolume& volume,
                            const api::PersistentVolumeClaim& claim) {
  api::PersistentVolume bound = volume;
  const bool promised = IsPromisedTo(volume, claim);
  if (!RefersTo(volume.spec.claim_ref, claim.metadata)) {
    bound.spec.claim_ref = {.kind = "PersistentVolumeClaim",
                            .namespace_ = claim.metadata.namespace_,
                            .name = claim.metadata.name,
                            .uid = claim.metadata.uid,
                            .api_version = "v1",
                            .resource_version = claim.metadata.resource_version};
  }
  if (!promised && !HasAnnotation(volume.metadata, kBoundByControllerAnnotation)) {
    SetAnnotation(bound.metadata, kBoundByControllerAnnotation, "yes");
  }
  return bound;
}

bool NeedsNode(const api::PersistentVolumeClaim& claim, std::string_view node_name) {
  const std::string* selected = api::Find(claim.metadata.annotations, kSelectedNodeAnnotation);
  return selected == nullptr || *selected != node_name;
}

Result<void> AssumeBinding(const NodeVolumes::Binding& found, Handle& handle,
                           AssumedPodVolumes& volumes) {
  const api::PersistentVolume& volume = *found.volume;
  const api::ObjectMeta& claim = found.claim->metadata;
  const api::PersistentVolume* shown =
      handle.listers().Find<api::PersistentVolume>(volume.metadata.name);
  AssumedPodVolumes::Binding binding{
      .volume = std::make_shared<const api::PersistentVolume>(Bound(volume, *found.claim)),
      .claim_namespace = claim.namespace_,
      .claim_name = claim.name,
      .to_write = shown == nullptr || NeedsBinding(*shown, *found.claim)};
  if (NeedsBinding(volume, *found.claim)) {
    if (auto assumed = handle.assumed_volumes().Assume(binding.volume); !assumed) return assumed;
  }
  volumes.bindings.push_back(std::move(binding));
  return {};
}

Result<void> AssumeProvision(const api::PersistentVolumeClaim& claim, Handle& handle,
                             AssumedPodVolumes& volumes) {
  api::PersistentVolumeClaim selected = claim;
  SetAnnotation(selected.metadata, kSelectedNodeAnnotation, volumes.node_name);
  const api::PersistentVolumeClaim* shown = handle.listers().Find<api::PersistentVolumeClaim>(
      claim.metadata.namespace_, claim.metadata.name);
  AssumedPodVolumes::Provision provision{
      .claim = std::make_shared<const api::PersistentVolumeClaim>(std::move(selected)),
      .to_write = shown == nullptr || NeedsNode(*shown, volumes.node_name)};
  if (NeedsNode(claim, volumes.node_name)) {
    if (auto assumed = handle.assumed_volumes().Assume(provision.claim); !assumed) return assumed;
  }
  volumes.provisions.push_back(std::move(provision));
  return {};
}

AsyncStatus Failed(std::string why) { return {Code::kError, "binding volumes: " + std::move(why)}; }

// Whether the API server has still to show what was written. Writes name the version that they
// change, so that the version after it is theirs.
bool NotShownYet(bool to_write, const api::ObjectMeta& written, const api::ObjectMeta& shown) {
  return to_write && written.resource_version == shown.resource_version;
}

// The node that the pod goes to, with what is known of its CSI drivers.
struct TargetNode {
  const api::Node& node;
  const api::CSINode* csi_node = nullptr;
};

// Why the volume cannot be reached from the node; nullopt: it can. The error of a translation
// that fails follows `translation`.
std::optional<std::string> FindAffinityProblem(const api::PersistentVolume& volume,
                                               const TargetNode& target,
                                               std::string_view translation = "") {
  std::optional<api::VolumeNodeAffinity> affinity = volume.spec.node_affinity;
  const std::string_view plugin = MigratedPluginOf(volume);
  if (!plugin.empty() && IsMigratedOn(target.csi_node, plugin)) {
    auto migrated = MigratedAffinity(volume);
    if (!migrated) return std::string(translation) + migrated.error().message;
    affinity = *std::move(migrated);
  }
  if (VolumeAffinity(affinity).Matches(target.node)) return std::nullopt;
  return "pv " + Quote(volume.metadata.name) + " node affinity doesn't match node " +
         Quote(target.node.metadata.name) + ": no matching NodeSelectorTerms";
}

std::optional<AsyncStatus> CheckBinding(const AssumedPodVolumes::Binding& binding,
                                        const TargetNode& target, const Listers& listers) {
  const std::string& name = binding.volume->metadata.name;
  const auto* volume = listers.Find<api::PersistentVolume>(name);
  if (volume == nullptr) {
    return Failed("failed to check binding: persistentvolumes " + Quote(name) + " not found");
  }
  const auto* claim =
      listers.Find<api::PersistentVolumeClaim>(binding.claim_namespace, binding.claim_name);
  if (claim == nullptr) {
    return Failed("failed to check binding: persistentvolumeclaims " +
                  Quote(binding.claim_namespace + "/" + binding.claim_name) + " not found");
  }
  if (NotShownYet(binding.to_write, binding.volume->metadata, volume->metadata)) {
    return std::nullopt;
  }
  if (auto problem = FindAffinityProblem(*volume, target, "failed to translate pv to csi: ")) {
    return Failed(*std::move(problem));
  }
  if (!volume->spec.claim_ref || volume->spec.claim_ref->uid.empty()) {
    return Failed("ClaimRef got reset for pv " + Quote(name));
  }
  if (!IsFullyBound(*claim)) return std::nullopt;
  // kube-scheduler does not look; the pod could be bound where that other volume is not.
  if (claim->spec.volume_name != name) {
    return Failed("claim " + Quote(claim->metadata.Key()) + " was bound to pv " +
                  Quote(claim->spec.volume_name) + " instead of " + Quote(name));
  }
  return AsyncStatus();
}

std::optional<AsyncStatus> CheckProvision(const AssumedPodVolumes::Provision& provision,
                                          std::string_view node_name, const TargetNode& target,
                                          const Listers& listers) {
  const api::ObjectMeta& wanted = provision.claim->metadata;
  const auto* claim = listers.Find<api::PersistentVolumeClaim>(wanted.namespace_, wanted.name);
  if (claim == nullptr) {
    return Failed("failed to check provisioning pvc: persistentvolumeclaims " +
                  Quote(wanted.Key()) + " not found");
  }
  if (NotShownYet(provision.to_write, wanted, claim->metadata)) return std::nullopt;
  if (claim->metadata.annotations.empty()) {
    return Failed("selectedNode annotation reset for PVC " + Quote(wanted.name));
  }
  // A provisioner that fails takes the annotation away to have the pod scheduled again.
  if (NeedsNode(*claim, node_name)) {
    return Failed("provisioning failed for PVC " + Quote(wanted.name));
  }
  if (!claim->spec.volume_name.empty()) {
    // The volume may be on its way to us.
    const auto* volume = listers.Find<api::PersistentVolume>(claim->spec.volume_name);
    if (volume == nullptr) return std::nullopt;
    if (auto problem = FindAffinityProblem(*volume, target)) return Failed(*std::move(problem));
  }
  if (!IsFullyBound(*claim)) return std::nullopt;
  return AsyncStatus();
}

}  // namespace

Result<std::shared_ptr<AssumedPodVolumes>> AssumePodVolumes(const NodeVolumes& found,
                                                            std::string_view node_name,
                                                            Handle& handle) {
  auto volumes = std::make_shared<AssumedPodVolumes>();
  volumes->node_name = node_name;
  for (const NodeVolumes::Binding& binding : found.bindings) {
    if (auto assumed = AssumeBinding(binding, handle, *volumes); !assumed) {
      RevertAssumed(*volumes, handle.assumed_volumes());
      return Fail(assumed.error());
    }
  }
  for (const NodeVolumes::Provision& provision : found.provisions) {
    if (auto assumed = AssumeProvision(*provision.claim, handle, *volumes); !assumed) {
      RevertAssumed(*volumes, handle.assumed_volumes());
      return Fail(assumed.error());
    }
  }
  return volumes;
}

std::shared_ptr<AssumedPodVolumes> UnassumedPodVolumes(const NodeVolumes& found,
                                                       std::string_view node_name) {
  auto volumes = std::make_shared<AssumedPodVolumes>();
  volumes->node_name = node_name;
  volumes->assumed = false;
  for (const NodeVolumes::Binding& binding : found.bindings) {
    volumes->bindings.push_back(
        {.volume = std::make_shared<const api::PersistentVolume>(*binding.volume),
         .claim_namespace = binding.claim->metadata.namespace_,
         .claim_name = binding.claim->metadata.name});
  }
  for (const NodeVolumes::Provision& provision : found.provisions) {
    volumes->provisions.push_back(
        {.claim = std::make_shared<const api::PersistentVolumeClaim>(*provision.claim)});
  }
  return volumes;
}

void RevertAssumed(const AssumedPodVolumes& volumes, AssumedVolumes& assumed) {
  for (const auto& binding : volumes.bindings) {
    assumed.Restore(*binding.volume);
  }
  for (const auto& provision : volumes.provisions) {
    assumed.Restore(*provision.claim);
  }
}

std::optional<AsyncStatus> CheckBindings(const AssumedPodVolumes& volumes, const api::Pod& pod,
                                         const Handle& handle) {
  const Snapshot& snapshot = handle.snapshot();
  const NodeRow row = snapshot.FindNode(volumes.node_name);
  if (row == kNoRow) {
    return Failed("failed to get node " + Quote(volumes.node_name) + ": node " +
                  Quote(volumes.node_name) + " not found");
  }
  const Listers& listers = handle.listers();
  const TargetNode target{snapshot.node(row), listers.Find<api::CSINode>(volumes.node_name)};
  const auto known = handle.FindPendingPod(pod.metadata.namespace_, pod.metadata.name);
  if (known == nullptr || known->metadata.uid != pod.metadata.uid) {
    return Failed("pod does not exist any more: pod " + Quote(pod.metadata.name) + " not found");
  }
  for (const auto& binding : volumes.bindings) {
    auto verdict = CheckBinding(binding, target, listers);
    if (!verdict || !verdict->ok()) return verdict;
  }
  for (const auto& provision : volumes.provisions) {
    auto verdict = CheckProvision(provision, volumes.node_name, target, listers);
    if (!verdict || !verdict->ok()) return verdict;
  }
  return AsyncStatus();
}

}  // namespace berth::plugins
