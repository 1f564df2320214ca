// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "berth/in_tree/points.h"
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
  // The same for PodDisruptionBudgets and pod groups, which only preemption reads.
  uint64_t victims_generation = 0;
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

// The answer to a pod that no node takes, and what becomes of its nomination.
struct Refusal {
  std::string message;
  std::vector<std::string> unschedulable_plugins;
  std::vector<std::string> pending_plugins;
  NominatingInfo nominating;
};

// Whether a pod may be refused because others of its class were.
enum class RefuseAlike : uint8_t { kNo, kYes };

// What came out for one pod.
struct Decision {
  enum class Kind {
    kScheduled,  // node is set
    kUnfit,      // no node passed: refusal or, where that is nullptr, the diagnosis tells why
    kNoNodes,    // there are no nodes at all
    kError,      // error is set
  };
  Kind kind = Kind::kError;
  NodeRow node = kNoRow;
  size_t feasible_nodes = 0;
  size_t evaluated_nodes = 0;
  bool kept = false;  // by what was kept of earlier pods
  // kUnfit: only nodes for which something had changed were judged again.
  bool from_known = false;
  // The refusal of the last pod of the class that was evaluated; good until the next call of the
  // engine. PostFilter need not be asked again.
  const Refusal* refusal = nullptr;
  std::string error;
};

}  // namespace berth::engine
