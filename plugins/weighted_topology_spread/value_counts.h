// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "berth/api/pod.h"
#include "berth/node_set.h"
#include "berth/snapshot.h"
#include "plugins/weighted_topology_spread/args.h"

namespace berth::plugins {

// How the pods that a constraint counts for a pod stand over the constraint's values. Copies share
// what does not change, and keep apart what Count() changed.
//
// Thread safety: one owner; any number of readers while it does not write.
class ValueCounts {
 public:
  // The pods that `constraint` counts for `pod`.
  static PodQuery QueryOf(const WeightedConstraint& constraint, const api::Pod& pod);

  ValueCounts(std::shared_ptr<const WeightedConstraint> constraint, const api::Pod& pod,
              const Snapshot& snapshot);

  const WeightedConstraint& constraint() const { return *fixed_->constraint; }
  // The nodes that have the label, whatever its value.
  const NodeSet& nodes() const { return fixed_->topology->nodes; }
  size_t num_values() const { return constraint().values.size(); }
  // Which value the node has; num_values() where it has none of them.
  size_t ValueOf(NodeRow row) const {
    const DomainId domain = fixed_->topology->domain_of[row];
    return domain == kNoDomain ? num_values() : fixed_->value_of[domain];
  }

  // By value: whether one more pod there would exceed the value's share by more than maxSkew. Not
  // of values in order.
  bool Exceeds(size_t value) const;
  // By value, and 0 for nodes that have none of them: 100 for the one that the next pod should go
  // to, less the more others come before it, above 0 for all. With weights that is the value where
  // the pods, half of the next one counted, are the least for its weight; values where they are
  // alike have the same.
  std::vector<int64_t> Preferences() const;

  // Pods came or went: reads the snapshot's counts. Returns whether any differs. Not for copies,
  // nor where pods are imagined.
  bool Update();
  // Counts `pod` on the row `delta` times more, if it is one that counts.
  void Count(const api::Pod& pod, NodeRow row, int32_t delta);

  // About what it holds on the heap; what it shares, in parts.
  size_t bytes() const;

 private:
  struct Fixed {
    std::shared_ptr<const WeightedConstraint> constraint;
    PodQuery query;
    std::shared_ptr<const Topology> topology;
    std::shared_ptr<const PodCounts> counts;  // nullptr: none are needed, or there are no nodes
    std::vector<DomainId> domain_of;          // by value; kNoDomain: no node has it
    std::vector<uint32_t> value_of;           // by domain; num_values(): none
    int64_t sum_of_weights = 0;
  };

  std::shared_ptr<const Fixed> fixed_;
  std::vector<int64_t> pods_;  // by value; empty for values in order
  int64_t total_ = 0;          // of pods_
};

}  // namespace berth::plugins
