// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "berth/api/node.h"
#include "berth/pod_info.h"
#include "berth/snapshot.h"
#include "src/base/string_map.h"

namespace berth::cache {

// Which nodes have which images, by every name that the nodes report, unchanged: they report full
// names with a tag or digest, so a normalised name finds them.
//
// The size is what the first node said for as long as another node has the image, as in
// kube-scheduler; a node that is the only one left corrects it with its next update.
//
// Thread safety: one owner.
class ImageTable {
 public:
  using Images = std::vector<api::ContainerImage>;

  void Add(NodeRow row, const Images& images);
  void Remove(NodeRow row, const Images& images);
  // As Remove(before) and Add(now), but cheap when nothing changed.
  void Update(NodeRow row, const Images& before, const Images& now);

  std::optional<ImageState> Find(std::string_view name) const;

 private:
  struct Entry {
    int64_t size_bytes = 0;
    std::vector<NodeRow> rows;  // ascending
  };
  base::StringMap<Entry> images_;
};

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

// The host ports in use on one node, each with the number of pods that use it. Sorted, so that
// the order does not depend on who came first.
//
// Thread safety: one owner.
class PortCounts {
 public:
  // Those of a pod; one that it has twice counts twice. Takes time in proportion to both lists.
  void Add(std::span<const HostPort> ports);
  // The ports must have been added together.
  void Remove(std::span<const HostPort> ports);

  bool empty() const { return ports_.empty(); }
  std::span<const HostPort> ports() const { return ports_; }

 private:
  std::vector<HostPort> ports_;
  std::vector<uint32_t> counts_;  // counts_[i] belongs to ports_[i]
};

}  // namespace berth::cache
