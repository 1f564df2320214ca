// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "berth/api/node.h"
#include "berth/api/storage.h"
#include "berth/label_selector.h"
#include "berth/volumes.h"
#include "src/simulator/controllers.h"

namespace berth::simulator {
namespace {

using informers::Kind;

constexpr std::string_view kProvisionedByAnnotation = "pv.kubernetes.io/provisioned-by";
constexpr std::string_view kCapacity = "storage";
constexpr std::string_view kZone = "topology.kubernetes.io/zone";

const api::CSINodeDriver* DriverOf(const api::CSINode* node, std::string_view name) {
  if (node == nullptr) return nullptr;
  const auto& drivers = node->spec.drivers;
  const auto found = std::ranges::find(drivers, name, &api::CSINodeDriver::name);
  return found == drivers.end() ? nullptr : &*found;
}

bool Allows(const api::TopologySelectorTerm& term, const api::StringMap& labels) {
  return std::ranges::all_of(term.match_label_expressions, [&](const auto& expression) {
    const std::string* label = api::Find(labels, expression.key);
    return label != nullptr &&
           std::ranges::find(expression.values, *label) != expression.values.end();
  });
}

bool Allows(const api::StorageClass& storage_class, const api::Node& node) {
  const auto& terms = storage_class.allowed_topologies;
  return terms.empty() || std::ranges::any_of(terms, [&](const auto& term) {
           return Allows(term, node.metadata.labels);
         });
}

// The driver that makes the volumes of the class.
std::string_view DriverNameOf(const api::StorageClass& storage_class) {
  const std::string_view migrated = CsiDriverOf(storage_class.provisioner);
  return migrated.empty() ? storage_class.provisioner : migrated;
}

// Where a volume is made that no pod has chosen a node for; nullptr: the driver knows no places.
std::shared_ptr<const api::Node> AnyNode(const MemoryApi& api,
                                         const api::StorageClass& storage_class) {
  std::shared_ptr<const api::Node> any;
  api.ForEach(Kind::kNode, [&](const api::ObjectPtr& object) {
    const auto& node = std::get<std::shared_ptr<const api::Node>>(object);
    if (any != nullptr || !Allows(storage_class, *node)) return;
    const auto csi_node = FindIn<api::CSINode>(api, Kind::kCsiNode, node->metadata.name);
    if (DriverOf(csi_node.get(), DriverNameOf(storage_class)) != nullptr) any = node;
  });
  return any;
}

std::optional<api::VolumeNodeAffinity> AffinityTo(std::vector<api::NodeSelectorTerm> terms) {
  if (terms.empty()) return std::nullopt;
  return api::VolumeNodeAffinity{api::NodeSelector{std::move(terms)}};
}

// From where a volume can be reached that was made for `node`, which may be nullptr.
std::optional<api::VolumeNodeAffinity> Reach(const MemoryApi& api,
                                             const api::StorageClass& storage_class,
                                             const api::Node* node) {
  if (node != nullptr) {
    const auto csi_node = FindIn<api::CSINode>(api, Kind::kCsiNode, node->metadata.name);
    const api::CSINodeDriver* driver = DriverOf(csi_node.get(), storage_class.provisioner);
    api::NodeSelectorTerm term;
    for (const std::string& key :
         driver == nullptr ? std::vector<std::string>() : driver->topology_keys) {
      const std::string* label = api::Find(node->metadata.labels, key);
      if (label != nullptr) term.match_expressions.push_back({key, "In", {*label}});
    }
    if (!term.match_expressions.empty()) return AffinityTo({std::move(term)});
  }
  std::vector<api::NodeSelectorTerm> terms;
  for (const api::TopologySelectorTerm& allowed : storage_class.allowed_topologies) {
    api::NodeSelectorTerm& term = terms.emplace_back();
    for (const auto& expression : allowed.match_label_expressions) {
      term.match_expressions.push_back({expression.key, "In", expression.values});
    }
  }
  return AffinityTo(std::move(terms));
}

// Where a volume of an in-tree plugin is: in the node's zone, if the driver that stands for the
// plugin knows it by the same name.
void SetZone(const std::string& provisioner, const api::Node& node, api::PersistentVolume& volume) {
  const std::string* zone = api::Find(node.metadata.labels, kZone);
  const std::string* of_driver = api::Find(node.metadata.labels, CsiZoneLabelOf(provisioner));
  if (zone == nullptr || of_driver == nullptr || *zone != *of_driver) return;
  volume.metadata.labels = {{std::string(kZone), *zone}};
  api::NodeSelectorTerm term;
  term.match_expressions.push_back({std::string(kZone), "In", {*zone}});
  volume.spec.node_affinity = AffinityTo({std::move(term)});
}

// Takes the claim's size from the first capacity that has it for the node, both in whole bytes and
// rounded up, as schedulers and provisioners compare them. False: none has.
bool TakeRoom(MemoryApi& api, const api::StorageClass& storage_class, const api::Node& node,
              const api::Quantity& size) {
  std::shared_ptr<const api::CSIStorageCapacity> from;
  api.ForEach(Kind::kCsiStorageCapacity, [&](const api::ObjectPtr& object) {
    const auto& capacity = std::get<std::shared_ptr<const api::CSIStorageCapacity>>(object);
    if (from != nullptr || capacity->storage_class_name != storage_class.metadata.name) return;
    if (!capacity->capacity || capacity->capacity->Value() < size.Value()) return;
    if (capacity->maximum_volume_size && capacity->maximum_volume_size->Value() < size.Value())
      return;
    const auto nodes = LabelSelectorMatcher::Make(capacity->node_topology);
    if (nodes && nodes->Matches(node.metadata.labels)) from = capacity;
  });
  if (from == nullptr) return false;
  auto less = std::make_shared<api::CSIStorageCapacity>(*from);
  less->capacity =
      api::Quantity::FromUnits(from->capacity->Value() - size.Value(), from->capacity->format());
  api.Apply(std::shared_ptr<const api::CSIStorageCapacity>(std::move(less)));
  return true;
}

void TakeOffSelectedNode(MemoryApi& api, const api::PersistentVolumeClaim& claim) {
  auto released = std::make_shared<api::PersistentVolumeClaim>(claim);
  std::erase_if(released->metadata.annotations,
                [](const auto& entry) { return entry.first == kSelectedNodeAnnotation; });
  api.Apply(std::shared_ptr<const api::PersistentVolumeClaim>(std::move(released)));
}

// Makes the volume's source: of an in-tree plugin where the class names one, since provisioners of
// drivers that stand for it make such volumes.
void SetSource(const std::string& provisioner, api::PersistentVolume& volume) {
  const std::string& name = volume.metadata.name;
  api::PersistentVolumeSpec& spec = volume.spec;
  if (provisioner == "kubernetes.io/aws-ebs") {
    spec.aws_elastic_block_store.emplace().volume_id = name;
  } else if (provisioner == "kubernetes.io/gce-pd") {
    spec.gce_persistent_disk.emplace().pd_name = name;
  } else if (provisioner == "kubernetes.io/azure-disk") {
    spec.azure_disk.emplace().disk_name = name;
    spec.azure_disk->disk_uri =
        "/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/disks/" + name;
  } else if (provisioner == "kubernetes.io/azure-file") {
    spec.azure_file.emplace().share_name = name;
  } else if (provisioner == "kubernetes.io/cinder") {
    spec.cinder.emplace().volume_id = name;
  } else if (provisioner == "kubernetes.io/portworx-volume") {
    spec.portworx_volume.emplace().volume_id = name;
  } else if (provisioner == "kubernetes.io/vsphere-volume") {
    spec.vsphere_volume.emplace().volume_path = name;
  } else {
    spec.csi.emplace().driver = provisioner;
    spec.csi->volume_handle = name;
  }
}

std::string NameOfVolumeFor(const api::PersistentVolumeClaim& claim) {
  const api::ObjectMeta& meta = claim.metadata;
  // A uid that was made up (cluster_files.h) is no name.
  const bool usable = !meta.uid.empty() && meta.uid.find('/') == std::string::npos;
  return "pvc-" + (usable ? meta.uid : meta.namespace_ + "-" + meta.name);
}

}  // namespace

std::shared_ptr<const api::PersistentVolume> Provision(MemoryApi& api,
                                                       const api::PersistentVolumeClaim& claim) {
  const auto storage_class =
      FindIn<api::StorageClass>(api, Kind::kStorageClass, StorageClassOf(claim));
  if (storage_class == nullptr || storage_class->provisioner.empty() ||
      storage_class->provisioner == kNoProvisioner) {
    return nullptr;
  }
  const std::string* selected = api::Find(claim.metadata.annotations, kSelectedNodeAnnotation);
  const auto node = selected == nullptr ? AnyNode(api, *storage_class)
                                        : FindIn<api::Node>(api, Kind::kNode, *selected);
  const auto driver = FindIn<api::CSIDriver>(api, Kind::kCsiDriver, storage_class->provisioner);
  const bool tells_of_room = driver != nullptr && driver->spec.storage_capacity.value_or(false);
  const api::Quantity* size = api::Find(claim.spec.resources.requests, kCapacity);
  const bool has_room = node == nullptr || size == nullptr || !tells_of_room ||
                        TakeRoom(api, *storage_class, *node, *size);
  if (selected != nullptr && (node == nullptr || !has_room)) TakeOffSelectedNode(api, claim);
  if (!has_room || (selected != nullptr && node == nullptr)) return nullptr;

  auto volume = std::make_shared<api::PersistentVolume>();
  volume->metadata.name = NameOfVolumeFor(claim);
  volume->metadata.uid = "PersistentVolume/" + volume->metadata.name;
  api::Put(kProvisionedByAnnotation, storage_class->provisioner, volume->metadata.annotations);
  api::PersistentVolumeSpec& spec = volume->spec;
  if (size != nullptr) spec.capacity = {{std::string(kCapacity), *size}};
  SetSource(storage_class->provisioner, *volume);
  spec.access_modes = claim.spec.access_modes;
  spec.claim_ref = {"PersistentVolumeClaim",
                    claim.metadata.namespace_,
                    claim.metadata.name,
                    claim.metadata.uid,
                    "v1",
                    ""};
  spec.persistent_volume_reclaim_policy = storage_class->reclaim_policy.value_or("Delete");
  spec.storage_class_name = storage_class->metadata.name;
  spec.volume_mode = claim.spec.volume_mode;
  if (CsiDriverOf(storage_class->provisioner).empty()) {
    spec.node_affinity = Reach(api, *storage_class, node.get());
  } else if (node != nullptr) {
    SetZone(storage_class->provisioner, *node, *volume);
  }
  spec.volume_attributes_class_name = claim.spec.volume_attributes_class_name;
  api.Apply(std::shared_ptr<const api::PersistentVolume>(std::move(volume)));
  return FindIn<api::PersistentVolume>(api, Kind::kPersistentVolume, NameOfVolumeFor(claim));
}

}  // namespace berth::simulator
