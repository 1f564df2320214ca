// SPDX-License-Identifier: Apache-2.0
#include "src/engine/score_values.h"

#include <algorithm>
#include <utility>

namespace berth::engine {
namespace {

// Far more than normalised scores can tell apart.
constexpr ScoreValues::Id kMaxValues = 8192;

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
