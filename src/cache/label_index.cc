// SPDX-License-Identifier: Apache-2.0
#include "src/cache/label_index.h"

#include <utility>

namespace berth::cache {

LabelIndex::LabelIndex(Limits limits, ForEachNode for_each_node)
    : limits_(limits), for_each_node_(std::move(for_each_node)) {}

void LabelIndex::AddRows(std::string_view key, std::string_view value, NodeSet& out) {
  const KeyIndex& index = Find(key);
  if (const auto it = index.values.find(value); it != index.values.end()) it->second.AddTo(out);
}

void LabelIndex::AddRowsWithKey(std::string_view key, NodeSet& out) { Find(key).all.AddTo(out); }

void LabelIndex::Update(NodeRow row, const api::StringMap& before, const api::StringMap& now) {
  if (keys_.empty() || before == now) return;
  const auto indexed = [this](const std::string& key) {
    const auto it = keys_.find(key);
    return it == keys_.end() ? nullptr : &*it->second;
  };
  // Both lists are sorted by key: walk them side by side.
  auto old_label = before.begin();
  auto new_label = now.begin();
  while (old_label != before.end() || new_label != now.end()) {
    const bool old_first = new_label == now.end() ||
                           (old_label != before.end() && old_label->first <= new_label->first);
    const bool new_first = old_label == before.end() ||
                           (new_label != now.end() && new_label->first <= old_label->first);
    const bool unchanged = old_first && new_first && old_label->second == new_label->second;
    if (!unchanged) {
      if (KeyIndex* index = indexed(old_first ? old_label->first : new_label->first)) {
        if (old_first) Remove(*index, row, old_label->second);
        if (new_first) Add(*index, row, new_label->second);
      }
    }
    if (old_first) ++old_label;
    if (new_first) ++new_label;
  }
  Evict();
}

LabelIndex::KeyIndex& LabelIndex::Find(std::string_view key) {
  if (const auto it = keys_.find(key); it != keys_.end()) {
    by_use_.splice(by_use_.begin(), by_use_, it->second);
    return by_use_.front();
  }
  KeyIndex& index = by_use_.emplace_front();
  index.key = key;
  keys_.emplace(index.key, by_use_.begin());
  for_each_node_([&](NodeRow row, const api::StringMap& labels) {
    if (const std::string* value = api::Find(labels, index.key)) Add(index, row, *value);
  });
  Evict();
  return index;
}

void LabelIndex::Add(KeyIndex& index, NodeRow row, std::string_view value) {
  index.all.Add(row);
  const auto [it, inserted] = index.values.try_emplace(value);
  it->second.Add(row);
  if (inserted) ++num_pairs_;
}

void LabelIndex::Remove(KeyIndex& index, NodeRow row, std::string_view value) {
  index.all.Remove(row);
  const auto it = index.values.find(value);
  it->second.Remove(row);
  if (!it->second.empty()) return;
  index.values.erase(it);
  --num_pairs_;
}

void LabelIndex::Evict() {
  while (keys_.size() > 1 && (keys_.size() > limits_.keys || num_pairs_ > limits_.pairs)) {
    const KeyIndex& last = by_use_.back();
    num_pairs_ -= last.values.size();
    keys_.erase(last.key);
    by_use_.pop_back();
  }
}

}  // namespace berth::cache
