// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "berth/counts.h"
#include "berth/node_set.h"
#include "berth/pod_info.h"
#include "src/base/string_map.h"

namespace berth::cache {

// Which claims the pods on each row use, by their persistentVolumeClaim volumes.
//
// Thread safety: one owner; any number of readers while it does not write.
class ClaimUses {
 public:
  // The pod came to the row (1) or went from it (-1).
  void Count(NodeRow row, const api::Pod& pod, int32_t delta);

  // Whether a pod on one of `rows` uses the claim.
  bool AnyOn(const NodeSet& rows, std::string_view namespace_, std::string_view claim) const;

  // How many claims are used.
  size_t size() const { return rows_by_claim_.size(); }

 private:
  base::StringMap<Counts> rows_by_claim_;  // by "namespace/name"; none empty
};

}  // namespace berth::cache
