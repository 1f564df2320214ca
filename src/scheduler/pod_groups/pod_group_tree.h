// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "berth/in_tree/pod_groups.h"
#include "src/scheduler/pod_groups/pod_group_attempt.h"

namespace berth::scheduler {

// One attempt at a pod group, or at a composite one with all groups below it.
struct PodGroupTree {
  struct Group {
    AnyPodGroup object;
    size_t parent = 0;             // the root is its own
    std::vector<size_t> children;  // in the order in which they are tried
    size_t end = 0;                // one past the last group below it
    PodGroupAttempt pods;          // of a pod group
    // nullopt: it was not tried.
    std::optional<GroupVerdict> verdict;
  };

  // Each group comes before its children, and those of one child before the next child: the groups
  // below one are in a row.
  std::vector<Group> groups;
  std::unique_ptr<queue::QueuedPod> queued;     // the members are in `groups`
  const framework::Profile* profile = nullptr;  // of all members
  Time start;
  bool waits_for_preemption = false;
  // PodGroupPostFilter failed over a group that was rejected: for its backoff that is what it is.
  bool was_rejected = false;
  // It fits, but none of its pods is on its way to be bound: it backs off, or it would be tried
  // without end.
  bool all_came_back = false;
  bool preview = false;  // nothing of it is measured

  // `root` and all groups below it, without members.
  static PodGroupTree Of(const PodGroupNode& root);

  Group& root() { return groups.front(); }
  const Group& root() const { return groups.front(); }
  bool composite() const { return root().object.composite != nullptr; }
  // The pod group of that name; nullptr: there is none.
  PodGroupAttempt* Find(std::string_view pod_group);
  // Calls visit(MemberAttempt&) for the members of all groups, in the order in which they are
  // tried.
  template <typename Visit>
  void ForEachMember(Visit visit) {
    for (Group& group : groups) {
      for (MemberAttempt& member : group.pods.members) visit(member);
    }
  }
  size_t num_members() const;
  // Takes that of the first member for all of them.
  void SetProfile();
  // A group of scheduling.x-k8s.io has no priority of its own: the lowest of its members' is.
  void TakePriorityOfPods();

  // What plugins see of a group; good as long as the members stay.
  PodGroupInfo Info(size_t group) const;
  // By group, in `groups` from `first` on: whether it starts, which it does together with those
  // above it, up to `first`.
  std::vector<bool> Starting(size_t first = 0) const;
  // Gives each group a verdict of its own: one that was not tried, or fits although the one above
  // does not, has that one's, and its members are as if they had not been tried.
  void Complete();
};

}  // namespace berth::scheduler
