// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "berth/in_tree/known_victims.h"
#include "berth/node_set.h"
#include "berth/snapshot.h"
#include "berth/status.h"
#include "berth/time.h"
#include "src/engine/counted_bytes.h"

namespace berth::engine {

// Which pods would make room on which node, as preemption found for pods of one class and one
// priority, or why none would. When that ends KeptRejections says, but for the time: a pod that has
// not started counts as started now, so what is known of a node holds from when all others have.
//
// Thread safety: the scheduling thread.
class KeptVictims final : public KnownVictims {
 public:
  // It adds what it takes to `kept_bytes`, which must outlive it.
  explicit KeptVictims(size_t& kept_bytes) : bytes_(kept_bytes) {}

  void Forget(NodeRow row);
  // Not while preemption uses what it recalled.
  void ForgetAll();

  // Of these rows nothing is recalled and nothing remembered, until the next call.
  void SetApart(const std::vector<NodeRow>& rows) { apart_ = rows; }

  bool Recall(const Snapshot& snapshot, NodeRow row, Time now, PreemptionCandidate& candidate,
              Status& status) override;
  void Remember(const Snapshot& snapshot, const PreemptionCandidate& candidate,
                const Status& status, Time after, Time now) override;

  // Nodes that were recalled.
  uint64_t num_recalled() const { return num_recalled_; }

 private:
  void ForgetAnswers();
  void CountBytes();
  bool IsApart(NodeRow row) const { return std::ranges::find(apart_, row) != apart_.end(); }

  // A pod's place in the row's list, which it keeps until the row changes.
  using Place = uint16_t;
  struct Answer {
    Time after;          // the last of the pods started then
    uint32_t first = 0;  // of its places_
    uint16_t num_victims = 0;
    uint16_t status = 0;  // by place in statuses_, from 1; 0: nothing is known
    int64_t num_pdb_violations = 0;
  };

  // 0: there are too many.
  uint16_t IdOf(const Status& status);

  std::vector<Answer> answers_;  // by row, up to the last of which something was known
  std::vector<Place> places_;    // of the victims of all answers, and of some that were forgotten
  size_t num_forgotten_ = 0;     // of these
  std::vector<Status> statuses_;
  std::vector<NodeRow> apart_;
  CountedBytes bytes_;
  uint64_t num_recalled_ = 0;
  std::unique_ptr<ReasonTable> reasons_ = std::make_unique<ReasonTable>();
};

}  // namespace berth::engine
