// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "berth/api/pod.h"
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

// The placed pods that the constraint counts in `namespace_`; nullptr when it counts none.
std::shared_ptr<const PodCounts> CountPods(const Snapshot& snapshot,
                                           const SpreadConstraint& constraint,
                                           const std::string& namespace_);

// Pods on `nodes` by domain, for every id of the topology. Rows without a domain count in `blank`,
// or not at all when that is kNoDomain. `counts` may be nullptr: no pods.
//
// When `nodes` are all nodes of the topology, the counts are kept ready; else each node is looked
// at.
std::vector<int32_t> PodsByDomain(const Topology& topology, const PodCounts* counts,
                                  const NodeSet& nodes, DomainId blank = kNoDomain);

// The domains of `nodes`, which all have one.
struct DomainSummary {
  size_t num_domains = 0;
  CriticalPaths paths;
};
DomainSummary Summarize(const Topology& topology, const std::vector<int32_t>& pods_by_domain,
                        const NodeSet& nodes);

}  // namespace berth::plugins
