// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <yaml-cpp/anchor.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "berth/config_value.h"

namespace berth::documents {

// Where the values are that have an anchor. They stay in the tree: a copy of each would make
// anchors within anchors cost their number times their content.
//
// A collection that has an anchor, or has one inside, is known by the path to it: an index in its
// parent once it has ended, its depth among the open ones until then.
//
// Thread safety: one owner.
class YamlAnchors {
 public:
  static constexpr size_t kNone = SIZE_MAX;

  void Clear() {
    values_.clear();
    collections_.clear();
    detached_.clear();
  }

  // A scalar is small, and a key is no value of the tree.
  void SetScalar(YAML::anchor_t anchor, const ConfigValue& value) { At(anchor).scalar = value; }
  // The collection is open; its value is known once it has ended.
  void SetCollection(YAML::anchor_t anchor, size_t collection) {
    At(anchor).collection = collection;
  }

  // A collection `depth` deep among the open ones, in `parent`, or kNone.
  size_t Open(size_t parent, size_t depth) {
    collections_.push_back({parent, depth, true});
    return collections_.size() - 1;
  }
  // It has become the value at `index` of its parent.
  void Close(size_t collection, size_t index) {
    collections_[collection].index = index;
    collections_[collection].open = false;
  }
  // It has ended outside the tree: what << merges is no value of its map.
  void Detach(size_t collection, const ConfigValue& value) {
    collections_[collection] = {kNone, detached_.size(), false};
    detached_.push_back(value);
  }

  // The value of an anchor, or nullptr while that has not ended. `element_of_open` gives the value
  // at an index of the open collection of that depth.
  template <typename ElementOfOpen>
  const ConfigValue* Find(YAML::anchor_t anchor, const ElementOfOpen& element_of_open) const {
    if (anchor >= values_.size()) return nullptr;
    const Value& value = values_[anchor];
    if (value.scalar) return &*value.scalar;
    if (value.collection == kNone || collections_[value.collection].open) return nullptr;
    std::vector<size_t> path;
    const Collection* at = &collections_[value.collection];
    while (at->parent != kNone && !at->open) {
      path.push_back(at->index);
      at = &collections_[at->parent];
    }
    const ConfigValue* found = nullptr;
    if (at->open) {
      found = element_of_open(at->index, path.back());
      path.pop_back();
    } else {
      found = &detached_[at->index];
    }
    for (; !path.empty(); path.pop_back()) {
      found = found->list() != nullptr ? &(*found->list())[path.back()]
                                       : &(*found->map())[path.back()].second;
    }
    return found;
  }

 private:
  struct Value {
    std::optional<ConfigValue> scalar;
    size_t collection = kNone;
  };
  struct Collection {
    size_t parent = kNone;
    size_t index = 0;  // in the parent, in detached_, or the depth of an open one
    bool open = true;
  };

  Value& At(YAML::anchor_t anchor) {
    if (values_.size() <= anchor) values_.resize(anchor + 1);
    return values_[anchor];
  }

  std::vector<Value> values_;  // by the parser's number
  std::vector<Collection> collections_;
  std::vector<ConfigValue> detached_;
};

}  // namespace berth::documents
