// SPDX-License-Identifier: Apache-2.0
#include "plugins/volume_restrictions/disk_conflicts.h"

#include <algorithm>
#include <string>

#include "absl/container/flat_hash_map.h"

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

}  // namespace berth::plugins
