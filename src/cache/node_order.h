// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "berth/api/node.h"
#include "berth/node_set.h"

namespace berth::cache {

// The order in which a search that does not look at all nodes goes through them, kube-scheduler's:
// a node of each zone in turn. Zones stand in the order in which they appeared, nodes of a zone in
// the order in which they came to it. A zone is the pair of the labels
// topology.kubernetes.io/region and /zone, or of their predecessors under
// failure-domain.beta.kubernetes.io; nodes without any are in one, too.
//
// Thread safety: one owner.
class NodeOrder {
 public:
  // `row` is not in it.
  void Add(NodeRow row, const api::Node& node);
  // `old_node` is what the row was added or last updated with.
  void Update(NodeRow row, const api::Node& old_node, const api::Node& node);
  void Remove(NodeRow row, const api::Node& node);

  // All rows. Put together at the first call after a change; valid until the next change.
  std::span<const NodeRow> rows() const;

 private:
  struct Zone {
    std::string region;
    std::string zone;
    std::vector<NodeRow> rows;
  };

  std::vector<Zone> zones_;  // none is empty
  mutable std::vector<NodeRow> rows_;
  mutable bool stale_ = false;
};

}  // namespace berth::cache
