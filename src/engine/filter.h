// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "berth/node_set.h"
#include "berth/pod_info.h"
#include "berth/snapshot.h"
#include "src/engine/decision.h"
#include "src/engine/diagnosis.h"
#include "src/framework/runtime.h"

namespace berth::engine {

// Pods that are nominated for a node and that a pod must also fit with, in the order in which they
// were nominated.
std::vector<const PodInfo*> NominatedPodsOn(NodeRow row, const PodInfo& pod,
                                            const ClusterState& cluster);
// Of these nodes those that have some, ascending, with them.
struct NominatedRow {
  NodeRow row = kNoRow;
  std::vector<const PodInfo*> pods;
};
std::vector<NominatedRow> NominatedRowsFor(const NodeSet& nodes, const PodInfo& pod,
                                           const ClusterState& cluster);

// Imagines `nominated` on the row: adds them to `overlay`, and tells the filters that were not
// skipped, whose `state` is changed; nullptr: none of them gets the pods. Error: one of them
// failed.
Status ImagineNominated(const framework::Profile& profile, const framework::Cycle& cycle,
                        const PodInfo& pod, const Snapshot& snapshot, NodeRow row,
                        const std::vector<const PodInfo*>& nominated, CycleState* state,
                        Overlay& overlay);

// Asks the PreFilter plugins about the pod. Success: `named` are the nodes that they leave, in row
// order, or nullopt where they leave all. A rejection speaks for all nodes; anything else is an
// error. `diagnosis`, reset by the caller, gets who narrowed the search, and a rejection.
Status PreFilterNodes(const framework::Profile& profile, framework::Cycle& cycle,
                      const PodInfo& pod, const Snapshot& snapshot, Diagnosis& diagnosis,
                      std::optional<std::vector<NodeRow>>& named);

// Says of all nodes without a verdict of their own that PreFilter narrowed the search to others, in
// the name of the plugins that have rejected the pod so far.
void SetNarrowedReason(const CycleState& state, Diagnosis& diagnosis);

// The verdict on one node, as a FilterPass finds it.
framework::PluginStatus JudgeNode(const framework::Profile& profile, const framework::Cycle& cycle,
                                  const PodInfo& pod, const ClusterState& cluster, NodeRow row);

// Which nodes of a set pass a profile's filters, by columns where a plugin offers them.
//
// A row's verdict is that of the first plugin to reject it, in profile order. Reasons are asked
// for only when they are needed (Explain), by the per-node form.
class FilterPass {
 public:
  FilterPass(const framework::Profile& profile, const framework::Cycle& cycle, const PodInfo& pod,
             const ClusterState& cluster)
      : profile_(profile), cycle_(cycle), pod_(pod), cluster_(cluster) {}

  // Takes the rows that do not pass out of `nodes`. Returns an Error status, and leaves `nodes` in
  // no particular state, when a plugin failed.
  Status Run(NodeSet& nodes);
  // The same of a few nodes for which no pods are nominated that count for the pod: takes no time
  // by the number of all nodes.
  Status RunFew(std::vector<NodeRow>& nodes);

  // Calls visit(row, verdict, plugin) for every row that Run took out and that is in `wanted`.
  // Returns an Error status when a plugin failed.
  using Visit = std::function<void(NodeRow row, const Status& verdict, std::string_view plugin)>;
  Status ForEachRejected(const NodeSet& wanted, const Visit& visit);
  // Writes the same to `diagnosis`.
  Status Explain(const NodeSet& wanted, Diagnosis& diagnosis);

 private:
  // Rows one plugin rejected.
  struct Rejected {
    const framework::FilterEntry* entry = nullptr;
    NodeSet nodes;
  };
  struct Verdict {
    NodeRow row = kNoRow;
    framework::PluginStatus verdict;
  };

  Status RunWithNominatedPods(NodeSet& nodes);
  Status RunPlugin(const framework::FilterEntry& entry, NodeSet& nodes);

  const framework::Profile& profile_;
  const framework::Cycle& cycle_;
  const PodInfo& pod_;
  const ClusterState& cluster_;
  NodeSet closed_;
  std::vector<Rejected> rejected_;
  std::vector<Verdict> explicit_;  // verdicts that came with a status
};

}  // namespace berth::engine
