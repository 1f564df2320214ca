// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "berth/in_tree/handle.h"
#include "berth/pod_info.h"
#include "berth/snapshot.h"
#include "berth/time.h"

namespace berth::plugins {

struct PlacedPod {
  const PodInfo* info = nullptr;  // good for the running cycle
  NodeRow row = kNoRow;
};

// What is evicted as one: a pod, or all placed pods of a pod group with the disruption mode All.
class Victim {
 public:
  Victim(PlacedPod pod, int32_t priority, bool of_group)
      : pod_(pod), priority_(priority), of_group_(of_group) {}
  // `group` outlives the victim and is not empty.
  Victim(const std::vector<PlacedPod>& group, int32_t priority)
      : pod_(group.front()), group_(&group), priority_(priority), of_group_(true) {}

  std::span<const PlacedPod> pods() const {
    return group_ == nullptr ? std::span<const PlacedPod>(&pod_, 1) : std::span(*group_);
  }
  int32_t priority() const { return priority_; }
  // Whether it disrupts a pod group, as a whole or by one pod.
  bool of_group() const { return of_group_; }
  // nullptr: it is a single pod.
  const std::vector<PlacedPod>* group() const { return group_; }

 private:
  PlacedPod pod_;
  const std::vector<PlacedPod>* group_ = nullptr;
  int32_t priority_;
  bool of_group_;
};

// Whether `a` is the one to spare: higher priority, then of a pod group, then of more pods, then
// started earlier. A pod that has not started counts as started at `now`.
bool MoreImportant(const Victim& a, const Victim& b, Time now);

// Whether the pod is going because it was preempted.
bool TerminatingByPreemption(const api::Pod& pod);

// Which placed pods are evicted together, and what they count for. Without the gate GenericWorkload
// each pod stands for itself.
//
// Thread safety: one owner. Good for one cycle; all references must outlive it.
class Victims {
 public:
  Victims(const Handle& handle, const Snapshot& snapshot)
      : handle_(handle), snapshot_(snapshot), groups_on_(handle.features().generic_workload) {}

  // That of the pod's group, where it has one that is known.
  int32_t PriorityOf(const PodInfo& pod) const;
  // Those with a pod on `row`, each once, in the order of the node's list.
  void OnNode(NodeRow row, std::vector<Victim>& victims);
  // Those of the whole cluster, in the order of their first pods.
  std::vector<Victim> InCluster();

 private:
  struct Group {
    int32_t priority = 0;
    bool evicted_whole = false;
    std::vector<PlacedPod> pods;  // all of them; only of those that are evicted whole
    size_t listed_in = 0;         // the last list that it was added to
  };
  // nullptr: it is in none that is known.
  const api::PodGroup* GroupOf(const PodInfo& pod) const;
  Group& StateOf(const api::PodGroup& group);
  void Add(NodeRow row, std::vector<Victim>& victims);
  void FindPodsOfGroups();

  const Handle& handle_;
  const Snapshot& snapshot_;
  const bool groups_on_;
  std::map<const api::PodGroup*, Group> groups_;
  bool has_pods_ = false;
  size_t lists_ = 0;
};

}  // namespace berth::plugins
