// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "berth/in_tree/preemption.h"
#include "src/extender/extender.h"
#include "src/extender/extender_watch.h"

namespace berth::extender {

// Asks the extenders in turn and puts their answers together by kube-scheduler's rules: one that
// fails is passed over if it is ignorable, and otherwise fails the cycle; scores are asked for all
// at once and those of one that fails are left out.
//
// Thread safety: the scheduling thread, but for excused_until().
class Extenders {
 public:
  // `clock` must outlive it.
  Extenders(ExtenderList extenders, const Clock& clock)
      : extenders_(std::move(extenders)), watch_(clock) {}

  bool empty() const { return extenders_.empty(); }
  // Whether any has the verb at all.
  bool HasFilter() const;
  bool HasPrioritizer() const;
  // Whether one that filters or prioritises is interested in the pod.
  bool Involved(const api::Pod& pod) const;

  // Asks about `nodes` in this order. The result's order is that of the last answer; the reasons
  // are those of all. Error: one that is not ignorable failed.
  Result<FilterResult> Filter(const api::Pod& pod, const Snapshot& snapshot,
                              std::vector<NodeRow> nodes);
  // Adds to totals[i] what the extenders give to nodes[i]; `nodes` ascend, `order` has the same
  // nodes in the order in which they are asked about.
  void Prioritize(const api::Pod& pod, const Snapshot& snapshot, std::span<const NodeRow> order,
                  std::span<const NodeRow> nodes, std::span<int64_t> totals);
  // The candidates that the extenders leave, with the victims they want.
  Result<std::vector<PreemptionCandidate>> ProcessPreemption(
      const api::Pod& pod, const Snapshot& snapshot, std::vector<PreemptionCandidate> candidates);

  // How often one has been asked to filter or about preemption.
  uint64_t num_calls() const { return num_calls_; }
  // See ExtenderWatch. Any thread.
  Time excused_until() const { return watch_.excused_until(); }

 private:
  const ExtenderList extenders_;
  ExtenderWatch watch_;
  uint64_t num_calls_ = 0;
};

}  // namespace berth::extender
