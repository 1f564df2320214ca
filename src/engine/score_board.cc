// SPDX-License-Identifier: Apache-2.0
#include "src/engine/score_board.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace berth::engine {
namespace {

constexpr size_t kBlock = 64;
// Far more than normalised scores can tell apart.
constexpr ScoreValues::Id kMaxValues = 8192;

size_t Blocks(size_t rows) { return (rows + kBlock - 1) / kBlock; }

}  // namespace

std::optional<ScoreValues::Id> ScoreValues::Number(int64_t raw) {
  if (numbered_) return static_cast<Id>(raw);
  // Rows that are looked at together mostly score alike.
  if (!values_.empty() && last_raw_ == raw) return last_id_;
  auto at = ids_.find(raw);
  if (at == ids_.end()) {
    const Id id = NewId();
    if (id == kMaxValues) return std::nullopt;
    values_[id].raw = raw;
    at = ids_.emplace(raw, id).first;
  }
  last_raw_ = raw;
  last_id_ = at->second;
  return last_id_;
}

ScoreValues::Id ScoreValues::NewId() {
  while (!unused_.empty()) {
    const Id id = unused_.back();
    unused_.pop_back();
    const auto known = ids_.find(values_[id].raw);
    if (values_[id].rows > 0 || known == ids_.end() || known->second != id) continue;
    ids_.erase(known);
    return id;
  }
  if (values_.size() == kMaxValues) return kMaxValues;
  values_.emplace_back();
  weighted_.push_back(0);
  return static_cast<Id>(values_.size() - 1);
}

void ScoreValues::SetNumbers(std::span<const int64_t> raw) {
  numbered_ = true;
  if (raw.size() > values_.size()) {
    values_.resize(raw.size());
    weighted_.resize(raw.size());
  }
  for (size_t id = 0; id < raw.size(); ++id) {
    const bool differs = std::exchange(values_[id].raw, raw[id]) != raw[id];
    changed_ = changed_ || (differs && values_[id].rows > 0);
  }
}

void ScoreValues::Live(std::vector<int64_t>& raw, std::vector<Id>& ids) const {
  ids.clear();
  for (size_t id = 0; id < values_.size(); ++id) {
    if (values_[id].rows > 0) ids.push_back(static_cast<Id>(id));
  }
  std::ranges::sort(ids, {}, [this](Id id) { return values_[id].raw; });
  raw.clear();
  for (const Id id : ids) raw.push_back(values_[id].raw);
}

bool ScoreValues::SetWeighted(std::span<const Id> ids, std::span<const int64_t> weighted) {
  changed_ = false;
  weightless_ = std::ranges::all_of(weighted, [](int64_t score) { return score == 0; });
  bool differs = false;
  for (size_t i = 0; i < ids.size(); ++i) {
    differs = std::exchange(weighted_[ids[i]], weighted[i]) != weighted[i] || differs;
  }
  return differs;
}

void ScoreValues::Clear() {
  changed_ = true;
  numbered_ = false;
  weightless_ = true;
  values_.clear();
  weighted_.clear();
  ids_.clear();
  unused_.clear();
}

size_t ScoreValues::bytes() const {
  return values_.capacity() * sizeof(values_[0]) + weighted_.capacity() * sizeof(weighted_[0]) +
         ids_.capacity() * (sizeof(std::pair<int64_t, Id>) + 1);
}

void ScoreBoard::Reset(size_t rows, size_t num_normalised) {
  feasible_.Assign(rows, false);
  known_.Assign(rows, false);
  num_feasible_ = 0;
  base_.assign(rows, 0);
  totals_.assign(rows, 0);
  normalised_.resize(num_normalised);
  for (Normalised& normalised : normalised_) {
    normalised.ids.assign(rows, 0);
    normalised.raw.assign(rows, 0);
    normalised.values.Clear();
  }
  blocks_.assign(Blocks(rows), Best());
  groups_.assign(Blocks(blocks_.size()), Best());
  stale_.assign(Blocks(rows), 0);
  stale_blocks_.clear();
  recount_ = false;
}

void ScoreBoard::Grow(size_t rows) {
  if (rows == num_rows()) return;
  feasible_.Resize(rows);
  known_.Resize(rows);
  base_.resize(rows);
  totals_.resize(rows);
  for (Normalised& normalised : normalised_) {
    normalised.ids.resize(rows);
    normalised.raw.resize(rows);
  }
  blocks_.resize(Blocks(rows));
  groups_.resize(Blocks(blocks_.size()));
  stale_.resize(Blocks(rows));
}

void ScoreBoard::MarkStale(NodeRow row) {
  const size_t block = row / kBlock;
  if (std::exchange(stale_[block], 1) == 0) stale_blocks_.push_back(static_cast<uint32_t>(block));
}

void ScoreBoard::Hide(NodeRow row) {
  if (!feasible_.Test(row)) return;
  feasible_.Clear(row);
  --num_feasible_;
  for (Normalised& normalised : normalised_) normalised.values.Remove(normalised.ids[row]);
  MarkStale(row);
}

bool ScoreBoard::Show(NodeRow row) {
  if (!known_.Test(row)) return false;
  if (feasible_.Test(row)) return true;
  for (const Normalised& normalised : normalised_) {
    // What stood for its score may stand for another one by now.
    if (!normalised.values.Stands(normalised.ids[row], normalised.raw[row])) return false;
  }
  feasible_.Set(row);
  ++num_feasible_;
  for (Normalised& normalised : normalised_) normalised.values.Add(normalised.ids[row]);
  MarkStale(row);
  return true;
}

bool ScoreBoard::Put(NodeRow row, int64_t base, std::span<const int64_t> raw) {
  const bool was_feasible = feasible_.Test(row);
  for (size_t i = 0; i < normalised_.size(); ++i) {
    Normalised& normalised = normalised_[i];
    const auto id = normalised.values.Number(raw[i]);
    if (!id) return false;
    if (was_feasible) {
      if (normalised.ids[row] == *id) continue;
      normalised.values.Remove(normalised.ids[row]);
    }
    normalised.values.Add(*id);
    normalised.ids[row] = *id;
    normalised.raw[row] = raw[i];
  }
  base_[row] = base;
  known_.Set(row);
  if (!was_feasible) {
    feasible_.Set(row);
    ++num_feasible_;
  }
  MarkStale(row);
  return true;
}

void ScoreBoard::RecountBlock(size_t block) {
  const size_t begin = block * kBlock;
  const size_t end = std::min(begin + kBlock, num_rows());
  const int64_t* so_far = base_.data();
  for (const Normalised& normalised : normalised_) {
    const int64_t* weighted = normalised.values.weighted().data();
    if (normalised.values.weightless()) continue;
    const ScoreValues::Id* ids = normalised.ids.data();
    for (size_t row = begin; row < end; ++row) totals_[row] = so_far[row] + weighted[ids[row]];
    so_far = totals_.data();
  }
  if (so_far != totals_.data()) std::copy(so_far + begin, so_far + end, totals_.data() + begin);
}

// Every weighted score that moves brings all blocks here, and mostly all their rows are feasible:
// these are gone through without a branch that depends on a total.
void ScoreBoard::FindBlockBest(size_t block) {
  Best best;
  const size_t begin = block * kBlock;
  uint64_t word = std::as_const(feasible_).words()[block];
  if (word == ~uint64_t{0}) {
    // Four running maxima, so that none waits for the one before it; kept in registers by name.
    const int64_t* totals = totals_.data() + begin;
    int64_t a = totals[0];
    int64_t b = totals[1];
    int64_t c = totals[2];
    int64_t d = totals[3];
    for (size_t i = 4; i < kBlock; i += 4) {
      a = std::max(a, totals[i]);
      b = std::max(b, totals[i + 1]);
      c = std::max(c, totals[i + 2]);
      d = std::max(d, totals[i + 3]);
    }
    best.total = std::max(std::max(a, b), std::max(c, d));
    int64_t ties = 0;
    for (size_t i = 0; i < kBlock; ++i) ties += totals[i] == best.total ? 1 : 0;
    best.ties = static_cast<uint64_t>(ties);
    blocks_[block] = best;
    return;
  }
  for (; word != 0; word &= word - 1) {
    const int64_t total = totals_[begin + static_cast<size_t>(std::countr_zero(word))];
    if (total > best.total) {
      best = {total, 1};
    } else if (total == best.total) {
      ++best.ties;
    }
  }
  blocks_[block] = best;
}

ScoreBoard::Best ScoreBoard::BestOf(std::span<const Best> parts) {
  Best best;
  for (const Best& part : parts) {
    if (part.total > best.total) {
      best = part;
    } else if (part.total == best.total) {
      best.ties += part.ties;
    }
  }
  return best;
}

ScoreBoard::Best ScoreBoard::FindBest() {
  const auto refresh = [this](size_t block) {
    RecountBlock(block);
    FindBlockBest(block);
  };
  const auto refresh_group = [this](size_t group) {
    const size_t begin = group * kBlock;
    const size_t count = std::min(kBlock, blocks_.size() - begin);
    groups_[group] = BestOf(std::span(blocks_).subspan(begin, count));
  };
  if (recount_) {
    for (size_t block = 0; block < blocks_.size(); ++block) refresh(block);
    for (size_t group = 0; group < groups_.size(); ++group) refresh_group(group);
  } else {
    for (const uint32_t block : stale_blocks_) refresh(block);
    size_t last = SIZE_MAX;
    for (const uint32_t block : stale_blocks_) {
      if (std::exchange(last, block / kBlock) != block / kBlock) refresh_group(block / kBlock);
    }
  }
  for (const uint32_t block : stale_blocks_) stale_[block] = 0;
  stale_blocks_.clear();
  recount_ = false;
  return BestOf(groups_);
}

NodeRow ScoreBoard::Nth(const Best& best, uint64_t skip) const {
  const auto find = [&](std::span<const Best> parts, size_t from) {
    for (;; ++from) {
      if (parts[from].total != best.total) continue;
      if (skip < parts[from].ties) return from;
      skip -= parts[from].ties;
    }
  };
  const size_t group = find(groups_, 0);
  const size_t block = find(blocks_, group * kBlock);
  for (uint64_t word = std::as_const(feasible_).words()[block];; word &= word - 1) {
    const size_t row = block * kBlock + static_cast<size_t>(std::countr_zero(word));
    if (totals_[row] == best.total && skip-- == 0) return static_cast<NodeRow>(row);
  }
}

size_t ScoreBoard::bytes() const {
  size_t bytes = sizeof(*this) + num_rows() * (sizeof(base_[0]) + sizeof(totals_[0])) +
                 blocks_.size() * (sizeof(Best) + 8);
  for (const Normalised& normalised : normalised_) {
    bytes += num_rows() * (sizeof(ScoreValues::Id) + sizeof(int64_t)) + normalised.values.bytes();
  }
  return bytes;
}

}  // namespace berth::engine
