// SPDX-License-Identifier: Apache-2.0
#include "plugins/volume_binding/find_volumes.h"

#include <algorithm>
#include <array>

#include "absl/container/flat_hash_set.h"
#include "berth/volumes.h"
#include "plugins/shared/csi_migration.h"

namespace berth::plugins {
namespace {

// In the order of their bits.
constexpr std::string_view kReasons[] = {
    "node(s) didn't match PersistentVolume's node affinity",
    "node(s) didn't find available persistent volumes to bind",
    "node(s) did not have enough free storage",
    "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)",
};

// A list on the stack, as long as it is short, and a set of what is beyond.
template <typename T>
class ShortList {
 public:
  void Add(T item) {
    if (size_ < few_.size()) {
      few_[size_++] = item;
    } else {
      more_.insert(item);
    }
  }
  bool Contains(T item) const {
    return std::find(few_.begin(), few_.begin() + static_cast<std::ptrdiff_t>(size_), item) !=
               few_.begin() + static_cast<std::ptrdiff_t>(size_) ||
           more_.contains(item);
  }

 private:
  std::array<T, 16> few_{};
  size_t size_ = 0;
  absl::flat_hash_set<T> more_;
};

using ChosenVolumes = ShortList<const api::PersistentVolume*>;

void CheckBound(const std::vector<BoundClaim>& bound, const api::Node& node, const Listers& listers,
                NodeVerdict& verdict) {
  for (const BoundClaim& claim : bound) {
    if (claim.volume == nullptr) {
      verdict.reasons |= volume_reason::kVolumeNotFound;
      return;
    }
    const VolumeAffinity* affinity = &claim.affinity;
    if (claim.migrated != nullptr &&
        IsMigratedOn(listers.Find<api::CSINode>(node.metadata.name), claim.migrated->plugin)) {
      if (!claim.migrated->error.empty()) {
        verdict.error = claim.migrated->error;
        return;
      }
      affinity = &claim.migrated->affinity;
    }
    if (!affinity->Matches(node)) {
      verdict.reasons |= volume_reason::kNodeConflict;
      return;
    }
  }
}

// A volume that is promised to the claim is taken or, where the node cannot reach it, keeps the
// claim from all others.
const api::PersistentVolume* FindMatching(const DelayedClaim& delayed, const api::Node& node,
                                          const ChosenVolumes& chosen) {
  for (const PromisedVolume& promised : delayed.promised) {
    if (chosen.Contains(promised.volume)) continue;
    return promised.affinity.Matches(node) ? promised.volume : nullptr;
  }
  return delayed.free.FindFirst(
      node, [&](const api::PersistentVolume* volume) { return chosen.Contains(volume); });
}

bool IsAllowed(const Provisioning& provisioning, const api::Node& node) {
  return !provisioning.allowed ||
         std::ranges::any_of(*provisioning.allowed, [&](const LabelSelectorMatcher& nodes) {
           return nodes.Matches(node.metadata.labels);
         });
}

// Whether a volume can be made for the claim; false sets the verdict.
bool CheckProvision(const DelayedClaim& delayed, const api::Node& node, NodeVerdict& verdict,
                    NodeVolumes* found) {
  const Provisioning& provisioning = delayed.provisioning;
  if (provisioning.storage_class == nullptr) {
    verdict.error =
        "failed to find storage class \"" + std::string(StorageClassOf(*delayed.claim)) + "\"";
    return false;
  }
  if (!provisioning.has_provisioner || !IsAllowed(provisioning, node)) {
    verdict.reasons |= volume_reason::kBindConflict;
    return false;
  }
  const api::CSIStorageCapacity* capacity = nullptr;
  if (provisioning.room) {
    const auto room = std::ranges::find_if(*provisioning.room, [&](const RoomForClaim& some) {
      return some.nodes.Matches(node.metadata.labels);
    });
    if (room == provisioning.room->end()) {
      verdict.reasons |= volume_reason::kNotEnoughSpace;
      return false;
    }
    capacity = room->capacity;
  }
  if (found != nullptr) found->provisions.push_back({delayed.claim, capacity});
  return true;
}

void CheckDelayed(const std::vector<DelayedClaim>& claims, const api::Node& node,
                  NodeVerdict& verdict, NodeVolumes* found) {
  for (const DelayedClaim& delayed : claims) {
    if (delayed.selected_node == nullptr || *delayed.selected_node == node.metadata.name) continue;
    verdict.reasons |= volume_reason::kBindConflict;
    return;
  }
  ChosenVolumes chosen;
  ShortList<const DelayedClaim*> matched;
  for (const DelayedClaim& delayed : claims) {
    if (delayed.selected_node != nullptr) continue;
    if (!delayed.match_error.empty()) {
      verdict.error = delayed.match_error;
      return;
    }
    const api::PersistentVolume* volume = FindMatching(delayed, node, chosen);
    if (volume == nullptr) continue;
    chosen.Add(volume);
    matched.Add(&delayed);
    if (found != nullptr) found->bindings.push_back({delayed.claim, volume});
  }
  for (const DelayedClaim& delayed : claims) {
    if (matched.Contains(&delayed)) continue;
    if (!CheckProvision(delayed, node, verdict, found)) return;
  }
}

}  // namespace

ReasonSet ReasonsOf(uint32_t bits) {
  ReasonSet reasons;
  for (size_t i = 0; i < std::size(kReasons); ++i) {
    if ((bits & (1u << i)) != 0) reasons.emplace_back(kReasons[i]);
  }
  return reasons;
}

NodeVerdict FindNodeVolumes(const PodClaims& claims, const api::Node& node, const Listers& listers,
                            NodeVolumes* found) {
  if (found != nullptr) found->Clear();
  NodeVerdict verdict;
  CheckBound(claims.bound, node, listers, verdict);
  if (verdict.error.empty()) CheckDelayed(claims.delayed, node, verdict, found);
  return verdict;
}

}  // namespace berth::plugins
