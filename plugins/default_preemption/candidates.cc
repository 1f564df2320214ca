// SPDX-License-Identifier: Apache-2.0
#include "plugins/default_preemption/candidates.h"

#include <algorithm>
#include <limits>
#include <tuple>

namespace berth::plugins {
namespace {

// Shifts every priority to zero or above, so that one more victim always counts as more.
constexpr int64_t kPriorityShift = int64_t{std::numeric_limits<int32_t>::max()} + 1;

// The criteria, so that a smaller value is better.
using Rank = std::tuple<int64_t, int64_t, int64_t, size_t, Duration>;

Rank RankOf(const Candidate& candidate, Time now) {
  int64_t sum = 0;
  int32_t highest = std::numeric_limits<int32_t>::min();
  Time earliest = now;
  for (const PodInfo* victim : candidate.victims) {
    sum += victim->priority() + kPriorityShift;
    const Time start = victim->start_time.value_or(now);
    if (victim->priority() > highest) {
      highest = victim->priority();
      earliest = start;
    } else if (victim->priority() == highest) {
      earliest = std::min(earliest, start);
    }
  }
  return {candidate.num_pdb_violations, candidate.victims.front()->priority(), sum,
          candidate.victims.size(), now - earliest};
}

// Few pods as a rule; std::stable_sort would allocate for each node.
template <typename T, typename Before>
void StableSort(std::vector<T>& values, Before before) {
  constexpr size_t kFew = 32;
  if (values.size() > kFew) {
    std::stable_sort(values.begin(), values.end(), before);
    return;
  }
  for (size_t i = 1; i < values.size(); ++i) {
    T value = values[i];
    size_t at = i;
    for (; at > 0 && before(value, values[at - 1]); --at) values[at] = values[at - 1];
    values[at] = value;
  }
}

}  // namespace

bool MoreImportant(const PodInfo& a, const PodInfo& b, Time now) {
  if (a.priority() != b.priority()) return a.priority() > b.priority();
  return a.start_time.value_or(now) < b.start_time.value_or(now);
}

Status VictimSelection::Select(NodeRow row, Candidate& candidate, const Status& no_victims) {
  candidate.row = row;
  candidate.victims.clear();
  candidate.num_pdb_violations = 0;
  potential_.clear();
  victims_.clear();
  for (const PodInfo* pod : snapshot_.pods(row)) {
    if (pod->priority() < pod_.priority()) potential_.push_back({pod, false, potential_.size()});
  }
  if (potential_.empty()) return no_victims;

  dry_run_.Begin(row);
  for (const Victim& victim : potential_) {
    if (Status status = dry_run_.RemovePod(*victim.pod); !status.ok()) return status;
  }
  if (Status status = dry_run_.Filter(); !status.ok()) return status;

  // Stable: pods that nothing tells apart are spared in the order in which they came.
  StableSort(potential_, [this](const Victim& a, const Victim& b) {
    return MoreImportant(*a.pod, *b.pod, now_);
  });
  budgets_.Restart();
  for (Victim& victim : potential_) victim.violates = budgets_.Violates(*victim.pod);

  if (Status status = Reprieve(Budget::kBroken); !status.ok()) return status;
  candidate.num_pdb_violations = static_cast<int64_t>(victims_.size());
  if (Status status = Reprieve(Budget::kKept); !status.ok()) return status;
  // As kube-scheduler has it, pods that have not started did so in the order of the node's list.
  StableSort(victims_, [this](const Victim& a, const Victim& b) {
    if (MoreImportant(*a.pod, *b.pod, now_)) return true;
    return a.pod->priority() == b.pod->priority() && !a.pod->start_time && !b.pod->start_time &&
           a.position < b.position;
  });
  for (const Victim& victim : victims_) candidate.victims.push_back(victim.pod);
  return Status::Success();
}

Status VictimSelection::Reprieve(Budget budget) {
  for (const Victim& victim : potential_) {
    if (victim.violates != (budget == Budget::kBroken)) continue;
    if (Status status = dry_run_.AddPod(*victim.pod); !status.ok()) return status;
    const Status status = dry_run_.Filter();
    if (status.ok()) continue;
    if (Status removed = dry_run_.RemovePod(*victim.pod); !removed.ok()) return removed;
    victims_.push_back(victim);
  }
  return Status::Success();
}

std::vector<size_t> BestCandidates(std::span<const Candidate> candidates, Time now) {
  std::vector<size_t> best;
  Rank best_rank{};
  for (size_t i = 0; i < candidates.size(); ++i) {
    const Rank rank = RankOf(candidates[i], now);
    if (best.empty() || rank < best_rank) {
      best.clear();
      best_rank = rank;
    }
    if (rank == best_rank) best.push_back(i);
  }
  return best;
}

size_t PickCandidate(std::span<const Candidate> candidates, Time now, Random& random) {
  const std::vector<size_t> best = BestCandidates(candidates, now);
  return best.size() == 1 ? best.front() : best[random.Below(best.size())];
}

}  // namespace berth::plugins
