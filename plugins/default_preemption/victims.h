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

#include "berth/api/scheduling.h"
#include "berth/in_tree/handle.h"
#include "berth/pod_info.h"
#include "berth/snapshot.h"
#include "berth/time.h"

namespace berth::plugins {

struct PlacedPod {
  const PodInfo* info = nullptr;  // good for the running cycle
  NodeRow row = kNoRow;
};

// What a victim disrupts; the later, the more it counts.
enum class Disrupts : uint8_t { kPod, kPodGroup, kCompositePodGroup };

// What is evicted as one: a pod, or all placed pods of a group with the disruption mode All, the
// groups below it included.
class Victim {
 public:
  Victim(PlacedPod pod, int32_t priority, Disrupts disrupts)
      : pod_(pod), priority_(priority), disrupts_(disrupts) {}
  // `group` outlives the victim and is not empty.
  Victim(const std::vector<PlacedPod>& group, int32_t priority, Disrupts disrupts)
      : pod_(group.front()), group_(&group), priority_(priority), disrupts_(disrupts) {}

  std::span<const PlacedPod> pods() const {
    return group_ == nullptr ? std::span<const PlacedPod>(&pod_, 1) : std::span(*group_);
  }
  int32_t priority() const { return priority_; }
  Disrupts disrupts() const { return disrupts_; }
  // Whether it disrupts a group, as a whole or by one pod.
  bool of_group() const { return disrupts_ != Disrupts::kPod; }
  // nullptr: it is a single pod.
  const std::vector<PlacedPod>* group() const { return group_; }

 private:
  PlacedPod pod_;
  const std::vector<PlacedPod>* group_ = nullptr;
  int32_t priority_;
  Disrupts disrupts_;
};

// Whether `a` is the one to spare: higher priority, then a composite pod group, then of a pod
// group, then of more pods, then started earlier. A pod that has not started counts as started at
// `now`.
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
      : handle_(handle),
        snapshot_(snapshot),
        groups_on_(handle.features().generic_workload),
        trees_on_(handle.features().composite_pod_group) {}

  // That of the pod's group, where it has one that is known, or of the last known one above it.
  int32_t PriorityOf(const PodInfo& pod) const;
  // Those with a pod on `row`, each once, in the order of the node's list.
  void OnNode(NodeRow row, std::vector<Victim>& victims);
  // Those of the whole cluster, in the order of their first pods.
  std::vector<Victim> InCluster();

 private:
  // A group that is evicted whole.
  struct Group {
    std::vector<PlacedPod> pods;  // all of them
    size_t listed_in = 0;         // the last list that it was added to
  };
  // What the pods of a pod group count for.
  struct Standing {
    int32_t priority = 0;
    // The highest group with the disruption mode All that they belong to; by its metadata, which
    // lives as long as the cycle. nullptr: each stands for itself.
    const api::ObjectMeta* evicted_with = nullptr;
    Disrupts disrupts = Disrupts::kPodGroup;
  };
  // nullptr: it is in none that is known.
  const api::PodGroup* GroupOf(const PodInfo& pod) const;
  Standing Find(const api::PodGroup& group) const;
  // The same, found once.
  const Standing& StandingOf(const api::PodGroup& group);
  void Add(NodeRow row, std::vector<Victim>& victims);
  void FindPodsOfGroups();

  const Handle& handle_;
  const Snapshot& snapshot_;
  const bool groups_on_;
  const bool trees_on_;
  std::map<const api::PodGroup*, Standing> standings_;
  std::map<const api::ObjectMeta*, Group> groups_;
  bool has_pods_ = false;
  size_t lists_ = 0;
};

}  // namespace berth::plugins
