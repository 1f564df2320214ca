// SPDX-License-Identifier: Apache-2.0
#include "src/cache/claim_uses.h"

#include "berth/api/meta.h"

namespace berth::cache {

void ClaimUses::Count(NodeRow row, const api::Pod& pod, int32_t delta) {
  for (const api::Volume& volume : pod.spec.volumes) {
    if (!volume.persistent_volume_claim) continue;
    const std::string key =
        api::NamespacedKey(pod.metadata.namespace_, volume.persistent_volume_claim->claim_name);
    Counts& rows = rows_by_claim_[key];
    rows.Add(row, delta);
    if (rows.empty()) rows_by_claim_.erase(key);
  }
}

bool ClaimUses::AnyOn(const NodeSet& rows, std::string_view namespace_,
                      std::string_view claim) const {
  const auto known = rows_by_claim_.find(api::NamespacedKey(namespace_, claim));
  if (known == rows_by_claim_.end()) return false;
  bool any = false;
  known->second.ForEach([&](NodeRow row, int32_t) { any = any || rows.Test(row); });
  return any;
}

}  // namespace berth::cache
