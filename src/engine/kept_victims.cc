// SPDX-License-Identifier: Apache-2.0
#include "src/engine/kept_victims.h"

#include <algorithm>
#include <limits>

#include "berth/check.h"

namespace berth::engine {
namespace {

constexpr size_t kMaxStatuses = 1024;
// So many places may be of no use before all answers are dropped to get rid of them.
constexpr size_t kMinForgotten = 4096;

}  // namespace

void KeptVictims::Forget(NodeRow row) {
  if (row >= answers_.size()) return;
  num_forgotten_ += answers_[row].num_victims;
  answers_[row] = {};
}

void KeptVictims::ForgetAll() {
  ForgetAnswers();
  statuses_.clear();
  reasons_ = std::make_unique<ReasonTable>();
}

void KeptVictims::ForgetAnswers() {
  answers_.assign(answers_.size(), {});
  places_.clear();
  num_forgotten_ = 0;
}

bool KeptVictims::Recall(const Snapshot& snapshot, NodeRow row, Time now,
                         PreemptionCandidate& candidate, Status& status) {
  if (row >= answers_.size() || IsApart(row)) return false;
  const Answer& answer = answers_[row];
  if (answer.status == 0 || answer.after >= now) return false;
  ++num_recalled_;
  status = statuses_[answer.status - 1u];
  candidate.row = row;
  candidate.num_pdb_violations = answer.num_pdb_violations;
  candidate.victims.clear();
  candidate.victims.reserve(answer.num_victims);
  const auto pods = snapshot.pods(row);
  for (size_t i = answer.first; i < answer.first + answer.num_victims; ++i) {
    candidate.victims.push_back(pods[places_[i]]);
  }
  return true;
}

void KeptVictims::Remember(const Snapshot& snapshot, const PreemptionCandidate& candidate,
                           const Status& status, Time after, Time now) {
  const NodeRow row = candidate.row;
  const auto pods = snapshot.pods(row);
  if (IsApart(row) || after >= now || status.code() == Code::kError ||
      pods.size() > std::numeric_limits<Place>::max()) {
    return;
  }
  const uint16_t id = IdOf(status);
  if (id == 0) return;
  if (row >= answers_.size()) answers_.resize(snapshot.num_rows());
  Forget(row);
  if (num_forgotten_ > std::max(kMinForgotten, places_.size() / 2)) ForgetAnswers();
  const auto first = static_cast<uint32_t>(places_.size());
  for (const PodInfo* victim : candidate.victims) {
    places_.push_back(static_cast<Place>(std::ranges::find(pods, victim) - pods.begin()));
    BERTH_CHECK(places_.back() < pods.size(), "a victim that is not on the node is remembered");
  }
  answers_[row] = {after, first, static_cast<uint16_t>(candidate.victims.size()), id,
                   candidate.num_pdb_violations};
  CountBytes();
}

uint16_t KeptVictims::IdOf(const Status& status) {
  if (statuses_.size() >= kMaxStatuses) return 0;
  const Status kept(status.code(), reasons_->Intern(status.reasons()));
  const auto known = std::ranges::find(statuses_, kept);
  if (known != statuses_.end()) return static_cast<uint16_t>(known - statuses_.begin() + 1);
  statuses_.push_back(kept);
  return static_cast<uint16_t>(statuses_.size());
}

void KeptVictims::CountBytes() {
  bytes_.Set(answers_.capacity() * sizeof(Answer) + places_.capacity() * sizeof(Place) +
             statuses_.capacity() * sizeof(Status));
}

}  // namespace berth::engine
