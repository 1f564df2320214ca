// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "berth/node_set.h"
#include "berth/pod_info.h"
#include "berth/status.h"

namespace berth::inline in_tree {

// What would be if pods left a node: pods are imagined away, and back, and the filters asked
// again. Nothing that others see changes.
//
// Thread safety: the scheduling thread, within the PostFilter that asked for it.
class DryRun {
 public:
  virtual ~DryRun() = default;

  // Turns to a node of the snapshot, with all its pods in place.
  virtual void Begin(NodeRow row) = 0;
  // Imagines a pod away from `row`. On another node than the one turned to, it goes only to filters
  // that look beyond the node.
  virtual Status RemovePod(const PodInfo& pod, NodeRow row) = 0;
  // Puts a removed pod back.
  virtual Status AddPod(const PodInfo& pod, NodeRow row) = 0;
  // Whether the pod that is being scheduled passes every filter now, with the pods of equal or
  // higher priority that are nominated for the node, and without them. The verdict of the first
  // filter that rejects it, or Success.
  virtual Status Filter() = 0;
};

}  // namespace berth::inline in_tree
