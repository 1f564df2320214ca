// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "berth/api/meta.h"
#include "src/base/string_map.h"

namespace berth::cache {

// The keys of the labels that nodes have. Pods may name any keys, in any number: one that no node
// has is answered from here, without a look at a node.
//
// Thread safety: one owner.
class LabelKeys {
 public:
  // The labels of a node became `now`; an absent node has no labels.
  void Update(const api::StringMap& before, const api::StringMap& now) {
    if (before == now) return;
    for (const auto& [key, value] : now) ++nodes_[key];
    for (const auto& [key, value] : before) {
      const auto at = nodes_.find(key);
      if (--at->second == 0) nodes_.erase(at);
    }
  }
  bool Contains(std::string_view key) const { return nodes_.contains(key); }

 private:
  base::StringMap<uint32_t> nodes_;  // how many have a label of the key; none of them 0
};

}  // namespace berth::cache
