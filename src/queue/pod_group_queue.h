// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "berth/in_tree/pod_groups.h"
#include "berth/time.h"
#include "src/base/string_map.h"
#include "src/queue/queue_state.h"
#include "src/queue/queued_pod.h"

namespace berth::queue {

// How the attempt at a pod group ended.
enum class GroupResult { kScheduled, kRejected, kError };

// The pods of pod groups in the queue. A group that is part of no other is one entry of the
// QueueState, with its queued pods in it; those of groups below a composite one are in its entry.
//
//   incomplete  their PodGroup is not known, or a group that it is part of
//   queued      in the entry of their group
//   pending     the group is being tried: they join it when it comes back
//
// Invariant: a member that is not in flight is in exactly one of these, the entry being there if
// and only if it has members.
//
// Thread safety: belongs to the scheduling thread.
class PodGroupQueue {
 public:
  // `state` must outlive this.
  explicit PodGroupQueue(QueueState& state) : state_(state) {}

  // A new or changed group. Pods that waited for it alone are taken into the queue.
  void Set(AnyPodGroup object, Time now);
  // The queued pods below it become incomplete.
  void Remove(const AnyPodGroup& object, Time now);

  // A member of a group, new or back from an attempt. No pod of its key may be here.
  void Add(std::unique_ptr<QueuedPod> pod, Time now);
  // The member of that "namespace/name"; nullptr: it is not here. Its `group` is its entry, if it
  // is queued.
  Entry* Find(std::string_view pod_key) const;
  // Whether this member waits for a group that is not known.
  bool IsIncomplete(const Entry& member) const;
  // Takes the member out; the others go where their entry was, by way of PreEnqueue.
  std::unique_ptr<QueuedPod> Take(Entry* member, Time now);
  // The entry of the pod's group; nullptr: it is not queued.
  Entry* EntryOf(const api::Pod& pod) const;

  // Takes the group out to be tried, with all its pods.
  std::unique_ptr<QueuedPod> Pop(Entry* entry);
  // Nothing of what was popped can be tried.
  void Abandon() { in_flight_.clear(); }
  // The group's attempt is over, and what is left of its pods has been added again. With none left
  // it is gone.
  void Return(std::unique_ptr<QueuedPod> group, GroupResult result, std::string_view event,
              Time now);

  size_t num_incomplete() const { return num_incomplete_; }
  size_t num_pending() const { return pending_.size(); }
  // The groups that are queued, in no particular order.
  const absl::flat_hash_set<const Entry*>& entries() const { return queued_; }
  // Calls visit(const QueuedPod&) for every member that is incomplete or pending.
  template <typename Visit>
  void ForEachUnqueued(Visit visit) const {
    for (const auto& [group, members] : incomplete_) {
      for (const auto& member : members) visit(*member->pod);
    }
    for (const auto& member : pending_) visit(*member->pod);
  }

 private:
  using Members = std::vector<std::unique_ptr<Entry>>;

  static void Insert(Members& members, std::unique_ptr<Entry> member);
  // A new entry for the group, in no container.
  Entry* MakeEntry(std::unique_ptr<QueuedPod> group, AnyPodGroup object, Members members);
  // After its object or its members have changed.
  void RenewPriority(Entry* entry);
  // The root of the pod's group, nullptr where it is not known.
  const PodGroupNode* RootOfPod(const api::Pod& pod) const;
  // The entry goes where it was, by way of PreEnqueue, after members have left it.
  void Requeue(Entry* entry, std::string_view event, Time now);
  // The members that have another root now, or none, become incomplete.
  void Release(std::string_view entry_key, Time now);
  // Those that are incomplete no more.
  void TakeIn(const PodGroupNode& group, int depth, Time now);

  QueueState& state_;
  base::StringMap<Entry*> members_;      // by pod, all of them
  base::StringMap<Members> incomplete_;  // by pod group
  size_t num_incomplete_ = 0;
  absl::flat_hash_set<const Entry*> queued_;
  // The group that is being tried, by EntryKey(), with what it was popped with.
  std::string in_flight_;
  absl::flat_hash_set<std::string> popped_;  // UIDs
  Members pending_;
};

}  // namespace berth::queue
