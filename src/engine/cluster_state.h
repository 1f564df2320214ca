// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "berth/node_set.h"
#include "berth/snapshot.h"
#include "src/cache/nominator.h"
#include "src/extender/extenders.h"

namespace berth::cache {
class NodeOrder;
}  // namespace berth::cache

namespace berth::engine {

// The cluster that a pod is decided against.
struct ClusterState {
  const Snapshot& snapshot;
  const cache::Nominator& nominated;
  // Grows with every change of objects that are neither pods nor nodes.
  uint64_t objects_generation = 0;
  // The same for PodDisruptionBudgets, which only preemption reads.
  uint64_t budgets_generation = 0;
  // nullptr: there are none, or they are not to be asked.
  extender::Extenders* extenders = nullptr;
  const cache::NodeOrder* node_order = nullptr;  // nullptr: row order
  // The only nodes that the pod may go to, a part of the snapshot's; nullptr: all. Plugins see
  // every node all the same.
  const NodeSet* placement = nullptr;

  // How many nodes the pod may go to.
  size_t num_nodes() const {
    return placement == nullptr ? snapshot.num_nodes() : placement->Count();
  }
};

}  // namespace berth::engine
