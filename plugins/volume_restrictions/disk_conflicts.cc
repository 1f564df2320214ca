// SPDX-License-Identifier: Apache-2.0
#include "plugins/volume_restrictions/disk_conflicts.h"

#include <algorithm>

namespace berth::plugins {
namespace {

bool Overlap(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  return std::ranges::find_first_of(a, b) != a.end();
}

// `same(a, b)`: both are one disk. Whether both volumes have one, the same, and one of them writes.
template <typename Source, typename Same>
bool Conflict(const api::Boxed<Source>& a, const api::Boxed<Source>& b, Same same) {
  return a && b && same(*a, *b) && !(a->read_only && b->read_only);
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
  return std::ranges::any_of(pod.spec.volumes, [&](const api::Volume& volume) {
    return HasDisk(volume) &&
           std::ranges::any_of(other.spec.volumes,
                               [&](const api::Volume& theirs) { return Conflict(volume, theirs); });
  });
}

}  // namespace berth::plugins
