// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "berth/api/node.h"
#include "berth/snapshot.h"
#include "src/base/string_map.h"

namespace berth::cache {

// Interned taint lists. Two lists are equal when their taints are, in the same order. A list that
// no node uses gives its id back; the lowest free id is given out next.
//
// Thread safety: one owner.
class TaintTable {
 public:
  TaintTable() : sets_(1) { ids_.emplace(std::string(), 0); }

  // The id of `taints`, with one use added.
  TaintSetId Acquire(const std::vector<api::Taint>& taints);
  // Takes back one Acquire().
  void Release(TaintSetId id);

  // One more than the highest id ever in use at one time; ids below it may be free.
  size_t size() const { return sets_.size(); }
  // Empty for a free id.
  std::span<const api::Taint> taints(TaintSetId id) const { return sets_[id].taints; }

 private:
  struct TaintSet {
    std::vector<api::Taint> taints;
    std::string key;  // of ids_
    size_t uses = 0;
  };
  std::vector<TaintSet> sets_;  // sets_[0] is the empty list and is never freed
  base::StringMap<TaintSetId> ids_;
};

}  // namespace berth::cache
