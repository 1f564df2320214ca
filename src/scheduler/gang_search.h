// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "src/scheduler/members_trial.h"

namespace berth::scheduler {

// Looks for a place for a gang of unequal pods that does not fit in the order of the queue: the
// largest pods first, then those first that found no node, and in the end with other nodes than the
// best ones. Ends after a number of decisions, whatever they cost in time, so the same messages and
// seed give the same decisions.
//
// Thread safety: the scheduling thread.
class GangSearch {
 public:
  // Both must outlive the search, which may make `steps` decisions in all.
  GangSearch(SchedulerState& state, MembersTrial& members, size_t steps)
      : state_(state), members_(members), steps_(steps) {}

  // Whether another order may help a group that was tried: it is a gang whose pods differ.
  static bool MayHelp(const PodGroupAttempt& group);

  // Within the placement (nullptr: all nodes). Success: the members are placed, assumed and
  // reserved. Unschedulable: nothing is placed. Error: a plugin failed; as Unschedulable.
  GroupVerdict Run(PodGroupAttempt& group, const NodeSet* placement);
  // After Run() found nothing: how close it came and what was missing.
  std::string NearestMiss() const;

 private:
  // The nodes that led nowhere for a member, given where those before it are.
  using Ruled = std::optional<NodeSet>;

  enum class Outcome { kFits, kDoesNotFit, kOutOfSteps, kError };
  // Tries the members in `order_`; where that leads nowhere, other nodes for those before, if
  // `back` is set. Unless the group fits, takes all back.
  Outcome Try(PodGroupAttempt& group, const NodeSet* placement, bool back);
  // Takes back the last members up to one that had a node, which it may not have again.
  bool StepBack(PodGroupAttempt& group);
  void SortBySize(const PodGroupAttempt& group, const NodeSet* placement);
  void Note(size_t placed, const MemberAttempt& missing);

  SchedulerState& state_;
  MembersTrial& members_;
  size_t steps_;
  std::vector<size_t> order_;  // of the members
  std::vector<Ruled> ruled_;   // by place in order_
  NodeSet left_;               // what is not ruled out
  size_t depth_ = 0;           // members tried, in order_
  size_t failed_ = 0;          // the member that had no node when the last try ended
  std::string error_;
  // The try that placed most.
  size_t best_ = 0;
  size_t size_ = 0;
  std::string missing_;
};

}  // namespace berth::scheduler
