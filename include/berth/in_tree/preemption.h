// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "berth/in_tree/plugin_message.h"
#include "berth/in_tree/points.h"
#include "berth/node_set.h"
#include "berth/snapshot.h"
#include "berth/status.h"
#include "berth/time.h"

namespace berth::inline in_tree {

// What a PreEnqueue plugin may also be: one that tells whom it may hold back no more, so that the
// queue asks about these alone, however many wait.
class MovedGates {
 public:
  virtual ~MovedGates() = default;

  // Adds the keys ("namespace/name") of pods for which PreEnqueue may answer something else than it
  // did, since the last call or since it answered, whichever came later. It holds back all others
  // still. Pods of pod groups need not be named.
  virtual void TakeMovedGates(std::vector<std::string>& pod_keys) = 0;
};

// A node, and the pods on it that must go for another pod to fit, most important first.
struct PreemptionCandidate {
  NodeRow row = kNoRow;
  std::vector<const PodInfo*> victims;  // good for the running cycle
  // How many of the evictions break a PodDisruptionBudget.
  int64_t num_pdb_violations = 0;
};

// What a PostFilter would do for a pod.
struct PreemptionPreview {
  // Every node where evictions make room, ascending.
  std::vector<PreemptionCandidate> candidates;
  // Indices of the candidates that one would be drawn from, ascending.
  std::vector<size_t> best;
  // The pods move: each has a place on another node, and their budgets allow it.
  bool moved = false;
  // Without candidates: what PostFilter's status would say.
  std::string message;
};

// A PostFilter that can tell what it would do.
class PreemptionPlugin : public PostFilterPlugin {
 public:
  // What PostFilter, given the same, would find if it looked at all nodes. Nothing is evicted,
  // drawn or counted. The candidates are good as long as the cycle and the snapshot.
  virtual PreemptionPreview Preview(CycleState& state, const PodInfo& pod, const Snapshot& snapshot,
                                    const NodeToStatus& statuses) = 0;
  // This plugin takes the place of `predecessor`, which the same factory made for the same profile,
  // and so is of the same class: from now on it knows of the evictions that the other has under
  // way.
  virtual void TakeOver(PreemptionPlugin& /*predecessor*/) {}
  // An eviction has been answered; false: neither this plugin nor one that it took over from has
  // asked for it.
  virtual bool TakeAnswer(const EvictionAnswered& /*answered*/) { return false; }
};

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
