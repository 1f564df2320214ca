// SPDX-License-Identifier: Apache-2.0
#include "plugins/volume_restrictions/volume_restrictions.h"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "plugins/shared/hint_objects.h"
#include "plugins/shared/pod_claims.h"
#include "plugins/shared/spend_on_nodes.h"

namespace berth::plugins {
namespace {

// So few comparisons need no table.
constexpr size_t kFewComparisons = 256;

bool Overlap(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  return std::ranges::find_first_of(a, b) != a.end();
}

// `same(a, b)`: both are one disk. Whether both volumes have one, the same, and one of them writes.
template <typename Source, typename Same>
bool Conflict(const api::Boxed<Source>& a, const api::Boxed<Source>& b, Same same) {
  return a && b && same(*a, *b) && !(a->read_only && b->read_only);
}

// Calls visit(name, read_only) for each name of the volume's disk: two volumes are of one disk
// where they have a name in common. A disk of AWS is never shared, not even to be read.
template <typename Visit>
void ForEachName(const api::Volume& volume, Visit visit) {
  if (volume.aws_elastic_block_store) visit("a" + volume.aws_elastic_block_store->volume_id, false);
  if (volume.gce_persistent_disk) {
    visit("g" + volume.gce_persistent_disk->pd_name, volume.gce_persistent_disk->read_only);
  }
  if (volume.iscsi) visit("i" + volume.iscsi->iqn, volume.iscsi->read_only);
  if (!volume.rbd) return;
  const std::string prefix = "r" + std::to_string(volume.rbd->pool.size()) + "/" +
                             volume.rbd->pool + std::to_string(volume.rbd->image.size()) + "/" +
                             volume.rbd->image;
  for (const std::string& monitor : volume.rbd->monitors) {
    visit(prefix + monitor, volume.rbd->read_only);
  }
}

bool ManyDisksConflict(const api::Pod& pod, const api::Pod& other) {
  // Whether all volumes of that name only read.
  absl::flat_hash_map<std::string, bool> theirs;
  for (const api::Volume& volume : other.spec.volumes) {
    ForEachName(volume, [&](const std::string& name, bool read_only) {
      const auto [at, is_new] = theirs.try_emplace(name, read_only);
      at->second = at->second && read_only;
    });
  }
  bool conflict = false;
  for (const api::Volume& volume : pod.spec.volumes) {
    if (theirs.empty() || conflict) break;
    ForEachName(volume, [&](const std::string& name, bool read_only) {
      const auto at = theirs.find(name);
      conflict = conflict || (at != theirs.end() && !(read_only && at->second));
    });
  }
  return conflict;
}

bool Conflict(const api::Volume& a, const api::Volume& b) {
  if (a.aws_elastic_block_store && b.aws_elastic_block_store &&
      a.aws_elastic_block_store->volume_id == b.aws_elastic_block_store->volume_id) {
    return true;
  }
  return Conflict(a.gce_persistent_disk, b.gce_persistent_disk,
                  [](const auto& x, const auto& y) { return x.pd_name == y.pd_name; }) ||
         Conflict(a.iscsi, b.iscsi, [](const auto& x, const auto& y) { return x.iqn == y.iqn; }) ||
         Conflict(a.rbd, b.rbd, [](const auto& x, const auto& y) {
           return x.pool == y.pool && x.image == y.image && Overlap(x.monitors, y.monitors);
         });
}

struct PreFilterState {
  std::set<std::string> claims;  // of the pod, with access mode ReadWriteOncePod
  int64_t uses = 0;              // of these by placed pods
};

// As upstream, in whatever namespace the other pod is.
int64_t UsesBy(const PodInfo& other, const std::set<std::string>& claims) {
  int64_t uses = 0;
  ForEachClaimName(*other.pod, [&](const std::string& name) { uses += claims.contains(name); });
  return uses;
}

bool SharesClaim(const api::Pod& pod, const api::Pod& other) {
  absl::flat_hash_set<std::string_view> claims;
  ForEachClaimName(pod, [&](const std::string& name) { claims.insert(name); });
  bool shares = false;
  if (claims.empty()) return shares;
  ForEachClaimName(other,
                   [&](const std::string& name) { shares = shares || claims.contains(name); });
  return shares;
}

Result<QueueingHint> AfterPodDelete(const api::Pod& pod, const api::ObjectPtr& old_object,
                                    const api::ObjectPtr& new_object) {
  const auto change = AsChange<api::Pod>(old_object, new_object);
  if (!change) return Fail(change.error());
  const api::Pod* deleted = change->old_object;
  if (deleted == nullptr) return Fail("the event has no deleted object");
  return QueueIf(deleted->metadata.namespace_ == pod.metadata.namespace_ &&
                 (DisksConflict(pod, *deleted) || SharesClaim(pod, *deleted)));
}

}  // namespace

bool HasDisk(const api::Volume& volume) {
  return volume.gce_persistent_disk || volume.aws_elastic_block_store || volume.rbd || volume.iscsi;
}

bool DisksConflict(const api::Pod& pod, const api::Pod& other) {
  if (pod.spec.volumes.size() * other.spec.volumes.size() > kFewComparisons) {
    return ManyDisksConflict(pod, other);
  }
  return std::ranges::any_of(pod.spec.volumes, [&](const api::Volume& volume) {
    return HasDisk(volume) &&
           std::ranges::any_of(other.spec.volumes,
                               [&](const api::Volume& theirs) { return Conflict(volume, theirs); });
  });
}

VolumeRestrictions::VolumeRestrictions(Handle& handle)
    : handle_(&handle),
      disk_rejection_(handle.reasons().Make(Code::kUnschedulable, kDiskReason)),
      claim_rejection_(handle.reasons().Make(Code::kUnschedulable, kClaimReason)) {}

PreFilterResult VolumeRestrictions::PreFilter(CycleState& state, const PodInfo& pod,
                                              const Snapshot& snapshot) {
  const std::string& namespace_ = pod.pod->metadata.namespace_;
  PreFilterState data;
  bool has_disk = false;
  for (const api::Volume& volume : pod.pod->spec.volumes) {
    has_disk = has_disk || HasDisk(volume);
    if (!volume.persistent_volume_claim) continue;
    const std::string& name = volume.persistent_volume_claim->claim_name;
    const api::PersistentVolumeClaim* claim =
        handle_->listers().Find<api::PersistentVolumeClaim>(namespace_, name);
    if (claim == nullptr) {
      return {.status =
                  state.reasons().Make(Code::kUnschedulableAndUnresolvable, ClaimNotFound(name))};
    }
    if (std::ranges::find(claim->spec.access_modes, api::kReadWriteOncePod) !=
        claim->spec.access_modes.end()) {
      data.claims.insert(name);
    }
  }
  for (const std::string& name : data.claims) {
    data.uses += snapshot.IsClaimUsed(namespace_, name) ? 1 : 0;
  }
  if (!has_disk && data.uses == 0) return {.status = Status::Skip()};
  state.Write(std::move(data));
  return {};
}

Status VolumeRestrictions::AddPod(CycleState& state, const PodInfo&, const PodInfo& added,
                                  const NodeView&) {
  auto& data = state.Mutable<PreFilterState>();
  data.uses += UsesBy(added, data.claims);
  return Status::Success();
}

Status VolumeRestrictions::RemovePod(CycleState& state, const PodInfo&, const PodInfo& removed,
                                     const NodeView&) {
  auto& data = state.Mutable<PreFilterState>();
  data.uses -= UsesBy(removed, data.claims);
  return Status::Success();
}

Status VolumeRestrictions::Filter(const CycleState& state, const PodInfo& pod,
                                  const NodeView& node) const {
  if (std::ranges::any_of(pod.pod->spec.volumes, HasDisk)) {
    const uint64_t others = node.snapshot().pods(node.row()).size();
    if (!SpendOnNodes(state, pod.pod->spec.volumes.size(), 1 + others)) return OutOfBudget(state);
    bool conflict = false;
    node.ForEachPod(
        [&](const PodInfo& other) { conflict = conflict || DisksConflict(*pod.pod, *other.pod); });
    if (conflict) return disk_rejection_;
  }
  return state.Read<PreFilterState>().uses > 0 ? claim_rejection_ : Status::Success();
}

std::vector<ClusterEventWithHint> VolumeRestrictions::EventsToRegister() const {
  return {
      {{EventResource::kAssignedPod, action::kDelete}, AfterPodDelete},
      {{EventResource::kNode, action::kAdd}, nullptr},
      {{EventResource::kPersistentVolumeClaim, action::kAdd},
       [](const api::Pod& pod, const api::ObjectPtr& old_object,
          const api::ObjectPtr& new_object) -> Result<QueueingHint> {
         const auto change = AsUpdate<api::PersistentVolumeClaim>(old_object, new_object);
         if (!change) return Fail(change.error());
         return QueueIf(IsClaimOf(pod, *change->new_object));
       }},
  };
}

}  // namespace berth::plugins
