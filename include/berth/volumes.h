// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "berth/api/persistent_volume.h"
#include "berth/api/persistent_volume_claim.h"
#include "berth/api/pod.h"

// What the annotations and fields of volumes and claims mean to all who read them.
//
// Thread safety: any thread.
namespace berth {

// The class of a volume or a claim before there was a field for it; it still goes first.
inline constexpr std::string_view kStorageClassAnnotation =
    "volume.beta.kubernetes.io/storage-class";

// The name of the class, "" where there is none. Views point into the object.
std::string_view StorageClassOf(const api::PersistentVolume& volume);
std::string_view StorageClassOf(const api::PersistentVolumeClaim& claim);

// Of a claim: its binding is complete, on both sides. The value does not matter.
inline constexpr std::string_view kBindCompletedAnnotation = "pv.kubernetes.io/bind-completed";
// Of a volume: it was bound by a controller, not promised by its owner.
inline constexpr std::string_view kBoundByControllerAnnotation =
    "pv.kubernetes.io/bound-by-controller";
// Of a claim: the node that a volume is to be made for.
inline constexpr std::string_view kSelectedNodeAnnotation = "volume.kubernetes.io/selected-node";
// The provisioner of classes whose volumes are made by hand.
inline constexpr std::string_view kNoProvisioner = "kubernetes.io/no-provisioner";

// The name of the plugin whose disk the volume is, "kubernetes.io/aws-ebs": one of those that were
// built into Kubernetes and have a CSI driver today; "" for all others.
std::string_view InTreePluginOf(const api::Volume& volume);
std::string_view InTreePluginOf(const api::PersistentVolume& volume);
// The driver that stands for the plugin, "ebs.csi.aws.com"; "" where there is none.
std::string_view CsiDriverOf(std::string_view in_tree_plugin);
// The label of nodes by which that driver knows their zone, where it has one of its own; else "".
std::string_view CsiZoneLabelOf(std::string_view in_tree_plugin);

// The name of the claim, in the pod's namespace, that a volume of the pod stands for; nullopt: it
// is no claim. That of an ephemeral volume is made up.
std::optional<std::string> ClaimNameOf(const api::Pod& pod, const api::Volume& volume);
// Whether the claim was made for an ephemeral volume of the pod.
bool IsMadeFor(const api::PersistentVolumeClaim& claim, const api::Pod& pod);
// Whether the claim has its volume, and both sides know.
bool IsFullyBound(const api::PersistentVolumeClaim& claim);
// Whether the volume is bound to the claim, or promised to a claim of its name.
bool IsPromisedTo(const api::PersistentVolume& volume, const api::PersistentVolumeClaim& claim);
// What a list has of storage; nothing where it does not name it.
const api::Quantity& StorageIn(const api::ResourceList& list);
// Whether the volume would do for the claim, to which it may be promised already.
bool MayServe(const api::PersistentVolume& volume, const api::PersistentVolumeClaim& claim);
// Whether the volume has all access modes that the claim asks for.
bool HasModes(const api::PersistentVolume& volume, const api::PersistentVolumeClaim& claim);

}  // namespace berth
