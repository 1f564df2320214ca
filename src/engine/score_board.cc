// SPDX-License-Identifier: Apache-2.0
#include "src/engine/score_board.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace berth::engine {
namespace {

constexpr size_t kBlock = 64;
constexpr size_t kGroup = 16;                  // blocks
static_assert(kBlock * kGroup <= UINT16_MAX);  // a cell counts its rows

size_t Blocks(size_t rows) { return (rows + kBlock - 1) / kBlock; }
size_t Groups(size_t blocks) { return (blocks + kGroup - 1) / kGroup; }

// The best of a block's rows, whose totals are whole. Every weighted score that moves brings all
// blocks here, but for those of the plugin that is kept apart, and mostly all their rows are
// feasible: these are gone through without a branch that depends on a total.
BestCell BestOfBlock(uint64_t rows, const int64_t* totals) {
  if (rows == ~uint64_t{0}) {
    // Four running maxima, so that none waits for the one before it; kept in registers by name.
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
    const int64_t best = std::max(std::max(a, b), std::max(c, d));
    int64_t ties = 0;
    for (size_t i = 0; i < kBlock; ++i) ties += totals[i] == best ? 1 : 0;
    return {best, BestCell::kWeighed, static_cast<uint16_t>(ties)};
  }
  BestCell best{std::numeric_limits<int64_t>::min(), BestCell::kWeighed, 0};
  for (; rows != 0; rows &= rows - 1) {
    const int64_t total = totals[std::countr_zero(rows)];
    if (total > best.total) {
      best = {total, BestCell::kWeighed, 1};
    } else if (total == best.total) {
      ++best.rows;
    }
  }
  return best;
}

// Far more than normalised scores can tell apart.
constexpr ScoreValues::Id kMaxValues = 8192;

}  // namespace

void ScoreBoard::Reset(size_t rows, size_t num_normalised, std::optional<size_t> apart) {
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
  apart_ = apart;
  const size_t width = apart ? CellMaker::kMaxCells : 1;
  blocks_.Reset(Blocks(rows), width);
  groups_.Reset(Groups(blocks_.size()), width);
  any_weighed_ = false;
  recount_ = false;
  reweigh_ = false;
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
  blocks_.Grow(Blocks(rows));
  groups_.Grow(Groups(blocks_.size()));
}

void ScoreBoard::MarkStale(NodeRow row) { blocks_.MarkStale(row / kBlock); }

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

int64_t ScoreBoard::ApartWeight(NodeRow row) const {
  if (!apart_) return 0;
  const Normalised& apart = normalised_[*apart_];
  return apart.values.weighted()[apart.ids[row]];
}

int64_t ScoreBoard::Weight(const BestCell& cell) const {
  if (cell.value == BestCell::kWeighed) return 0;
  return normalised_[*apart_].values.weighted()[cell.value];
}

void ScoreBoard::SumUp(size_t block) {
  const size_t begin = block * kBlock;
  const size_t end = std::min(begin + kBlock, num_rows());
  const int64_t* so_far = base_.data();
  for (size_t i = 0; i < normalised_.size(); ++i) {
    const Normalised& normalised = normalised_[i];
    const int64_t* weighted = normalised.values.weighted().data();
    if (apart_ == i || normalised.values.weightless()) continue;
    const ScoreValues::Id* ids = normalised.ids.data();
    for (size_t row = begin; row < end; ++row) totals_[row] = so_far[row] + weighted[ids[row]];
    so_far = totals_.data();
  }
  if (so_far != totals_.data()) std::copy(so_far + begin, so_far + end, totals_.data() + begin);
}

void ScoreBoard::RefreshBlock(size_t block) {
  SumUp(block);
  if (apart_ && MakeCells(block)) {
    blocks_.Set(block, maker_.cells());
    return;
  }
  any_weighed_ = true;
  const size_t begin = block * kBlock;
  const uint64_t rows = std::as_const(feasible_).words()[block];
  BestCell best;
  if (apart_) {
    std::array<int64_t, kBlock> whole{};
    const size_t count = std::min(kBlock, num_rows() - begin);
    for (size_t i = 0; i < count; ++i) {
      whole[i] = totals_[begin + i] + ApartWeight(static_cast<NodeRow>(begin + i));
    }
    best = BestOfBlock(rows, whole.data());
  } else {
    best = BestOfBlock(rows, totals_.data() + begin);
  }
  blocks_.Set(block, {&best, best.rows > 0 ? size_t{1} : size_t{0}});
}

// False: the rows have too many values.
bool ScoreBoard::MakeCells(size_t block) {
  const Normalised& apart = normalised_[*apart_];
  maker_.Begin(apart.values.weighted().size());
  uint64_t word = std::as_const(feasible_).words()[block];
  for (; word != 0; word &= word - 1) {
    const size_t row = block * kBlock + static_cast<size_t>(std::countr_zero(word));
    if (!maker_.Add({totals_[row], apart.ids[row], 1})) return false;
  }
  return true;
}

void ScoreBoard::RefreshGroup(size_t group) {
  const size_t begin = group * kGroup;
  const size_t end = std::min(begin + kGroup, blocks_.size());
  if (!apart_) {
    Best best;
    for (size_t block = begin; block < end; ++block) {
      for (const BestCell& cell : blocks_.Of(block)) best.Add(cell.total, cell.rows);
    }
    const BestCell cell{best.total, BestCell::kWeighed, static_cast<uint16_t>(best.ties)};
    groups_.Set(group, {&cell, best.ties > 0 ? size_t{1} : size_t{0}});
    return;
  }
  maker_.Begin(normalised_[*apart_].values.weighted().size());
  bool few = true;
  for (size_t block = begin; block < end && few; ++block) {
    for (const BestCell& cell : blocks_.Of(block)) few = few && maker_.Add(cell);
  }
  if (!few) {
    maker_.Begin(0);
    for (size_t block = begin; block < end; ++block) {
      for (const BestCell& cell : blocks_.Of(block)) {
        maker_.Add({cell.total + Weight(cell), BestCell::kWeighed, cell.rows});
      }
    }
    any_weighed_ = true;
  }
  groups_.Set(group, maker_.cells());
}

// What has the weights of before in its totals.
void ScoreBoard::MarkWeighedStale() {
  const auto mark = [](CellTable& parts) {
    for (size_t part = 0; part < parts.size(); ++part) {
      const auto cells = parts.Of(part);
      if (std::ranges::any_of(
              cells, [](const BestCell& cell) { return cell.value == BestCell::kWeighed; })) {
        parts.MarkStale(part);
      }
    }
  };
  mark(blocks_);
  mark(groups_);
}

ScoreBoard::Best ScoreBoard::BestOf(std::span<const BestCell> cells) const {
  Best best;
  for (const BestCell& cell : cells) best.Add(cell.total + Weight(cell), cell.rows);
  return best;
}

uint64_t ScoreBoard::Ties(std::span<const BestCell> cells, int64_t total) const {
  uint64_t ties = 0;
  for (const BestCell& cell : cells) {
    if (cell.total + Weight(cell) == total) ties += cell.rows;
  }
  return ties;
}

ScoreBoard::Best ScoreBoard::FindBest() {
  if (recount_) {
    any_weighed_ = false;
    for (size_t block = 0; block < blocks_.size(); ++block) RefreshBlock(block);
    for (size_t group = 0; group < groups_.size(); ++group) RefreshGroup(group);
  } else {
    if (apart_ && reweigh_ && std::exchange(any_weighed_, false)) MarkWeighedStale();
    for (const uint32_t block : blocks_.stale()) {
      RefreshBlock(block);
      groups_.MarkStale(block / kGroup);
    }
    for (const uint32_t group : groups_.stale()) RefreshGroup(group);
  }
  blocks_.ClearStale();
  groups_.ClearStale();
  recount_ = false;
  reweigh_ = false;
  Best best;
  for (size_t group = 0; group < groups_.size(); ++group) {
    const Best part = BestOf(groups_.Of(group));
    best.Add(part.total, part.ties);
  }
  return best;
}

NodeRow ScoreBoard::Nth(const Best& best, uint64_t skip) const {
  const auto find = [&](const CellTable& parts, size_t from) {
    for (;; ++from) {
      const uint64_t ties = Ties(parts.Of(from), best.total);
      if (skip < ties) return from;
      skip -= ties;
    }
  };
  const size_t group = find(groups_, 0);
  const size_t block = find(blocks_, group * kGroup);
  const uint64_t rows = std::as_const(feasible_).words()[block];
  const auto nth = [&](auto total_of) {
    for (uint64_t word = rows;; word &= word - 1) {
      const auto row =
          static_cast<NodeRow>(block * kBlock + static_cast<size_t>(std::countr_zero(word)));
      if (total_of(row) == best.total && skip-- == 0) return row;
    }
  };
  if (!apart_) return nth([this](NodeRow row) { return totals_[row]; });
  return nth([this](NodeRow row) { return totals_[row] + ApartWeight(row); });
}

size_t ScoreBoard::bytes() const {
  size_t bytes = sizeof(*this) + num_rows() * (sizeof(base_[0]) + sizeof(totals_[0])) +
                 blocks_.bytes() + groups_.bytes();
  for (const Normalised& normalised : normalised_) {
    bytes += num_rows() * (sizeof(ScoreValues::Id) + sizeof(int64_t)) + normalised.values.bytes();
  }
  return bytes;
}

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
  num_live_ = 0;
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

}  // namespace berth::engine
