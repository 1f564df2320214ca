// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "berth/preemption.h"
#include "src/engine/diagnosis.h"
#include "src/framework/extender.h"

namespace berth::engine {

// What part of the nodes kube-scheduler looks at by default, in percent: 50 less one for each 125
// nodes, at least 5.
int32_t AdaptivePercentageOfNodesToScore(size_t nodes);

// Asks the extenders in turn and puts their answers together by kube-scheduler's rules: one that
// fails is passed over if it is ignorable, and otherwise fails the cycle; scores are asked for all
// at once and those of one that fails are left out.
//
// Thread safety: the scheduling thread.
class Extenders {
 public:
  // `waits`, which may be nullptr, must outlive it.
  explicit Extenders(framework::ExtenderList extenders, framework::ExtenderWaits* waits = nullptr)
      : extenders_(std::move(extenders)), waits_(waits) {}

  bool empty() const { return extenders_.empty(); }
  // Whether any has the verb at all.
  bool HasFilter() const;
  bool HasPrioritizer() const;
  // Whether one that filters or prioritises is interested in the pod.
  bool Involved(const api::Pod& pod) const;

  // Takes the nodes that an extender drops out of `feasible` and writes its reasons, which live as
  // long as `state`, to `diagnosis`. `order` has the feasible nodes in the order in which they are
  // asked about, and perhaps others; those left stay in it, in the order of the last answer. Error:
  // one that is not ignorable failed.
  Status Filter(const CycleState& state, const api::Pod& pod, const Snapshot& snapshot,
                std::vector<NodeRow>& order, NodeSet& feasible, Diagnosis& diagnosis);
  // Adds to totals[i] what the extenders give to nodes[i]; `nodes` ascend, `order` has the same
  // nodes in the order in which they are asked about.
  void Prioritize(const api::Pod& pod, const Snapshot& snapshot, std::span<const NodeRow> order,
                  std::span<const NodeRow> nodes, std::span<int64_t> totals);
  // The candidates that the extenders leave, with the victims they want.
  Result<std::vector<PreemptionCandidate>> ProcessPreemption(
      const api::Pod& pod, const Snapshot& snapshot, std::vector<PreemptionCandidate> candidates);

  // How often one has been asked to filter or about preemption.
  uint64_t num_calls() const { return num_calls_; }

 private:
  class Wait;

  framework::ExtenderList extenders_;
  framework::ExtenderWaits* waits_;
  uint64_t num_calls_ = 0;
};

}  // namespace berth::engine
