// SPDX-License-Identifier: Apache-2.0
#include "src/engine/kept_class.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

#include "src/framework/guarded.h"
#include "src/framework/timing.h"

namespace berth::engine {
namespace {

using framework::ExtensionPoint;

constexpr size_t kPlaces = 64;

uint64_t Below(size_t place) {
  return place == kPlaces ? ~uint64_t{0} : (uint64_t{1} << place) - 1;
}

// The one of `bits` that has `skip` others before it.
size_t NthBit(uint64_t bits, uint64_t skip) {
  for (; skip > 0; --skip) bits &= bits - 1;
  return static_cast<size_t>(std::countr_zero(bits));
}

}  // namespace

KeptClass::KeptClass(const EvaluationPlan& plan, std::vector<SharedVerdicts> verdicts,
                     std::vector<SharedScores> scores, size_t pod_bytes, size_t& kept_bytes)
    : plan_(plan),
      verdicts_(std::move(verdicts)),
      scores_(std::move(scores)),
      touched_by_plugin_(scores_.size()),
      nominations_(kept_bytes),
      pod_bytes_(pod_bytes),
      bytes_(kept_bytes) {}

KeptClass::Outcome KeptClass::Decide(const DecisionInput& input, Random& random,
                                     Decision& decision) {
  const Outcome outcome = DecideAmongNodes(input, random, decision);
  CountBytes();
  return outcome;
}

KeptClass::Outcome KeptClass::DecideAmongNodes(const DecisionInput& input, Random& random,
                                               Decision& decision) {
  framework::PointTimer filter_timer(input.profile, input.cycle.observer, ExtensionPoint::kFilter);
  const cache::Cache& cache = input.changes.cache();
  NoteChanges(input.changes);
  on_board_ = input.sample != nullptr && !ScoresReadFeasible();
  if (!RefreshVerdicts(input)) return Outcome::kNotKept;
  FindPassed(cache);
  // Then nominations have nothing to take away, and there may be a crowd of them.
  if (passed_.Empty()) return Outcome::kByItself;
  if (!AskOwnFilters(input)) return Outcome::kByItself;
  if (feasible_.Empty() || !SkipsOwnScores(input)) return Outcome::kByItself;
  filter_timer.Finish(Code::kSuccess);

  framework::PointTimer score_timer(input.profile, input.cycle.observer, ExtensionPoint::kScore);
  if (!RefreshScores(input)) return Outcome::kNotKept;
  // They read by now which nodes are feasible, and know nothing of the sample.
  if (on_board_ && ScoresReadFeasible()) return Outcome::kByItself;
  SortScores();
  if (!UpdateBoard(input)) return Outcome::kNotKept;
  if (!UpdateWeighted(input)) return Outcome::kNotKept;
  if (!on_board_) {
    Choose(random, decision);
  } else if (!ChooseFromSample(input, random, decision)) {
    return Outcome::kNotKept;
  }
  decision.kind = Decision::Kind::kScheduled;
  decision.kept = true;
  decision.evaluated_nodes = looked_at_;
  score_timer.Finish(Code::kSuccess);
  return Outcome::kDecided;
}

// What the board has not yet seen stays in touched_: it is not asked where nothing is feasible.
void KeptClass::NoteChanges(Changes& changes) {
  const size_t rows = changes.cache().num_rows();
  changes.Read(generation_);
  generation_ = changes.generation();
  if (!changes.complete() || board_.num_rows() == 0) {
    ResetBoard(rows);
    return;
  }
  board_.Grow(rows);
  touched_.Resize(rows);
  touched_scores_.Resize(rows);
  const auto touch = [this](std::span<const NodeRow> changed) {
    for (const NodeRow row : changed) {
      touched_.Set(row);
      touched_scores_.Set(row);
    }
  };
  touch(changes.pods());
  touch(changes.nodes());
  if (plan_.filters_read_measured()) {
    touch(changes.measured());
  } else if (plan_.scores_read_measured()) {
    for (const NodeRow row : changes.measured()) touched_scores_.Set(row);
  }
}

bool KeptClass::RefreshVerdicts(const DecisionInput& input) {
  for (const SharedVerdicts& verdicts : verdicts_) {
    if (!verdicts->Refresh(input, touched_)) return false;
    if (verdicts->num_asked() > 0) {
      framework::CountEvaluations(input.profile, input.cycle.observer, verdicts->step().name,
                                  ExtensionPoint::kFilter, verdicts->num_asked());
    }
  }
  return true;
}

void KeptClass::FindPassed(const cache::Cache& cache) {
  passed_.Resize(cache.num_rows());
  const std::span<uint64_t> passed = passed_.words();
  const std::span<const uint64_t> nodes = cache.nodes().words();
  const std::span<const uint64_t> closed = cache.closed_nodes().words();
  for (size_t i = touched_.first(); i < touched_.end(); ++i) {
    const uint64_t touched = touched_.word(i);
    if (touched == 0) continue;
    uint64_t now = nodes[i] & ~closed[i];
    for (const SharedVerdicts& verdicts : verdicts_) {
      if (!verdicts->passes_all()) now &= std::as_const(*verdicts).passed().words()[i];
    }
    passed[i] = (passed[i] & ~touched) | (now & touched);
  }
}

// False: the pod is rejected for all nodes, or some are named for it, or a plugin fails.
bool KeptClass::AskOwnPreFilters(const DecisionInput& input) {
  own_filters_.clear();
  size_t verdicts_before = 0;
  for (const FilterStep& step : plan_.filters()) {
    if (!step.each_pod) {
      ++verdicts_before;
      continue;
    }
    bool names_nodes = false;
    Status status;
    if (step.pre_filter != nullptr) {
      status = framework::Guarded(input.cycle.state, [&] {
        PreFilterResult result =
            step.pre_filter->PreFilter(input.cycle.state, input.pod, input.changes.cache());
        names_nodes = result.node_names.has_value();
        return result.status;
      });
    }
    if (status.skip()) continue;
    if (!status.ok() || names_nodes) return false;
    if (step.filter != nullptr) own_filters_.push_back({&step, verdicts_before});
  }
  return true;
}

// False: a plugin fails, or a filter that is asked about each pod would have to imagine pods, too.
bool KeptClass::AskNominations(const DecisionInput& input) {
  if (input.nominated == nullptr) {
    nominations_.Clear();
    return true;
  }
  return own_filters_.empty() && nominations_.Refresh(input, verdicts_);
}

// Leaves of `nodes` those that pass these of verdicts_.
void KeptClass::ApplyVerdicts(size_t first, size_t end, NodeSet& nodes) const {
  for (size_t i = first; i < end; ++i) {
    if (!verdicts_[i]->passes_all()) nodes &= std::as_const(*verdicts_[i]).passed();
  }
}

// Takes out of what the class passes what the pod's own filters reject, what lies outside its
// placement, what is promised to nominated pods, and what is not in the sample, unless that is
// found on the board. A filter is asked
// about all that those before it pass: it may fail on a node that a later one rejects.
bool KeptClass::AskOwnFilters(const DecisionInput& input) {
  if (!AskOwnPreFilters(input) || !AskNominations(input)) return false;
  const cache::Cache& cache = input.changes.cache();
  const std::span<const uint64_t> passed = std::as_const(passed_).words();
  rejected_.Resize(cache.num_rows());
  feasible_.Resize(cache.num_rows());
  looked_at_ = input.placement == nullptr ? cache.num_nodes() : input.placement->Count();
  if (own_filters_.empty() && input.placement == nullptr && nominations_.rejected().empty() &&
      (input.sample == nullptr || on_board_) && !any_rejected_) {
    for (size_t i = touched_.first(); i < touched_.end(); ++i) feasible_.words()[i] = passed[i];
    return true;
  }
  size_t applied = verdicts_.size();
  if (own_filters_.empty() || own_filters_.front().verdicts_before == applied) {
    left_ = passed_;
  } else {
    left_ = cache.nodes();
    left_ -= cache.closed_nodes();
    applied = 0;
  }
  if (input.placement != nullptr) left_ &= *input.placement;
  for (const OwnFilter& own : own_filters_) {
    ApplyVerdicts(applied, own.verdicts_before, left_);
    applied = std::max(applied, own.verdicts_before);
    framework::CountEvaluations(input.profile, input.cycle.observer, own.step->name,
                                ExtensionPoint::kFilter, left_.Count());
    if (!framework::RunFilterNodes(*own.step->filter, input.cycle.state, input.pod, cache, left_)
             .ok()) {
      return false;
    }
  }
  ApplyVerdicts(applied, verdicts_.size(), left_);
  for (const NodeRow row : nominations_.rejected()) left_.Clear(row);
  if (input.sample != nullptr && !on_board_) {
    looked_at_ = TakeSample(*input.sample, left_, input.room.set);
  }
  any_rejected_ = false;
  const std::span<const uint64_t> left = std::as_const(left_).words();
  for (size_t i = 0; i < passed.size(); ++i) {
    const uint64_t rejected = passed[i] & ~left[i];
    any_rejected_ = any_rejected_ || rejected != 0;
    uint64_t differ = std::exchange(rejected_.words()[i], rejected) ^ rejected;
    rejected_changed_ = rejected_changed_ || differ != 0;
    for (; differ != 0; differ &= differ - 1) {
      touched_.Set(static_cast<NodeRow>(i * 64 + static_cast<size_t>(std::countr_zero(differ))));
    }
    feasible_.words()[i] = left[i];
  }
  return true;
}

bool KeptClass::SkipsOwnScores(const DecisionInput& input) const {
  return std::ranges::all_of(plan_.scores(), [&](const ScoreStep& step) {
    if (!step.each_pod) return true;
    return framework::Guarded(input.cycle.state,
                              [&] {
                                return step.pre_score->PreScore(input.cycle.state, input.pod,
                                                                input.changes.cache(), feasible_);
                              })
        .skip();
  });
}

bool KeptClass::ScoresReadFeasible() const {
  return std::ranges::any_of(scores_,
                             [](const SharedScores& scores) { return scores->reads_feasible(); });
}

bool KeptClass::RefreshScores(const DecisionInput& input) {
  const bool feasible_changed = std::exchange(rejected_changed_, false);
  for (size_t i = 0; i < scores_.size(); ++i) {
    KeptScores& scores = *scores_[i];
    // Scores that others share are normalised often and change for many rows at once.
    const bool apart = scores.step().updatable != nullptr && scores.step().normalises;
    TouchedRows& touched = apart ? touched_by_plugin_[i] : touched_scores_;
    if (apart) touched.Resize(touched_scores_.size());
    if (!scores.Refresh(input, feasible_, feasible_changed, touched)) return false;
    if (scores.num_asked() > 0) {
      framework::CountEvaluations(input.profile, input.cycle.observer, scores.step().name,
                                  ExtensionPoint::kScore, scores.num_asked());
    }
  }
  return true;
}

void KeptClass::CountBytes() {
  // passed_, rejected_, left_, feasible_, touched_ and touched_scores_
  size_t sets = 6;
  for (const TouchedRows& touched : touched_by_plugin_) sets += touched.size() > 0 ? 1 : 0;
  // Plugins derive something from the pod to filter by, and to score by.
  bytes_.Set(sizeof(*this) + 2 * pod_bytes_ + board_.bytes() + sample_blocks_.bytes() +
             sets * feasible_.words().size_bytes() +
             scores_.size() * (sizeof(SharedScores) + sizeof(TouchedRows)) +
             verdicts_.size() * sizeof(SharedVerdicts));
}

void KeptNominations::Clear() {
  if (answers_.empty()) return;
  valid_ = false;
  answers_.clear();
  rejected_.clear();
  CountBytes();
}

bool KeptNominations::Refresh(const DecisionInput& input,
                              const std::vector<std::shared_ptr<KeptVerdicts>>& verdicts) {
  asked_.clear();
  bool local = true;
  for (const std::shared_ptr<KeptVerdicts>& one : verdicts) {
    if (one->skipped()) continue;
    asked_.push_back({.verdicts = one.get(), .own = {}});
    local = local && one->step().scope.local();
  }
  Changes& changes = input.changes;
  const bool same_nominations = valid_ && priority_ == input.pod.priority() &&
                                nominations_generation_ == input.nominated->generation();
  const bool same_cluster = valid_ && generation_ == changes.cache().generation() &&
                            objects_generation_ == input.objects_generation;
  if (same_nominations && same_cluster) return true;
  changes.Read(generation_);
  const bool known = valid_ && changes.complete() && changes.nodes().empty();
  // One that is skipped now may have rejected the row before.
  const bool was_local = std::exchange(local_, local);
  if (!known || !((local && was_local) || same_cluster)) {
    for (auto& [row, answer] : answers_) answer.known = false;
  } else {
    for (const NodeRow row : changes.pods()) {
      if (const auto changed = answers_.find(row); changed != answers_.end())
        changed->second.known = false;
    }
  }
  if (!same_nominations || !known) FindRows(input);
  valid_ = AskAll(input);
  asked_.clear();
  if (!valid_) return false;
  priority_ = input.pod.priority();
  nominations_generation_ = input.nominated->generation();
  generation_ = changes.generation();
  objects_generation_ = input.objects_generation;
  CountBytes();
  return true;
}

// Keeps the answers of rows for which the same pods are nominated.
void KeptNominations::FindRows(const DecisionInput& input) {
  absl::flat_hash_map<NodeRow, Answer> before = std::exchange(answers_, {});
  const cache::Cache& cache = input.changes.cache();
  input.nominated->ForEach([&](std::string_view node_name, const PodInfoPtr& nominated) {
    if (!input.nominated->Counts(input.pod, *nominated)) return;
    const NodeRow row = cache.FindNode(node_name);
    if (row != kNoRow) answers_[row].pods.push_back(nominated);
  });
  for (auto& [row, answer] : answers_) {
    const auto old = before.find(row);
    if (old != before.end() && old->second.known && old->second.pods == answer.pods) {
      answer = std::move(old->second);
    }
  }
}

bool KeptNominations::AskAll(const DecisionInput& input) {
  rejected_.clear();
  bool prepared = false;
  for (auto& [row, answer] : answers_) {
    if (!answer.known) {
      if (!std::exchange(prepared, true) && !AskPreFilters(input)) return false;
      if (!Ask(input, row, answer)) return false;
    }
    if (!answer.passes) rejected_.push_back(row);
  }
  return true;
}

bool KeptNominations::AskPreFilters(const DecisionInput& input) {
  return std::ranges::all_of(asked_, [&](Asked& asked) {
    const FilterStep& step = asked.verdicts->step();
    asked.has_own = step.extensions != nullptr;
    return !asked.has_own ||
           framework::Guarded(asked.own, [&] {
             return step.pre_filter->PreFilter(asked.own, input.pod, input.changes.cache()).status;
           }).ok();
  });
}

bool KeptNominations::Ask(const DecisionInput& input, NodeRow row, Answer& answer) const {
  std::vector<CycleState> imagined(asked_.size());
  for (size_t i = 0; i < asked_.size(); ++i) {
    if (asked_[i].has_own) imagined[i] = asked_[i].own.Clone();
  }
  Overlay overlay;
  const NodeView node(input.changes.cache(), row, &overlay);
  for (const PodInfoPtr& nominated : answer.pods) {
    overlay.AddPod(*nominated);
    for (size_t i = 0; i < asked_.size(); ++i) {
      if (!asked_[i].has_own) continue;
      PreFilterExtensions& extensions = *asked_[i].verdicts->step().extensions;
      const Status added = framework::Guarded(
          imagined[i], [&] { return extensions.AddPod(imagined[i], input.pod, *nominated, node); });
      if (!added.ok()) return false;
    }
  }
  answer.known = true;
  answer.passes = true;
  for (size_t i = 0; i < asked_.size() && answer.passes; ++i) {
    const FilterStep& step = asked_[i].verdicts->step();
    if (step.filter == nullptr) continue;
    framework::CountEvaluations(input.profile, input.cycle.observer, step.name,
                                framework::ExtensionPoint::kFilter, 1);
    const CycleState& state = asked_[i].has_own ? imagined[i] : asked_[i].verdicts->state();
    const Status status = framework::RunFilterPlugin(*step.filter, state, input.pod, node);
    if (status.code() == Code::kError) return false;
    answer.passes = status.ok();
  }
  return true;
}

void KeptNominations::CountBytes() {
  size_t pods = 0;
  for (const auto& [row, answer] : answers_) pods += answer.pods.capacity();
  bytes_.Set(answers_.capacity() * sizeof(std::pair<NodeRow, Answer>) + pods * sizeof(PodInfoPtr) +
             rejected_.capacity() * sizeof(NodeRow));
}

void SampleBlocks::Touch(const SearchOrder& order, const TouchedRows& rows) {
  if (serial_ != order.serial()) return;
  rows.ForEach([&](NodeRow row) {
    const uint32_t place = order.place(row);
    if (place != SearchOrder::kNoPlace) stale_.Mark(place / kPlaces);
  });
}

void SampleBlocks::Refresh(const SearchOrder& order, const ScoreBoard& board) {
  order_ = &order;
  board_ = &board;
  if (serial_ == order.serial()) {
    for (const uint32_t block : stale_.parts()) RefreshBlock(block);
    stale_.Clear();
  } else {
    serial_ = order.serial();
    blocks_.resize((order.size() + kPlaces - 1) / kPlaces);
    for (size_t block = 0; block < blocks_.size(); ++block) RefreshBlock(block);
    stale_.Reset(blocks_.size());
  }
}

void SampleBlocks::RefreshBlock(size_t block) {
  Block now{.best = std::numeric_limits<int64_t>::min()};
  const size_t begin = block * kPlaces;
  const size_t count = std::min(kPlaces, order_->size() - begin);
  for (size_t i = 0; i < count; ++i) {
    const NodeRow row = order_->row(begin + i);
    if (!board_->feasible().Test(row)) continue;
    now.feasible |= uint64_t{1} << i;
    const int64_t base = board_->base(row);
    if (base > now.best) {
      now.best = base;
      now.ties = 1;
    } else if (base == now.best) {
      ++now.ties;
    }
  }
  blocks_[block] = now;
}

SampleBlocks::Range SampleBlocks::Find(size_t first, size_t wanted) const {
  const size_t places = order_->size();
  if (board_->num_feasible() <= wanted) return {first, places};
  // The block of the first place is looked at twice: from that place on, and in the end up to it.
  size_t left = wanted;  // to be found before the one too many
  size_t block = first / kPlaces;
  uint64_t feasible = blocks_[block].feasible & ~Below(first % kPlaces);
  for (;;) {
    const auto found = static_cast<size_t>(std::popcount(feasible));
    if (found > left) break;
    left -= found;
    if (++block == blocks_.size()) block = 0;
    feasible = blocks_[block].feasible;
  }
  const size_t end = block * kPlaces + NthBit(feasible, left);
  return {first, end >= first ? end - first : end + places - first};
}

template <typename Visit>
void SampleBlocks::ForEachBlock(const Range& range, Visit visit) const {
  const auto visit_places = [&](size_t begin, size_t end) {
    for (size_t block = begin / kPlaces; block * kPlaces < end; ++block) {
      const size_t from = std::max(begin, block * kPlaces) - block * kPlaces;
      const size_t to = std::min(end - block * kPlaces, kPlaces);
      const uint64_t all = blocks_[block].feasible;
      const uint64_t feasible = all & Below(to) & ~Below(from);
      if (feasible != 0) visit(block, feasible, feasible == all);
    }
  };
  const size_t places = order_->size();
  const size_t end = range.first + range.count;
  if (end > places) visit_places(0, end - places);
  visit_places(range.first, std::min(end, places));
}

ScoreBoard::Best SampleBlocks::FindBest(const Range& range) const {
  ScoreBoard::Best best;
  ForEachBlock(range, [&](size_t block, uint64_t places, bool whole) {
    if (whole) {
      best.Add(blocks_[block].best, blocks_[block].ties);
      return;
    }
    for (; places != 0; places &= places - 1) {
      const auto place = static_cast<size_t>(std::countr_zero(places));
      best.Add(board_->base(order_->row(block * kPlaces + place)), 1);
    }
  });
  return best;
}

void SampleBlocks::Collect(const Range& range, NodeSet& rows) const {
  rows.Assign(board_->num_rows(), false);
  ForEachBlock(range, [&](size_t block, uint64_t places, bool) {
    for (; places != 0; places &= places - 1) {
      rows.Set(order_->row(block * kPlaces + static_cast<size_t>(std::countr_zero(places))));
    }
  });
}

NodeRow SampleBlocks::Nth(const Range& range, const ScoreBoard::Best& best, uint64_t skip,
                          NodeSet& scratch) const {
  const bool ascending = order_->ascending();
  if (!ascending) scratch.Assign(board_->num_rows(), false);
  NodeRow nth = kNoRow;
  ForEachBlock(range, [&](size_t block, uint64_t places, bool whole) {
    if (nth != kNoRow || blocks_[block].best < best.total) return;
    if (ascending && whole && skip >= blocks_[block].ties) {
      skip -= blocks_[block].ties;
      return;
    }
    for (; places != 0; places &= places - 1) {
      const NodeRow row =
          order_->row(block * kPlaces + static_cast<size_t>(std::countr_zero(places)));
      if (board_->base(row) != best.total) continue;
      if (!ascending) {
        scratch.Set(row);
      } else if (skip-- == 0) {
        nth = row;
        return;
      }
    }
  });
  if (ascending) return nth;
  const auto words = std::as_const(scratch).words();
  for (size_t i = 0;; ++i) {
    const auto count = static_cast<uint64_t>(std::popcount(words[i]));
    if (skip < count) return static_cast<NodeRow>(i * 64 + NthBit(words[i], skip));
    skip -= count;
  }
}

}  // namespace berth::engine
