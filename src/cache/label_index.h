// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "berth/api/meta.h"
#include "berth/node_set.h"
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

// A set of rows that costs what is in it: sorted rows while few, one bit a row when many.
//
// Thread safety: one owner.
class RowSet {
 public:
  // `row` must not be in the set.
  void Add(NodeRow row);
  // `row` must be in the set.
  void Remove(NodeRow row);

  size_t size() const { return count_; }
  bool empty() const { return count_ == 0; }
  bool dense() const { return !words_.empty(); }
  // Adds every row to `out`, which has room for them.
  void AddTo(NodeSet& out) const;

 private:
  void MakeDense();
  void MakeSparse();

  std::vector<NodeRow> rows_;    // ascending; empty when dense
  std::vector<uint64_t> words_;  // row 0 in the lowest bit of the first; empty when sparse
  size_t count_ = 0;
};

// Which rows carry a label pair or key. A key is indexed, with all its values, the first time
// a reader asks for it, and kept up to date from then on. When the index holds more than its
// limits allow, the keys asked for longest ago are dropped; that costs time, never correctness. A
// key that no node has is not indexed.
//
// Thread safety: one owner.
class LabelIndex {
 public:
  struct Limits {
    size_t keys = 256;
    size_t pairs = 1u << 17;  // over all keys; the key last asked for is always kept
  };
  // Calls its argument with every row that has a node, and the node's labels.
  using ForEachNode =
      std::function<void(const std::function<void(NodeRow, const api::StringMap&)>&)>;

  // `for_each_node` is called when a key is built, which is one of `keys`: those that nodes have.
  // `keys` must outlive the index.
  LabelIndex(Limits limits, const LabelKeys& keys, ForEachNode for_each_node);

  // Adds to `out` the rows that carry the pair, or the key.
  void AddRows(std::string_view key, std::string_view value, NodeSet& out);
  void AddRowsWithKey(std::string_view key, NodeSet& out);

  // The labels of `row` became `now`; an absent node has no labels.
  void Update(NodeRow row, const api::StringMap& before, const api::StringMap& now);

  size_t num_keys() const { return keys_.size(); }
  size_t num_pairs() const { return num_pairs_; }

 private:
  struct KeyIndex {
    std::string key;
    RowSet all;
    base::StringMap<RowSet> values;  // none of them empty
  };
  using KeyList = std::list<KeyIndex>;

  // nullptr: no row has the key.
  KeyIndex* Find(std::string_view key);
  void Add(KeyIndex& index, NodeRow row, std::string_view value);
  void Remove(KeyIndex& index, NodeRow row, std::string_view value);
  void Evict();

  const Limits limits_;
  const LabelKeys& node_keys_;
  const ForEachNode for_each_node_;
  KeyList by_use_;  // last asked for first
  absl::flat_hash_map<std::string_view, KeyList::iterator> keys_;
  size_t num_pairs_ = 0;
};

}  // namespace berth::cache
