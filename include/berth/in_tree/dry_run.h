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

// What would be if pods moved: pods leave nodes and are placed on nodes on trial, in the snapshot
// itself, and pods are judged by the filters and scores of their own profiles. Pods for which
// places are held (Handle::HoldPlace) are on their nodes. All of it is taken back at its end; no
// other may begin before, and no dry run goes on meanwhile but for the try of a PodGroupDryRun. In
// one of these, what is away there is away here.
//
// Judging spends from the budget of the PostFilter's cycle. Once that is used up, or where an
// extender has a say or no profile is the pod's, no node takes a pod.
//
// Thread safety: the scheduling thread, within the PostFilter, or PodGroupPostFilter, that asked
// for it.
class MovesTrial {
 public:
  virtual ~MovesTrial() = default;

  // The pod leaves its node.
  virtual void Remove(const PodInfo& pod) = 0;
  // The pod that its controller makes in the place of a placed one: without a node.
  virtual PodInfoPtr Successor(const api::Pod& pod) = 0;
  // Whether the node takes the pod, which has none.
  virtual bool Fits(const PodInfo& pod, NodeRow row) = 0;
  // The node that the pod, which has none, would go to if `but` were not there: the one with the
  // highest total of scores, by name among equal ones. kNoRow: no node takes it.
  virtual NodeRow BestNode(const PodInfo& pod, NodeRow but) = 0;
  // Puts the pod on the node. False: it is on one.
  virtual bool Place(const PodInfo& pod, NodeRow row) = 0;
};

}  // namespace berth::inline in_tree
