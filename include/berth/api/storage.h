// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "berth/api/meta.h"
#include "berth/api/quantity.h"

// The kinds of storage.k8s.io/v1: what volumes can be made, and what nodes can attach.
namespace berth::api {

inline constexpr std::string_view kBindImmediate = "Immediate";
inline constexpr std::string_view kBindWaitForFirstConsumer = "WaitForFirstConsumer";

struct TopologySelectorLabelRequirement {
  std::string key;
  std::vector<std::string> values;

  friend bool operator==(const TopologySelectorLabelRequirement&,
                         const TopologySelectorLabelRequirement&) = default;
};

struct TopologySelectorTerm {
  std::vector<TopologySelectorLabelRequirement> match_label_expressions;

  friend bool operator==(const TopologySelectorTerm&, const TopologySelectorTerm&) = default;
};

struct StorageClass {
  ObjectMeta metadata;
  std::string provisioner;
  StringMap parameters;
  std::optional<std::string> reclaim_policy;
  std::optional<std::string> volume_binding_mode;
  // Empty: volumes can be made for every node.
  std::vector<TopologySelectorTerm> allowed_topologies;

  friend bool operator==(const StorageClass&, const StorageClass&) = default;
};

struct VolumeNodeResources {
  // How many volumes of the driver the node takes; nullopt: no limit.
  std::optional<int32_t> count;

  friend bool operator==(const VolumeNodeResources&, const VolumeNodeResources&) = default;
};

struct CSINodeDriver {
  std::string name;
  std::string node_id;
  std::vector<std::string> topology_keys;
  std::optional<VolumeNodeResources> allocatable;

  friend bool operator==(const CSINodeDriver&, const CSINodeDriver&) = default;
};

struct CSINodeSpec {
  std::vector<CSINodeDriver> drivers;

  friend bool operator==(const CSINodeSpec&, const CSINodeSpec&) = default;
};

// The CSI drivers of the node of the same name.
struct CSINode {
  ObjectMeta metadata;
  CSINodeSpec spec;

  friend bool operator==(const CSINode&, const CSINode&) = default;
};

struct CSIDriverSpec {
  std::optional<bool> attach_required;
  // Whether the driver tells of its room in CSIStorageCapacities.
  std::optional<bool> storage_capacity;
  std::optional<bool> prevent_pod_scheduling_if_missing;

  friend bool operator==(const CSIDriverSpec&, const CSIDriverSpec&) = default;
};

struct CSIDriver {
  ObjectMeta metadata;
  CSIDriverSpec spec;

  friend bool operator==(const CSIDriver&, const CSIDriver&) = default;
};

// How much room there is for volumes of a class where the nodes of `node_topology` are.
struct CSIStorageCapacity {
  ObjectMeta metadata;
  // nullopt: no node reaches it.
  std::optional<LabelSelector> node_topology;
  std::string storage_class_name;
  std::optional<Quantity> capacity;
  std::optional<Quantity> maximum_volume_size;

  friend bool operator==(const CSIStorageCapacity&, const CSIStorageCapacity&) = default;
};

struct VolumeAttachmentSource {
  std::optional<std::string> persistent_volume_name;

  friend bool operator==(const VolumeAttachmentSource&, const VolumeAttachmentSource&) = default;
};

struct VolumeAttachmentSpec {
  // The driver.
  std::string attacher;
  VolumeAttachmentSource source;
  std::string node_name;

  friend bool operator==(const VolumeAttachmentSpec&, const VolumeAttachmentSpec&) = default;
};

struct VolumeAttachmentStatus {
  bool attached = false;

  friend bool operator==(const VolumeAttachmentStatus&, const VolumeAttachmentStatus&) = default;
};

struct VolumeAttachment {
  ObjectMeta metadata;
  VolumeAttachmentSpec spec;
  VolumeAttachmentStatus status;

  friend bool operator==(const VolumeAttachment&, const VolumeAttachment&) = default;
};

struct VolumeAttributesClass {
  ObjectMeta metadata;
  std::string driver_name;
  StringMap parameters;

  friend bool operator==(const VolumeAttributesClass&, const VolumeAttributesClass&) = default;
};

}  // namespace berth::api
