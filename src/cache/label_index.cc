// SPDX-License-Identifier: Apache-2.0
#include "src/cache/label_index.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace berth::cache {
namespace {

// A sparse row costs 32 bits, a dense one a bit for each row there is. The gap between the two
// limits keeps a set that wavers from being rebuilt each time.
constexpr size_t kMinDense = 64;
constexpr size_t kBitsPerSparseRow = 32;

}  // namespace

LabelIndex::LabelIndex(Limits limits, const LabelKeys& keys, ForEachNode for_each_node)
    : limits_(limits), node_keys_(keys), for_each_node_(std::move(for_each_node)) {}

void LabelIndex::AddRows(std::string_view key, std::string_view value, NodeSet& out) {
  const KeyIndex* index = Find(key);
  if (index == nullptr) return;
  if (const auto it = index->values.find(value); it != index->values.end()) it->second.AddTo(out);
}

void LabelIndex::AddRowsWithKey(std::string_view key, NodeSet& out) {
  if (const KeyIndex* index = Find(key)) index->all.AddTo(out);
}

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

LabelIndex::KeyIndex* LabelIndex::Find(std::string_view key) {
  if (const auto it = keys_.find(key); it != keys_.end()) {
    by_use_.splice(by_use_.begin(), by_use_, it->second);
    return &by_use_.front();
  }
  if (!node_keys_.Contains(key)) return nullptr;
  KeyIndex& index = by_use_.emplace_front();
  index.key = key;
  keys_.emplace(index.key, by_use_.begin());
  for_each_node_([&](NodeRow row, const api::StringMap& labels) {
    if (const std::string* value = api::Find(labels, index.key)) Add(index, row, *value);
  });
  Evict();
  return &index;
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

void RowSet::Add(NodeRow row) {
  ++count_;
  if (dense()) {
    if (row / 64 >= words_.size()) words_.resize(row / 64 + 1);
    words_[row / 64] |= uint64_t{1} << (row % 64);
    return;
  }
  rows_.insert(std::lower_bound(rows_.begin(), rows_.end(), row), row);
  if (count_ >= kMinDense && count_ * kBitsPerSparseRow > rows_.back()) MakeDense();
}

void RowSet::Remove(NodeRow row) {
  --count_;
  if (!dense()) {
    rows_.erase(std::lower_bound(rows_.begin(), rows_.end(), row));
    return;
  }
  words_[row / 64] &= ~(uint64_t{1} << (row % 64));
  if (count_ < kMinDense / 2 || count_ * 2 * kBitsPerSparseRow < words_.size() * 64) MakeSparse();
}

void RowSet::AddTo(NodeSet& out) const {
  for (const NodeRow row : rows_) out.Set(row);
  const auto words = out.words();
  const size_t common = std::min(words.size(), words_.size());
  for (size_t i = 0; i < common; ++i) words[i] |= words_[i];
}

void RowSet::MakeDense() {
  words_.assign(rows_.back() / 64 + 1, 0);
  for (const NodeRow row : rows_) words_[row / 64] |= uint64_t{1} << (row % 64);
  rows_ = {};
}

void RowSet::MakeSparse() {
  rows_.reserve(count_);
  for (size_t i = 0; i < words_.size(); ++i) {
    for (uint64_t word = words_[i]; word != 0; word &= word - 1)
      rows_.push_back(static_cast<NodeRow>(i * 64 + static_cast<size_t>(std::countr_zero(word))));
  }
  words_ = {};
}

}  // namespace berth::cache
