// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "berth/cluster_event.h"
#include "berth/in_tree/features.h"
#include "berth/in_tree/handle.h"
#include "berth/in_tree/pod_group_points.h"

namespace berth::plugins {

// What evictions make room for: a pod or a group.
struct Preemptor {
  std::string uid;
  std::string_view kind;  // "pod", "podgroup", "compositepodgroup"
  int32_t priority = 0;
  std::vector<std::string> pod_keys;  // "namespace/name"
  // What events relate the victims to. Of a pod nothing, as in kube-scheduler.
  api::Boxed<api::ObjectReference> related{};
};

// The group, with its pods that have no node.
Preemptor PreemptorOf(const PodGroupInfo& group);
// Whether other pods may go for it. By the pods' policy where the group has none: without its gate
// that of one is that of all, except in groups of scheduling.x-k8s.io, which one such pod keeps
// from evicting others.
bool MayEvictOthers(const PodGroupInfo& group, const Features& features);

struct EvictedPod {
  std::shared_ptr<const api::Pod> pod;
  std::string node_name;
  // What the event says; "": that it was preempted, and for whom.
  std::string note = {};
};

// Evictions under way, by what they make room for.
//
// All victims but the last are evicted first, sixteen at a time, the last when they are gone or
// going: so a pod that sees the last one going knows that the others were asked to. When an
// eviction fails the rest is left alone, and the pod is tried again at once: no deletion may come
// that would wake it. So it is when all victims turn out to be gone by the time the last is asked.
// A pod that is tried meanwhile and preempts again starts over: answers to what it asked for before
// become events, but count no more.
//
// Thread safety: the scheduling thread.
class Evictions {
 public:
  // `handle` must outlive it, and what it asks for. `plugin` is the one that evicts.
  // `first_number`: of EvictionAnswered; two plugins of a profile that evict have numbers apart.
  Evictions(Handle& handle, std::string_view plugin, uint64_t first_number = 0)
      : handle_(handle), plugin_(plugin), first_number_(first_number) {}
  virtual ~Evictions() = default;

  // Evicts the victims, which are not being deleted yet. `place`: the node that the preemptor is
  // nominated for, or what else events call where room is made.
  void Start(Preemptor preemptor, std::string_view place, std::vector<EvictedPod> victims);
  // Whether the preemptor should go on waiting: not all of its victims are known to be going.
  bool Running(std::string_view preemptor_uid) const;
  // Of PreEnqueue: `waiting` where the pod should go on waiting, `group_waiting` where its group
  // should, else Success.
  Status Gate(const PodInfo& pod, const Status& waiting, const Status& group_waiting) const;
  // EventsToRegister() of the plugins that evict.
  static std::vector<ClusterEventWithHint> EventsToRegister();
  // The pods of preemptors that wait no more, or may: MovedGates::TakeMovedGates. Costs what
  // changed in the cluster, not how many wait.
  void TakeMoved(std::vector<std::string>& pod_keys);
  // PreemptionPlugin::TakeAnswer.
  bool TakeAnswer(const EvictionAnswered& answered);

 protected:
  Handle& handle() { return handle_; }

  // What evictions of another manner than preemption's do otherwise: how a pod is asked to go, what
  // is reported of one that is going, and what is counted once no more of a preemptor's are asked.
  virtual void Ask(const Preemptor& preemptor, const std::shared_ptr<const api::Pod>& victim,
                   AsyncDone done);
  virtual void Tell(const api::Pod& victim, const std::string& note,
                    const api::Boxed<api::ObjectReference>& related);
  virtual void Count(const Preemptor& preemptor, bool failed, Duration took);
  // The answer to what Ask() asked for has come.
  virtual void NoteAnswer(const std::string& /*preemptor_uid*/, const std::string& /*victim_uid*/,
                          const AsyncStatus& /*answer*/) {}

 private:
  struct Run {
    uint64_t id = 0;
    Preemptor preemptor;
    Time started;
    std::string place;
    std::vector<EvictedPod> victims;
    size_t asked = 0;  // of the victims
    size_t unanswered = 0;
    bool last_asked = false;
    bool failed = false;
    // The last victim only gave up a place it did not have yet: no deletion will be seen.
    bool last_in_memory = false;
    // Once the last is asked: the row of its node, kNoRow if there is none.
    NodeRow awaited_on = kNoRow;
  };
  using Runs = std::map<std::string, Run, std::less<>>;

  void EvictMore(Run& run);
  void Evict(Run& run, const EvictedPod& evicted);
  // What an answer will be to.
  struct Asked {
    uint64_t number = 0;  // EvictionAnswered::number
    uint64_t run = 0;
    std::string preemptor_uid;
    std::string note;  // that the event tells
    api::Boxed<api::ObjectReference> related;
    std::shared_ptr<const api::Pod> victim;
  };
  // Returns the preemptor.
  Preemptor Finish(Runs::iterator run);
  void Advance(Runs::iterator run);
  // The next TakeMoved() names its pods.
  void TellOf(const Run& run);
  // The run's pods are reported when something changes on the row of its last victim.
  void Await(Run& run);
  void AwaitNoMore(const Run& run);
  // The victim as it is now; nullptr: it is not on its node.
  const api::Pod* OnNode(const EvictedPod& victim) const;
  // Whether the victim is still on its node and its deletion has not begun.
  bool StillOnNode(const EvictedPod& victim) const;

  Handle& handle_;
  const std::string plugin_;
  const uint64_t first_number_;
  Runs runs_;  // by preemptor UID
  uint64_t last_run_ = 0;
  // What is not answered yet, by the victim's UID, in ascending order of numbers.
  absl::flat_hash_map<std::string, std::vector<Asked>> asked_;
  // By Run::awaited_on: the preemptors.
  absl::flat_hash_map<NodeRow, std::vector<std::string>> awaiting_;
  uint64_t generation_ = 0;         // of the snapshot, when changes were last looked at
  std::vector<std::string> moved_;  // pods to be named all the same
  std::vector<NodeRow> changed_;    // room for one look
};

}  // namespace berth::plugins
