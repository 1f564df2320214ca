// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "berth/api/meta.h"
#include "berth/api/pod.h"
#include "berth/api/workloads.h"
#include "berth/label_selector.h"
#include "berth/pod_info.h"
#include "berth/resources.h"
#include "berth/snapshot.h"

// Pods, those who make them again, and what the API server says to their eviction.
namespace berth::inline in_tree {

// The owner that controls the object; nullptr: none.
const api::OwnerReference* ControllerOf(const api::ObjectMeta& meta);
// Of a DaemonSet: it stays with its node.
bool IsDaemon(const api::Pod& pod);
// Made by a kubelet from a file, as an annotation says or its owner, the node: evictions do not
// touch it.
bool IsMirror(const api::Pod& pod);
// Whether it comes with its node and goes with it: a DaemonSet's, or a static pod.
bool IsTied(const api::Pod& pod);
// Whether it is being deleted, and its controller has made the next one. A StatefulSet's has the
// name of this one, so it waits for its end.
bool HasSuccessor(const api::Pod& pod);
// Whether another takes its place elsewhere when it goes. Of a pod that is being deleted already
// only a StatefulSet makes another then; other controllers have made theirs.
bool ComesBack(const api::Pod& pod);
// Whether its condition Ready is true.
bool IsReady(const api::Pod& pod);

// Whether the API server copies this label of a node onto the pods that are bound to it, as its
// plugin PodTopologyLabels does: it tells pods of one template apart.
bool IsLabelOfNode(std::string_view key);
// Whether a pod may be the one that the controller of `gone` has made in its place: they have that
// controller and one template, and those of a StatefulSet one name.
bool MayReplace(const api::Pod& gone, const api::Pod& pod);
// What the controller makes: the pod before a scheduler saw it.
std::shared_ptr<const api::Pod> PendingCopy(const api::Pod& pod, const std::string& name);

// Why nothing moves this pod, which is on a node: no controller makes it again, it holds what is
// local to its node or was allocated there, its owner has said that it is not to be disrupted
// (cluster-autoscaler.kubernetes.io/safe-to-evict, karpenter.sh/do-not-disrupt), or it is
// part of a pod group. "": it may be moved. For pods as they count: see PodGroupNameOf().
std::string_view WhyItStays(const api::Pod& pod);

// How many of the pods, which are on the node, must leave it at least for the node to have what is
// asked for; never 0. nullopt: with all of them gone it has not.
std::optional<size_t> FewestToGo(const Resources& asked, std::span<const PodInfo* const> pods,
                                 const Snapshot& snapshot, NodeRow row);
// The largest part that the pod is, in any resource, of what is asked for.
double LargestPart(const PodInfo& pod, const Resources& asked);

// What the API server says to an eviction.
enum class Leave : uint8_t {
  kRefused,
  kCounted,  // the budget allows one less
  kFree,     // it disrupts nothing that a budget protects
};

// How many evictions each PodDisruptionBudget allows: at first as its status says.
//
// Thread safety: one owner; any number of readers while it does not write.
class EvictionBudgets {
 public:
  // One with a bad selector covers nothing.
  void Add(const api::PodDisruptionBudget& budget);

  // Those that select the pod, by "namespace/name".
  std::vector<std::string> Of(const api::Pod& pod) const;
  Leave Ask(const api::Pod& pod) const;
  // `by`: -1 where a pod goes, 1 where its successor runs.
  void Count(const api::Pod& pod, int by);
  // The status of the budget, which was added as `before`, is that of `after`; what was counted
  // still counts.
  void Replace(const api::PodDisruptionBudget& before, const api::PodDisruptionBudget& after);

 private:
  struct Budget {
    std::string key;
    LabelSelectorMatcher selector;
    bool always_unhealthy = false;  // those that are not ready may always go
    int64_t allowed = 0;
    int64_t healthy = 0;
    int64_t desired = 0;
  };
  template <typename Visit>
  void ForEachOf(const api::Pod& pod, Visit visit) const;

  std::map<std::string, std::vector<Budget>, std::less<>> by_namespace_;
};

}  // namespace berth::inline in_tree
