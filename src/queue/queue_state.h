// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "berth/time.h"
#include "src/base/string_map.h"
#include "src/queue/entry.h"
#include "src/queue/heap.h"
#include "src/queue/hint_table.h"
#include "src/queue/parked_pods.h"
#include "src/queue/queue_metrics.h"
#include "src/queue/queued_pod.h"

namespace berth::queue {

// How long a pod waits after a failed attempt: the initial backoff, doubled for each further
// failure, up to the maximum; for a pod group that is longer by the square root of its size.
//
// With pop_from_backoff_q, expiry is rounded down to a whole second, so that all pods of one second
// form a window in which priority decides; a pod still backs off in the second of its expiry.
//
// Thread safety: stateless; any thread.
class Backoff {
 public:
  explicit Backoff(const QueueOptions& options) : options_(options) {}

  // When the backoff ends; Time::min() for a pod that need not wait.
  // `size`: how many pods a group has.
  Time Expiration(const QueuedPod& pod, size_t size = 1) const;
  bool IsBackingOff(const QueuedPod& pod, Time now, size_t size = 1) const;

 private:
  Duration Length(int failures, size_t size) const;
  Time Align(Time time) const;

  QueueOptions options_;
};

// The pods that wait, each in exactly one container, and the moves between these.
//
// The moves take `event`, the label under which they are counted, and the strategy that led to
// them: none for a move that no hint decided.
//
// Thread safety: belongs to the scheduling thread.
class QueueState {
 public:
  using Strategy = std::optional<QueueingStrategy>;

  QueueState(QueueOptions options, QueueHooks hooks, QueueMetrics metrics);
  QueueState(const QueueState&) = delete;
  QueueState& operator=(const QueueState&) = delete;

  HintTable& hints() { return hints_; }
  // Every pod stays where it is, and what was found about those that are parked is forgotten.
  void ReplaceHints(std::vector<ProfileHints> profiles);
  void Regroup() {
    Repark([] {});
  }
  QueueMetrics& metrics() { return metrics_; }
  const QueueOptions& options() const { return options_; }
  const EntryHeap& active() const { return active_; }
  const EntryHeap& backoff() const { return backoff_; }
  const EntryHeap& error_backoff() const { return error_backoff_; }
  const ParkedPods& parked() const { return parked_; }

  // nullptr when there is none.
  Entry* Find(std::string_view key) const;
  // A new entry, in no container yet. The key must be free.
  Entry* Insert(std::unique_ptr<QueuedPod> pod);
  // Takes the entry out of its container and destroys it.
  std::unique_ptr<QueuedPod> Extract(Entry* entry);
  // Takes a newer version of the pod, leaving the entry where it is.
  void Replace(Entry* entry, PodInfoPtr info);
  // A new entry for a pod group, in no container yet. `members` has at least one.
  Entry* InsertGroup(std::unique_ptr<QueuedPod> group, AnyPodGroup object,
                     std::vector<std::unique_ptr<Entry>> members);
  // Calls `change` on a group's members, which must leave one at least, and keeps what is known of
  // the group true to them. The group stays where it is.
  void ChangeMembers(Entry* entry, const std::function<void()>& change);
  // A pod that joins its group, not queued yet.
  std::unique_ptr<Entry> MakeMember(std::unique_ptr<QueuedPod> pod);
  // Runs PreEnqueue for a member that its group has got since it entered activeQ or a backoffQ;
  // gated, it takes the group along. As in kube-scheduler, all pods of the group count as incoming.
  void CheckNewMember(Entry* entry, Entry* member, std::string_view event, Time now);
  // Counts the pods of a parked group as incoming: it got a pod more or fewer.
  void CountParked(const Entry& entry, std::string_view event);

  // From wherever the entry is to where the strategy says, by way of PreEnqueue.
  void Requeue(Entry* entry, QueueingStrategy strategy, std::string_view event, Time now);
  // Runs PreEnqueue, unless the pod comes from a backoffQ that ran it; gated, it is parked instead.
  void MoveToActiveQ(Entry* entry, std::string_view event, Strategy strategy, Time now);
  // The same for a group that comes back from an attempt, and counts as new.
  void Return(Entry* entry, QueueingStrategy strategy, std::string_view event, Time now);
  // Requeues a parked entry; if it is parked again, at the gate it waits at, it counts as new.
  void Wake(Entry* entry, QueueingStrategy strategy, std::string_view event, Time now);
  // Whether Wake() would leave all pods of the parked group as they are, but for
  // ParkedGroup::moved. Good after NoteMovedGates(), and until something happens.
  bool OnlyMovedWake(const ParkedGroup& group) const;
  // ParkedPods::NoteWanted.
  void NoteWanted(const ParkedGroup& group) { parked_.NoteWanted(group); }
  // Asks which gates may have opened.
  void NoteMovedGates();
  // So many parked pods that an event may help stay at the gate they wait at, and count as new.
  void CountStillGated(size_t pods, std::string_view event);

  // The next pod whose backoff is over, or nullptr: those that were rejected first.
  Entry* BackoffCompleted(Time now) const;
  // What Pop() takes next, or nullptr. With an empty activeQ it is the first pod in backoffQ, but
  // one after the other, as kube-scheduler does, which writes a pod's condition before it takes the
  // next pod: none while a condition of that pod, or of the last one that was taken early, is not
  // shown by the watch. Where events come faster than conditions are written, attempts keep step
  // with the conditions. A backoff that is over ends any such wait, and so does
  // GiveUpConditions().
  Entry* Next() const;
  // Whether Next() is nullptr only because a condition is not shown.
  bool AwaitsConditions() const;
  // Conditions of attempts that ended by `time` may never be shown: none of them is waited for.
  void GiveUpConditions(Time time) { given_up_ = time; }
  // Pop() has taken the entry from backoffQ.
  void NoteTakenEarly(const Entry& entry) { taken_early_ = entry.key; }
  // When the entry's backoff ends; nullopt: it is in no backoffQ.
  std::optional<Time> BackoffEnds(const Entry& entry) const;
  // When the first backoff ends; none without pods in backoff.
  std::optional<Time> FirstExpiration() const;

  // Of a pod; a group has none of its own.
  void CountRejectors(const QueuedPod& pod, int by);

 private:
  void MoveToBackoffQ(Entry* entry, std::string_view event, Strategy strategy, Time now);
  // Whether the watch has yet to show a condition of the entry's pods.
  bool AwaitsCondition(const Entry& entry) const;
  // Writes down what took a parked entry out.
  static void NoteWake(Entry* entry, std::string_view event, Time now);
  // Takes all parked pods out, calls `meanwhile`, and parks them again.
  void Repark(const std::function<void()>& meanwhile);
  void Reclass(Entry* entry);
  // An entry that was parked `before` keeps its place in the order of parking.
  void Park(Entry* entry, Holder before, std::string_view event, Strategy strategy);
  // PreEnqueue keeps the entry at a gate. A strategy: an event came that would have let it out.
  void ParkGated(Entry* entry, Holder before, std::string_view event, Strategy strategy);
  // Out of its container; returns which that was.
  Holder Detach(Entry* entry);
  // Of a group it asks about every member; one that is gated gates the group.
  void RunPreEnqueue(Entry* entry);
  void RunPreEnqueueOfPod(Entry* entry);
  // Whether the plugin that gates the parked entry holds it back still.
  bool StillGated(Entry* entry);
  static void SetNotFlushed(Entry* entry);
  bool GoesToBackoffQ(const Entry& entry, QueueingStrategy strategy, Time now) const;
  // What orders the entry in the heap that holds it.
  EntryHeap::Key KeyOf(const Entry& entry) const;

  QueueOptions options_;
  QueueMetrics metrics_;
  Backoff backoffs_;
  std::function<PreEnqueueResult(const PodInfo&, std::string_view)> pre_enqueue_;
  std::function<void(std::vector<std::string>&)> take_moved_gates_;
  std::vector<std::string> moved_gates_;  // room for one call
  std::function<PodInfoPtr(PodInfoPtr)> reclass_;
  HintTable hints_;
  uint64_t last_sequence_ = 0;
  std::string taken_early_;  // the key of the entry that Pop() last took from backoffQ
  Time given_up_ = Time::min();
  // By the key that the entry holds.
  absl::flat_hash_map<std::string_view, std::unique_ptr<Entry>, base::StringHash> entries_;
  EntryHeap active_;
  EntryHeap backoff_;
  EntryHeap error_backoff_;
  ParkedPods parked_;
};

}  // namespace berth::queue
