// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "berth/api/node.h"
#include "berth/api/persistent_volume.h"
#include "berth/api/persistent_volume_claim.h"
#include "berth/api/pod.h"
#include "berth/api/storage.h"
#include "berth/in_tree/handle.h"
#include "berth/label_selector.h"
#include "berth/result.h"
#include "plugins/volume_binding/volume_affinity.h"

// What a pod asks for by its claims, looked up once for all nodes. Pointers are those of Listers
// and AssumedVolumes, which are kept: good for the running cycle.

namespace berth::plugins {

// The free volumes that would do for a claim as far as nodes do not matter, by the labels of nodes
// that they name: a node is shown only those that may be reached from it, not all of them.
//
// Thread safety: any number of readers once all volumes are added.
class FreeVolumes {
 public:
  // After those that go before it. The volume must outlive this.
  void Add(const api::PersistentVolume& volume);

  // The first volume that can be reached from the node and is not taken(volume); nullptr: none.
  template <typename Taken>
  const api::PersistentVolume* FindFirst(const api::Node& node, Taken taken) const {
    size_t first = volumes_.size();
    const auto look = [&](const std::vector<uint32_t>& ascending) {
      for (const uint32_t i : ascending) {
        if (i >= first) return;
        const Free& free = volumes_[i];
        if (taken(free.volume) || !(free.by_label_alone || free.affinity.Matches(node))) continue;
        first = i;
        return;
      }
    };
    look(by_no_label_);
    for (const ByLabel& label : by_label_) {
      const std::string* value = api::Find(node.metadata.labels, label.key);
      if (value == nullptr) continue;
      const auto named = label.volumes.find(*value);
      if (named != label.volumes.end()) look(named->second);
    }
    return first == volumes_.size() ? nullptr : volumes_[first].volume;
  }

 private:
  struct Free {
    const api::PersistentVolume* volume = nullptr;
    VolumeAffinity affinity = {};
    // Every node with a label that names the volume reaches it; `affinity` is not set.
    bool by_label_alone = false;
  };
  // By the label's value, the volumes that only nodes with it may reach; ascending.
  struct ByLabel {
    std::string_view key;
    std::unordered_map<std::string_view, std::vector<uint32_t>> volumes;
  };

  std::unordered_map<std::string_view, std::vector<uint32_t>>* VolumesBy(std::string_view key);

  std::vector<Free> volumes_;
  std::vector<ByLabel> by_label_;
  std::vector<uint32_t> by_no_label_;
};

// The name as messages quote it: as it is, between double quotes.
inline std::string Quote(std::string_view name) { return "\"" + std::string(name) + "\""; }

// What is so on nodes to which the volume's in-tree plugin has been migrated.
struct MigratedVolume {
  std::string_view plugin;
  VolumeAffinity affinity = {};
  std::string error = {};  // "" unless the volume cannot be served there
};

// A claim that is fully bound: its pod must go where the volume is.
struct BoundClaim {
  const api::PersistentVolumeClaim* claim = nullptr;
  const api::PersistentVolume* volume = nullptr;  // nullptr: there is no such volume
  VolumeAffinity affinity = {};
  // nullptr where migration makes no difference.
  std::shared_ptr<const MigratedVolume> migrated = nullptr;
};

// A volume that is promised to a claim and would do for it, as far as nodes do not matter.
struct PromisedVolume {
  const api::PersistentVolume* volume = nullptr;
  VolumeAffinity affinity;
};

// Room for more volumes of a class, enough for the claim.
struct RoomForClaim {
  const api::CSIStorageCapacity* capacity = nullptr;
  LabelSelectorMatcher nodes;
};

// How a volume would be made for a claim.
struct Provisioning {
  const api::StorageClass* storage_class = nullptr;  // nullptr: there is none of that name
  bool has_provisioner = false;
  // The nodes that the class allows: those of any of these; nullopt: all.
  std::optional<std::vector<LabelSelectorMatcher>> allowed = std::nullopt;
  // nullopt: the driver does not tell of its room, or the claim of its size.
  std::optional<std::vector<RoomForClaim>> room = std::nullopt;
};

// An unbound claim of a class that waits for its first consumer.
struct DelayedClaim {
  const api::PersistentVolumeClaim* claim = nullptr;
  // The node that a volume is being made for; nullptr: no such node is chosen, so that a volume
  // that is there may be taken.
  const std::string* selected_node = nullptr;
  // Volumes that are promised to the claim, by name; then those that are free, the smallest first
  // and of one size by name.
  std::vector<PromisedVolume> promised = {};
  FreeVolumes free = {};
  std::string match_error = {};  // "" unless no volume can be looked for
  Provisioning provisioning = {};
};

struct PodClaims {
  std::vector<BoundClaim> bound;  // in the order of the pod's volumes
  // Those with a selected node in the order of the pod's volumes, then the others, the smallest
  // request first.
  std::vector<DelayedClaim> delayed;
  // Some claim is unbound and of no class that waits.
  bool has_unbound_immediate = false;
  // What is only assumed of claims and volumes. A pod group is tried while that is taken back.
  std::vector<std::shared_ptr<const void>> kept;

  size_t size() const { return bound.size() + delayed.size(); }
};

// Whether the pod has any volume that is a claim.
bool HasClaims(const api::Pod& pod);

// Why the pod's claims, as the API server shows them, let it be scheduled nowhere; nullopt: they
// are all there and alive.
std::optional<std::string> FindClaimProblem(const api::Pod& pod, const Listers& listers);

// The pod's claims, all of which are there, and what there is for them. Errors: a class that does
// not say when volumes are bound.
Result<PodClaims> FindPodClaims(const api::Pod& pod, Handle& handle);

}  // namespace berth::plugins
