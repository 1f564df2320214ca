// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "berth/in_tree/handle.h"
#include "berth/in_tree/points.h"
#include "berth/in_tree/preemption.h"
#include "plugins/default_preemption/evictions.h"
#include "plugins/relocation/room_search.h"
#include "plugins/shared/args_kind.h"

namespace berth::plugins {

struct RelocationArgs {
  // For how long a pod must have fitted nowhere before pods are moved for it.
  int64_t min_pending_seconds = 60;
  // How many pods are moved in an hour, for all pods of the profile.
  int64_t max_moves_per_hour = 60;
  // The same for one pod, for as long as it waits.
  int64_t max_moves_per_pod = 3;

  friend bool operator==(const RelocationArgs&, const RelocationArgs&) = default;
};

// Errors: fewer seconds than 0 or more than a day; fewer moves than 1, or more than 10,000 an hour
// or 100 for a pod.
extern const ArgsKind<RelocationArgs> kRelocationArgs;

// What outlives a cycle: since when pods wait, what was moved, and what is on its way.
//
// Thread safety: the scheduling thread.
class RelocationBooks final : public Evictions {
 public:
  // `handle` must outlive it, and what it asks for.
  explicit RelocationBooks(Handle& handle);

  struct Waiting {
    std::string namespace_;
    std::string name;
    Time since;             // when it fitted nowhere for the first time
    Time next_search;       // none is made before
    bool wakes = false;     // it is tried again at that time
    int64_t moves = 0;      // that were made for it
    size_t unmoved = 0;     // pods of the moves under way that are not known to be going
    std::string node = {};  // for which they were made
    bool given_up = false;  // one of them was refused
  };
  // What is known of a pod that fits nowhere at this moment.
  Waiting& Note(const api::Pod& pod, Duration min_pending);
  // The pod is tried again when its next search is due.
  void WakeAtNextSearch(Waiting& waiting);

  // How many moves of an hour are left.
  int64_t MovesLeft(int64_t most);
  // The pods of the room are evicted, in its order, for `pod`.
  void Begin(const api::Pod& pod, Waiting& waiting, const Room& room, const Snapshot& snapshot);
  // The pods that are on their way for other pods, which still wait.
  std::vector<PodUnderWay> UnderWayForOthers(std::string_view uid);

  // No search for any pod is made before.
  Time next_search;

 private:
  struct Promised {
    PodUnderWay place;
    std::string for_uid;
  };

  void Ask(const Preemptor& preemptor, const std::shared_ptr<const api::Pod>& victim,
           AsyncDone done) override;
  void Tell(const api::Pod& victim, const std::string& note,
            const api::Boxed<api::ObjectReference>& related) override;
  void Count(const Preemptor& preemptor, bool failed, Duration took) override;
  void NoteAnswer(const std::string& preemptor_uid, const AsyncStatus& answer) override;
  bool Waits(const std::string& uid, const Waiting& waiting);
  void ForgetSettled();

  std::map<std::string, Waiting, std::less<>> waiting_;  // by UID
  size_t forget_at_ = 64;   // how many there are when settled ones are looked for
  std::deque<Time> moved_;  // when the moves of the last hour began
  std::vector<Promised> promised_;
};

// Makes room for a pod that fits nowhere, and for which preemption finds no victims, by moving
// pods of at most its priority: they are evicted within their budgets, and each fits on another
// node. docs/plan.md tells what a move is.
//
// Thread safety: the scheduling thread.
class Relocation final : public PreemptionPlugin,
                         public PreEnqueuePlugin,
                         public MovedGates,
                         public EnqueueExtensions {
 public:
  static constexpr std::string_view kName = "Relocation";

  // `args` are valid; `handle` outlives the plugin.
  Relocation(const RelocationArgs& args, Handle& handle);

  // What PostFilter says depends on the pod and on time: no refusal is kept where it takes part.
  Inputs DeclaredInputs() const { return Inputs::EachPod(); }

  // Success with a nomination when moves were found; they go on meanwhile. Unschedulable, with the
  // reason, when none begin.
  PostFilterResult PostFilter(CycleState& state, const PodInfo& pod, const Snapshot& snapshot,
                              const NodeToStatus& statuses) override;
  // At any time, and whatever is left of the moves of an hour.
  PreemptionPreview Preview(CycleState& state, const PodInfo& pod, const Snapshot& snapshot,
                            const NodeToStatus& statuses) override;
  void TakeOver(PreemptionPlugin& predecessor) override {
    books_ = static_cast<Relocation&>(predecessor).books_;
  }
  bool TakeAnswer(const EvictionAnswered& answered) override {
    return books_->TakeAnswer(answered);
  }

  // Holds a pod back while it is not known of all pods that move for it that they are going.
  Status PreEnqueue(const PodInfo& pod) override {
    return books_->Running(pod.pod->metadata.uid) ? waiting_ : Status();
  }
  void TakeMovedGates(std::vector<std::string>& pod_keys) override { books_->TakeMoved(pod_keys); }
  // As DefaultPreemption's.
  std::vector<ClusterEventWithHint> EventsToRegister() const override;

 private:
  PostFilterResult Reject(const CycleState& state, std::string_view message) const;
  // How many pods may move for this one now; 0 with the reason in `why`.
  size_t MovesLeft(const RelocationBooks::Waiting& waiting, std::string_view& why);

  Handle& handle_;
  const RelocationArgs args_;
  std::shared_ptr<RelocationBooks> books_;  // shared with its predecessors
  Status waiting_;
};

}  // namespace berth::plugins
