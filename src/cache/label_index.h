// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <string>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "berth/api/meta.h"
#include "berth/node_set.h"
#include "src/base/string_map.h"
#include "src/cache/row_set.h"

namespace berth::cache {

// Which rows carry a label pair or key. A key is indexed, with all its values, the first time
// a reader asks for it, and kept up to date from then on. When the index holds more than its
// limits allow, the keys asked for longest ago are dropped; that costs time, never correctness.
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

  // `for_each_node` is called when a key is built.
  LabelIndex(Limits limits, ForEachNode for_each_node);

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

  KeyIndex& Find(std::string_view key);
  void Add(KeyIndex& index, NodeRow row, std::string_view value);
  void Remove(KeyIndex& index, NodeRow row, std::string_view value);
  void Evict();

  const Limits limits_;
  const ForEachNode for_each_node_;
  KeyList by_use_;  // last asked for first
  absl::flat_hash_map<std::string_view, KeyList::iterator> keys_;
  size_t num_pairs_ = 0;
};

}  // namespace berth::cache
