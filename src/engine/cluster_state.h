// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "berth/pod_info.h"
#include "berth/snapshot.h"
#include "src/extender/extenders.h"

namespace berth::cache {
class NodeOrder;
}  // namespace berth::cache

namespace berth::engine {

// Pods that are expected on nodes they are not yet assumed on.
class NominatedPods {
 public:
  virtual ~NominatedPods() = default;
  // Calls visit for every nomination, in a fixed order.
  virtual void ForEach(
      const std::function<void(std::string_view node_name, const PodInfo& pod)>& visit) const = 0;
  virtual bool empty() const = 0;
  // Changes whenever a nomination comes, goes or gets a newer pod.
  virtual uint64_t generation() const = 0;
  // The node that the pod is nominated for, or "".
  virtual std::string_view NodeOf(std::string_view uid) const = 0;
  // Whether `pod` was promised room on a node, and `other`, of the same priority, on the same node
  // only later: then `pod` need not leave room for `other`. See docs/decisions/0005.
  virtual bool GoesBefore(const PodInfo& pod, const PodInfo& other) const {
    (void)pod, (void)other;
    return false;
  }

  // Whether `pod` must fit on a node together with `nominated`, which is nominated for it: another
  // pod of higher priority, or of equal one unless that came later.
  bool Counts(const PodInfo& pod, const PodInfo& nominated) const {
    if (nominated.priority() != pod.priority()) return nominated.priority() > pod.priority();
    return nominated.pod->metadata.uid != pod.pod->metadata.uid && !GoesBefore(pod, nominated);
  }
  // Whether `pod` must leave room for any of them.
  bool Matter(const PodInfo& pod) const;
};

// The cluster that a pod is decided against.
struct ClusterState {
  const Snapshot& snapshot;
  const NominatedPods& nominated;
  // Grows with every change of objects that are neither pods nor nodes.
  uint64_t objects_generation = 0;
  // The same for PodDisruptionBudgets, which only preemption reads.
  uint64_t budgets_generation = 0;
  // nullptr: there are none, or they are not to be asked.
  extender::Extenders* extenders = nullptr;
  const cache::NodeOrder* node_order = nullptr;  // nullptr: row order
};

}  // namespace berth::engine
