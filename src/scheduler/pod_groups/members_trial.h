// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "berth/node_set.h"
#include "src/engine/engine.h"
#include "src/scheduler/options.h"
#include "src/scheduler/pod_groups/pod_group_attempt.h"
#include "src/scheduler/profiles.h"
#include "src/scheduler/state.h"

namespace berth::scheduler {

// Which pods of a group are tried: until it is known that too few fit, or all.
enum class Tries { kAsLongAsItMayFit, kEvery };

// Where the members of a group may go.
struct MembersPlan {
  const NodeSet* placement = nullptr;  // nullptr: all nodes
  // By member, the only node it may go to; kNoRow: any of the placement. Empty: of all members.
  std::span<const NodeRow> rows = {};
  Tries tries = Tries::kAsLongAsItMayFit;
};

// Tries all pods of a group, one after the other, each with those before it assumed and reserved on
// their nodes.
//
// Thread safety: the scheduling thread.
class MembersTrial {
 public:
  // All must outlive the trial. Of the options it takes what times decisions.
  MembersTrial(SchedulerState& state, const Profiles& profiles, engine::Engine& engine,
               const SchedulerOptions& options);

  // Members that were tried before start over. What is placed stays assumed and reserved, whatever
  // the verdict. Success also where no member is placed, but enough were before.
  GroupVerdict Run(PodGroupAttempt& group, const MembersPlan& plan);
  // Places the members that have a row there, as a try before did; of the others it stays as it
  // is. `rows` is by member, or empty. Error: one cannot be placed.
  GroupVerdict PlaceAgain(PodGroupAttempt& group, std::span<const NodeRow> rows);
  // The same step by step: forgets what came of the members, and tries one of them on the nodes
  // (nullptr: all).
  void Begin(PodGroupAttempt& group);
  void TryMember(PodGroupAttempt& group, size_t member, const NodeSet* nodes);
  // Takes back what came of the member tried last, its nomination included.
  void TakeBackLast(PodGroupAttempt& group);
  // Takes back all of the group since Begin(); members still say where they were placed.
  void TakeBack(PodGroupAttempt& group);

 private:
  // Why pods of one class are refused on these nodes, as long as nothing is assumed meanwhile.
  struct Refused {
    PodClassId pod_class = kNoPodClass;
    uint32_t class_epoch = 0;
    const NodeSet* nodes = nullptr;
    uint64_t cache_generation = 0;
    Failure failure;
  };

  const NodeSet* OnlyNode(NodeRow row);
  // Takes the member off its node.
  void Undo(PodGroupAttempt& group, const PodGroupAttempt::Tried& tried);
  void Refuse(MemberAttempt& member, const NodeSet* nodes, const engine::Decision& decision);
  // What was said of a pod alike, if it still holds.
  const Failure* RefusedAlike(const PodInfo& pod, const NodeSet* nodes) const;

  SchedulerState& state_;
  const Profiles& profiles_;
  engine::Engine& engine_;
  const std::function<Duration()> stopwatch_;
  std::optional<Refused> refused_;
  NodeSet one_node_;
  const metrics::SeriesId algorithm_series_;
};

}  // namespace berth::scheduler
