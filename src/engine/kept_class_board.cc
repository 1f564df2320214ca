// SPDX-License-Identifier: Apache-2.0
// What a class does with its board: who scores, the sum of each row, and the choice.
#include <algorithm>
#include <bit>
#include <utility>

#include "src/engine/kept_class.h"

namespace berth::engine {

// Of the scores that have groups those with the fewest are kept apart: a placed pod moves the score
// of a group, and few nodes' group.
void KeptClass::ResetBoard(size_t rows) {
  std::optional<size_t> apart;
  size_t fewest = SIZE_MAX;
  for (size_t i = 0; i < normalised_.size(); ++i) {
    const auto& groups = scores_[normalised_[i]]->groups();
    if (!groups || groups->raw.size() >= fewest) continue;
    apart = i;
    fewest = groups->raw.size();
  }
  board_.Reset(rows, normalised_.size(), apart);
  sample_blocks_.Forget();
  touched_.AssignAll(rows);
  touched_scores_.AssignAll(rows);
}

// Which plugins score this class; another board where they are others than last time.
void KeptClass::SortScores() {
  size_t plain = 0;
  size_t normalised = 0;
  bool same = true;
  for (size_t i = 0; i < scores_.size(); ++i) {
    if (scores_[i]->skipped()) continue;
    const bool normalises = scores_[i]->step().normalises;
    std::vector<size_t>& sorted = normalises ? normalised_ : plain_;
    size_t& next = normalises ? normalised : plain;
    if (next == sorted.size()) sorted.push_back(SIZE_MAX);
    same = std::exchange(sorted[next++], i) == i && same;
  }
  same = same && plain == plain_.size() && normalised == normalised_.size();
  plain_.resize(plain);
  normalised_.resize(normalised);
  raw_.resize(normalised);
  grouped_.resize(normalised);
  for (size_t i = 0; i < normalised; ++i) {
    const uint8_t grouped = scores_[normalised_[i]]->groups().has_value() ? 1 : 0;
    same = std::exchange(grouped_[i], grouped) == grouped && same;
  }
  if (!same) ResetBoard(board_.num_rows());
  for (size_t i = 0; i < normalised; ++i) {
    if (grouped_[i] != 0) board_.values(i).SetNumbers(scores_[normalised_[i]]->groups()->raw);
  }
}

bool KeptClass::UpdateBoard(const DecisionInput& input) {
  bool kept = true;
  touched_scores_.ForEach([&](NodeRow row) {
    if (feasible_.Test(row)) {
      kept = PutOnBoard(row) && kept;
    } else {
      board_.Remove(row);
    }
  });
  // The others pass now, or do not, but score as they did.
  const std::span<const uint64_t> feasible = std::as_const(feasible_).words();
  for (size_t i = touched_.first(); i < touched_.end(); ++i) {
    uint64_t differ = touched_.word(i) & (feasible[i] ^ board_.feasible().words()[i]);
    for (; differ != 0; differ &= differ - 1) {
      const auto row = static_cast<NodeRow>(i * 64 + static_cast<size_t>(std::countr_zero(differ)));
      if (!feasible_.Test(row)) {
        board_.Hide(row);
      } else if (!board_.Show(row)) {
        kept = PutOnBoard(row) && kept;
      }
    }
  }
  for (size_t i = 0; i < normalised_.size(); ++i) {
    const TouchedRows& rows = touched_by_plugin_[normalised_[i]];
    if (rows.Empty()) continue;
    const KeptScores& scores = *scores_[normalised_[i]];
    const bool set =
        scores.groups()
            ? board_.SetRaw(
                  i, rows,
                  [of = scores.groups()->group_of](NodeRow row) { return int64_t{of[row]}; })
            : board_.SetRaw(i, rows, [raw = scores.raw()](NodeRow row) { return raw[row]; });
    kept = set && kept;
  }
  if (on_board_) {
    sample_blocks_.Touch(*input.order, touched_);
    sample_blocks_.Touch(*input.order, touched_scores_);
  } else {
    sample_blocks_.Forget();
  }
  touched_.Clear();
  touched_scores_.Clear();
  for (TouchedRows& rows : touched_by_plugin_) rows.Clear();
  return kept;
}

bool KeptClass::PutOnBoard(NodeRow row) {
  bool in_range = true;
  int64_t base = 0;
  for (const size_t i : plain_) {
    const KeptScores& scores = *scores_[i];
    const int64_t raw = scores.raw()[row];
    in_range = in_range && framework::IsNodeScore(raw);
    base += raw * scores.step().score->weight;
  }
  for (size_t i = 0; i < normalised_.size(); ++i) {
    const KeptScores& scores = *scores_[normalised_[i]];
    raw_[i] = scores.groups() ? scores.groups()->group_of[row] : scores.raw()[row];
  }
  return board_.Put(row, base, raw_) && in_range;
}

bool KeptClass::UpdateWeighted(const DecisionInput& input) {
  for (size_t i = 0; i < normalised_.size(); ++i) {
    const KeptScores& scores = *scores_[normalised_[i]];
    if (!scores.skipped() && !scores.step().score->extensions->NormalizesByValue(scores.state())) {
      return false;
    }
    if (board_.values(i).changed() && !Normalise(input, i)) return false;
  }
  return true;
}

bool KeptClass::Normalise(const DecisionInput& input, size_t normalised) {
  const KeptScores& scores = *scores_[normalised_[normalised]];
  const framework::ScoreEntry& entry = *scores.step().score;
  ScoreValues& values = board_.values(normalised);
  values.Live(live_raw_, live_ids_);
  no_rows_.assign(live_raw_.size(), kNoRow);
  if (!framework::RunNormalizeScore(entry, scores.state(), input.pod, no_rows_, live_raw_).ok()) {
    return false;
  }
  // What all rows share decides nothing, and mostly stays that way while its score moves.
  if (live_raw_.size() == 1) live_raw_.front() = 0;
  for (int64_t& weighted : live_raw_) weighted *= entry.weight;
  if (values.SetWeighted(live_ids_, live_raw_)) board_.Recount(normalised);
  return true;
}

void KeptClass::Choose(Random& random, Decision& decision) {
  const ScoreBoard::Best best = board_.FindBest();
  decision.feasible_nodes = board_.num_feasible();
  decision.node = board_.Nth(best, best.ties == 1 ? 0 : random.Below(best.ties));
}

// What the nodes of the sample have in common decides nothing, and mostly that is all that is
// normalised; else what a node is normalised to depends on the sample, and each is looked at.
bool KeptClass::ChooseFromSample(const DecisionInput& input, Random& random, Decision& decision) {
  const SearchOrder& order = *input.order;
  const Sample& sample = *input.sample;
  sample_blocks_.Refresh(order, board_);
  const SampleBlocks::Range range = sample_blocks_.Find(sample.start % order.size(), sample.wanted);
  looked_at_ = range.count;
  decision.feasible_nodes = std::min(board_.num_feasible(), sample.wanted);
  bool alike = true;
  for (size_t i = 0; i < normalised_.size(); ++i) alike = alike && board_.values(i).num_live() <= 1;
  if (!alike) return ChooseByEach(input, range, random, decision);
  const ScoreBoard::Best best = sample_blocks_.FindBest(range);
  decision.node =
      sample_blocks_.Nth(range, best, best.ties == 1 ? 0 : random.Below(best.ties), input.room.set);
  return true;
}

bool KeptClass::ChooseByEach(const DecisionInput& input, const SampleBlocks::Range& range,
                             Random& random, Decision& decision) {
  std::vector<NodeRow>& rows = input.room.rows;
  std::vector<int64_t>& scores = input.room.scores;
  sample_blocks_.Collect(range, input.room.set);
  rows.clear();
  input.room.set.ForEach([&rows](NodeRow row) { rows.push_back(row); });
  totals_.resize(rows.size());
  for (size_t i = 0; i < rows.size(); ++i) totals_[i] = board_.base(rows[i]);
  scores.resize(rows.size());
  for (size_t n = 0; n < normalised_.size(); ++n) {
    if (board_.values(n).num_live() <= 1) continue;
    const KeptScores& kept = *scores_[normalised_[n]];
    const framework::ScoreEntry& entry = *kept.step().score;
    for (size_t i = 0; i < rows.size(); ++i) scores[i] = kept.raw()[rows[i]];
    if (!framework::RunNormalizeScore(entry, kept.state(), input.pod, rows, scores).ok()) {
      return false;
    }
    for (size_t i = 0; i < rows.size(); ++i) totals_[i] += scores[i] * entry.weight;
  }
  const int64_t best = *std::ranges::max_element(totals_);
  const auto ties = static_cast<uint64_t>(std::ranges::count(totals_, best));
  uint64_t skip = ties == 1 ? 0 : random.Below(ties);
  size_t at = 0;
  while (totals_[at] != best || skip-- > 0) ++at;
  decision.node = rows[at];
  return true;
}

}  // namespace berth::engine
