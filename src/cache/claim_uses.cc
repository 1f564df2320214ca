// SPDX-License-Identifier: Apache-2.0
#include "src/cache/claim_uses.h"

namespace berth::cache {
namespace {

std::string KeyOf(std::string_view namespace_, std::string_view claim) {
  return std::string(namespace_) + "/" + std::string(claim);
}

}  // namespace

void ClaimUses::Count(NodeRow row, const api::Pod& pod, int32_t delta) {
  for (const api::Volume& volume : pod.spec.volumes) {
    if (!volume.persistent_volume_claim) continue;
    const std::string key =
        KeyOf(pod.metadata.namespace_, volume.persistent_volume_claim->claim_name);
    Counts& rows = rows_by_claim_[key];
    rows.Add(row, delta);
    if (rows.empty()) rows_by_claim_.erase(key);
  }
}

bool ClaimUses::AnyOn(const NodeSet& rows, std::string_view namespace_,
                      std::string_view claim) const {
  const auto known = rows_by_claim_.find(KeyOf(namespace_, claim));
  if (known == rows_by_claim_.end()) return false;
  bool any = false;
  known->second.ForEach([&](NodeRow row, int32_t) { any = any || rows.Test(row); });
  return any;
}

}  // namespace berth::cache
