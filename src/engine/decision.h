// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "berth/in_tree/points.h"
#include "berth/node_set.h"

namespace berth::engine {

// What a pod is told that no node takes, and what becomes of its nomination.
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
  // What the last pod of the class was told that was evaluated; good until the next call of the
  // engine. PostFilter need not be asked again.
  const Refusal* refusal = nullptr;
  std::string error;
};

}  // namespace berth::engine
