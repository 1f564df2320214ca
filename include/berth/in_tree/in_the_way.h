// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "berth/api/pod.h"
#include "berth/snapshot.h"

namespace berth::inline in_tree {

// A Filter that can say what it is on a node that its rejection means, where the node and its pods
// alone do not show that. For people: reasons keep kube-scheduler's words.
class InTheWayPlugin {
 public:
  virtual ~InTheWayPlugin() = default;
  // "": nothing that it knows. As of now, without what a cycle keeps. Scheduling thread.
  virtual std::string InTheWayOf(const api::Pod& pod, const NodeView& node) const = 0;
};

}  // namespace berth::inline in_tree
