// SPDX-License-Identifier: Apache-2.0
#include "berth/counts.h"

#include <algorithm>

namespace berth {
namespace {

// An array takes 4 bytes an id, a pair 8 a count. The bounds lie apart, so that a count that comes
// and goes does not make the form change each time.
constexpr size_t kMinDense = 32;
constexpr size_t kIdsPerCountToBecomeDense = 4;
constexpr size_t kIdsPerCountToBecomeSparse = 16;

template <typename Sparse>
auto Find(Sparse& sparse, uint32_t id) {
  return std::lower_bound(sparse.begin(), sparse.end(), id,
                          [](const auto& entry, uint32_t wanted) { return entry.first < wanted; });
}

}  // namespace

int32_t Counts::Get(uint32_t id) const {
  if (!dense_.empty()) return id < dense_.size() ? dense_[id] : 0;
  const auto at = Find(sparse_, id);
  return at != sparse_.end() && at->first == id ? at->second : 0;
}

void Counts::Add(uint32_t id, int32_t delta) {
  if (delta == 0) return;
  total_ += delta;
  if (!dense_.empty() && id >= kIdsPerCountToBecomeSparse * size_) BecomeSparse();
  if (dense_.empty()) {
    AddSparse(id, delta);
  } else {
    AddDense(id, delta);
  }
}

void Counts::AddSparse(uint32_t id, int32_t delta) {
  const auto at = Find(sparse_, id);
  if (at == sparse_.end() || at->first != id) {
    sparse_.insert(at, {id, delta});
  } else {
    at->second += delta;
    if (at->second == 0) {
      sparse_.erase(at);
      if (sparse_.capacity() > 4 * sparse_.size() + kMinDense) sparse_.shrink_to_fit();
    }
  }
  size_ = sparse_.size();
  if (size_ >= kMinDense && sparse_.back().first < kIdsPerCountToBecomeDense * size_) BecomeDense();
}

void Counts::AddDense(uint32_t id, int32_t delta) {
  if (id >= dense_.size()) dense_.resize(id + 1);
  int32_t& count = dense_[id];
  if (count == 0) ++size_;
  count += delta;
  if (count != 0) return;
  --size_;
  if (dense_.size() > kIdsPerCountToBecomeSparse * size_) BecomeSparse();
}

void Counts::BecomeDense() {
  dense_.resize(sparse_.back().first + 1);
  for (const auto& [id, count] : sparse_) dense_[id] = count;
  sparse_ = decltype(sparse_)();
}

void Counts::BecomeSparse() {
  sparse_.reserve(size_ + 1);
  ForEach([this](uint32_t id, int32_t count) { sparse_.emplace_back(id, count); });
  dense_ = decltype(dense_)();
}

bool operator==(const Counts& a, const Counts& b) {
  if (a.size_ != b.size_ || a.total_ != b.total_) return false;
  bool same = true;
  a.ForEach([&](uint32_t id, int32_t count) { same = same && b.Get(id) == count; });
  return same;
}

}  // namespace berth
