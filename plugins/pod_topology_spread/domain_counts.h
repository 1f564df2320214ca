// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "berth/api/pod.h"
#include "berth/in_tree/cycle_budget.h"
#include "berth/in_tree/cycle_state.h"
#include "berth/matching.h"
#include "berth/node_set.h"
#include "berth/snapshot.h"
#include "plugins/pod_topology_spread/constraints.h"

namespace berth::plugins {

// The two domains with the fewest pods. Exact while each domain is updated once, and after updates
// of any one domain; after updates of several the minimum may be too high, as in kube-scheduler,
// whose criticalPaths this is.
class CriticalPaths {
 public:
  void Update(DomainId domain, int32_t pods);
  // The fewest pods; INT32_MAX before the first Update.
  int32_t minimum() const { return least_[0].pods; }
  // No Update with a new domain and a count of 0 or more can change anything.
  bool settled() const { return least_[1].pods == 0; }

 private:
  struct Path {
    DomainId domain = kNoDomain;
    int32_t pods = std::numeric_limits<int32_t>::max();
  };

  std::array<Path, 2> least_;  // the first has no more pods than the second
};

// Which nodes count for the constraints of a pod, by nodeAffinityPolicy and nodeTaintsPolicy. Each
// policy is worked out at most once, when the first constraint asks.
//
// Thread safety: the scheduling thread only.
class NodeInclusion {
 public:
  // `pod` and `snapshot` must outlive this.
  NodeInclusion(const api::Pod& pod, const Snapshot& snapshot, bool comparison_operators);

  // Takes out of `nodes` those that the constraint's policies leave out.
  void Apply(const SpreadConstraint& constraint, NodeSet& nodes);

 private:
  const NodeSet& WithAffinity();
  const NodeSet& WithTolerated();

  const api::Pod& pod_;
  const Snapshot& snapshot_;
  bool comparison_operators_;
  RequiredNodeAffinity affinity_;
  std::optional<NodeSet> with_affinity_;
  std::optional<NodeSet> with_tolerated_;
};

// Spends what it takes to hold the constraints against all nodes. False: that is more than is left.
bool SpendOn(const SpreadConstraints& constraints, const Snapshot& snapshot,
             const std::string& namespace_, CycleBudget& budget);

// The placed pods that the constraint counts in `namespace_`; nullptr when it counts none.
std::shared_ptr<const PodCounts> CountPods(const Snapshot& snapshot,
                                           const SpreadConstraint& constraint,
                                           const std::string& namespace_);

// Pods on some nodes by domain of a topology.
//
// Thread safety: one owner; any number of readers while it does not write.
class DomainPods {
 public:
  DomainPods() = default;
  // `counts` may be nullptr: no pods. Rows of `nodes` without a domain count in `blank`, or not at
  // all when that is kNoDomain. Where `nodes` are all nodes of the topology, the snapshot has the
  // counts ready; else each node is looked at.
  DomainPods(std::shared_ptr<const Topology> topology, std::shared_ptr<const PodCounts> counts,
             NodeSet nodes, DomainId blank = kNoDomain);

  const Topology& topology() const { return *topology_; }
  const NodeSet& nodes() const { return nodes_; }
  int32_t Get(DomainId domain) const { return pods_[domain]; }
  // The domains of the nodes, ascending.
  std::vector<DomainId> Domains() const;
  // About what it holds on the heap; what it shares, in parts.
  size_t bytes() const;
  // Pods came to or left the row; brings its domain up to date.
  void Update(NodeRow row);

 private:
  DomainId DomainOf(NodeRow row) const {
    const DomainId own = topology_->domain_of[row];
    return own == kNoDomain ? blank_ : own;
  }

  std::shared_ptr<const Topology> topology_;
  std::shared_ptr<const PodCounts> counts_;
  NodeSet nodes_;
  DomainId blank_ = kNoDomain;
  bool all_nodes_ = false;       // of the topology
  std::vector<int32_t> pods_;    // by domain, for every id of the topology
  std::vector<int32_t> by_row_;  // what of it the rows are; empty where all_nodes_
};

// The fewest pods in any of `domains`, which ascend.
CriticalPaths Summarize(const DomainPods& pods, std::span<const DomainId> domains);

}  // namespace berth::plugins
