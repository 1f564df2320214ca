// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "berth/in_tree/handle.h"
#include "berth/in_tree/pod_group_points.h"
#include "berth/in_tree/points.h"
#include "berth/in_tree/preemption.h"
#include "plugins/default_preemption/evictions.h"
#include "plugins/relocation/group_room_search.h"
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

  // A pod that fits nowhere, or a pod group.
  struct Waiting {
    struct PodName {
      std::string namespace_;
      std::string name;
      std::string uid;
    };
    std::vector<PodName> pods;
    Time since;             // when it fitted nowhere for the first time
    Time next_search;       // none is made before
    bool wakes = false;     // it is tried again at that time
    int64_t moves = 0;      // that were made for it
    size_t unmoved = 0;     // pods of the moves under way that are not known to be going
    std::string node = {};  // of a pod: for which they were made
    // Of a group: the nodes for which they were made, by UID of its pods.
    std::map<std::string, std::string, std::less<>> nodes = {};
    bool given_up = false;  // one of them was refused
  };
  // What is known of a pod that fits nowhere at this moment.
  Waiting& Note(const api::Pod& pod, Duration min_pending);
  // The same of a group that has these pods without a node.
  Waiting& Note(const std::string& uid, std::vector<Waiting::PodName> pods, Duration min_pending);
  // The pod is tried again when its next search is due.
  void WakeAtNextSearch(Waiting& waiting);

  // How many moves of an hour are left.
  int64_t MovesLeft(int64_t most);
  // The pods of the room are evicted, in its order, for `pod`.
  void Begin(const api::Pod& pod, Waiting& waiting, const Room& room, const Snapshot& snapshot);
  // The same for a group.
  void Begin(const PodGroupInfo& group, Waiting& waiting, const GroupRoom& room,
             const Snapshot& snapshot);

  // No search for any pod is made before.
  Time next_search;

 private:
  // A pod that was asked to go, or is to be.
  struct Moving {
    std::string uid;
    std::string for_uid;
    bool going = false;
  };

  void Ask(const Preemptor& preemptor, const std::shared_ptr<const api::Pod>& victim,
           AsyncDone done) override;
  void Tell(const api::Pod& victim, const std::string& note,
            const api::Boxed<api::ObjectReference>& related) override;
  void Count(const Preemptor& preemptor, bool failed, Duration took) override;
  void NoteAnswer(const std::string& preemptor_uid, const std::string& victim_uid,
                  const AsyncStatus& answer) override;
  bool Waits(const Waiting& waiting);
  // Evicts the pods, each from its node. `for_whom` and `where` are what events say of the room.
  void BeginMoves(Preemptor preemptor, std::string_view place, Waiting& waiting,
                  const std::vector<PodMove>& moves, const std::string& for_whom,
                  const Snapshot& snapshot);
  void ForgetSettled();

  std::map<std::string, Waiting, std::less<>> waiting_;  // by UID
  size_t forget_at_ = 64;   // how many there are when settled ones are looked for
  std::deque<Time> moved_;  // when the moves of the last hour began
  std::vector<Moving> moving_;
};

// Makes room for a pod that fits nowhere, and for which preemption finds no victims, by moving
// pods of at most its priority: they are evicted within their budgets, and each fits on another
// node. docs/plan.md tells what a move is. It does the same for a pod group as a whole.
//
// Thread safety: the scheduling thread.
class Relocation final : public PreemptionPlugin,
                         public PodGroupPostFilterPlugin,
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
  // The same for a group; while moves for it are under way, Success with the nominations that were
  // made for them.
  PodGroupPostFilterResult PodGroupPostFilter(CycleState& state, const PodGroupInfo& group,
                                              const Snapshot& snapshot,
                                              PodGroupDryRun& dry_run) override;
  bool needs_no_victims() const override { return true; }
  // At any time, and whatever is left of the moves of an hour.
  PreemptionPreview Preview(CycleState& state, const PodInfo& pod, const Snapshot& snapshot,
                            const NodeToStatus& statuses) override;
  void TakeOver(PreemptionPlugin& predecessor) override {
    books_ = static_cast<Relocation&>(predecessor).books_;
  }
  bool TakeAnswer(const EvictionAnswered& answered) override {
    return books_->TakeAnswer(answered);
  }

  // Holds a pod back while it is not known of all pods that move for it, or for its group, that
  // they are going.
  Status PreEnqueue(const PodInfo& pod) override;
  void TakeMovedGates(std::vector<std::string>& pod_keys) override { books_->TakeMoved(pod_keys); }
  // As DefaultPreemption's.
  std::vector<ClusterEventWithHint> EventsToRegister() const override;

 private:
  PostFilterResult Reject(const CycleState& state, std::string_view message) const;
  // How many pods may move now for this one, or for the group of so many; 0 with the reason in
  // `why`.
  size_t MovesLeft(const RelocationBooks::Waiting& waiting, size_t pods, std::string_view& why);
  enum class When : uint8_t {
    kNow,
    kYoung,   // it has not waited long enough
    kPaused,  // there was a search a short time ago
  };
  // Whether a search may be made.
  When WhenToSearch(RelocationBooks::Waiting& waiting);
  // One was made, which took so many steps.
  void NoteSearch(RelocationBooks::Waiting& waiting, uint64_t steps);
  Status RejectGroup(const CycleState& state, std::string_view why) const;
  // Takes back what the group's pods were nominated for.
  void GiveBack(const PodGroupInfo& group, RelocationBooks::Waiting& waiting);

  Handle& handle_;
  const RelocationArgs args_;
  std::shared_ptr<RelocationBooks> books_;  // shared with its predecessors
  Status waiting_;
  Status group_waiting_;
};

}  // namespace berth::plugins
