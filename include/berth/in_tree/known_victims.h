// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "berth/in_tree/preemption.h"
#include "berth/node_set.h"
#include "berth/snapshot.h"
#include "berth/status.h"
#include "berth/time.h"

namespace berth::inline in_tree {

// What preemption found on nodes for pods like the one that is being scheduled, as far as it would
// find it again.
//
// Thread safety: the scheduling thread, within one PostFilter.
class KnownVictims {
 public:
  virtual ~KnownVictims() = default;

  // Whether it is known what would be found on the node: sets the candidate, and the status that
  // tells why it is none, which is good as long as the PostFilter. `now`: when a pod counts as
  // started that has not.
  virtual bool Recall(const Snapshot& snapshot, NodeRow row, Time now,
                      PreemptionCandidate& candidate, Status& status) = 0;
  // Tells what was found on the candidate's node by `now`: victims, all of them on that node, or by
  // the status why there are none. It must follow from what filters say of the node without some of
  // its pods, from the priority of the pod that is being scheduled, the pods of the node, and
  // objects that are neither pods nor nodes; and from the time only in so far as it is later than
  // `after`.
  virtual void Remember(const Snapshot& snapshot, const PreemptionCandidate& candidate,
                        const Status& status, Time after, Time now) = 0;
};

// In the CycleState that a PostFilter is given, where something is known or may be kept.
struct VictimsOfCycle {
  KnownVictims* known = nullptr;
};

}  // namespace berth::inline in_tree
