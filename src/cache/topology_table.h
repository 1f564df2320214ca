// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "berth/api/meta.h"
#include "berth/topology.h"

namespace berth::cache {

// Topologies by key. One is built the first time a reader asks for it, and kept up to date from
// then on. When there are more than the limit allows, those asked for longest ago are dropped, but
// none that a reader holds; where readers hold many, that is looked after once for every so many
// new ones, so that a key costs no more however many there are. A key that no node has, as any pod
// may name in any number, takes no array of its own, and no look at a node.
//
// A domain gets the lowest free id; it gives it back with its last node.
//
// Thread safety: one owner; what Get() gave may be dropped on any thread.
class TopologyTable {
 public:
  // Calls its argument with every row whose node has a label of the key, and the node's labels;
  // other nodes may be among them.
  using ForEachNode = std::function<void(
      std::string_view key, const std::function<void(NodeRow, const api::StringMap&)>&)>;

  // `for_each_node` is called when a topology is built.
  TopologyTable(size_t limit, ForEachNode for_each_node);

  std::shared_ptr<const Topology> Get(std::string_view key);
  // `topology`, which must be of this table, to hold.
  std::shared_ptr<const Topology> Share(const Topology& topology) const;

  // Drops what is above the limit; for a holder that let go of many. Get() does it, too.
  void Evict();

  // New rows have no node.
  void Grow(size_t rows);
  // Whether a node whose labels change so goes to another domain, or comes or leaves one.
  bool Moves(const api::StringMap& before, const api::StringMap& now) const;
  // The labels of `row` became `now`; an absent node has no labels.
  void Update(NodeRow row, const api::StringMap& before, const api::StringMap& now);

  size_t size() const { return by_use_.size(); }
  // About how much memory the topologies take, in bytes.
  size_t bytes() const;
  // How many topologies were looked at in vain, to drop them.
  uint64_t num_looks() const { return num_looks_; }

 private:
  // A topology and what its `domain_of` lies in: its own array while some node has the key, else
  // the one that all such topologies share.
  struct Live : Topology {
    std::vector<DomainId> own_domain_of;
  };
  using List = std::list<std::shared_ptr<Live>>;

  void Move(Live& topology, NodeRow row, const std::string* value);

  const size_t limit_;
  const ForEachNode for_each_node_;
  std::vector<DomainId> nowhere_;  // a row each, without a domain
  List by_use_;                    // last asked for first
  absl::flat_hash_map<std::string_view, List::iterator> by_key_;
  size_t num_left_ = 0;   // by the last Evict()
  size_t num_added_ = 0;  // since then
  uint64_t num_looks_ = 0;
};

}  // namespace berth::cache
