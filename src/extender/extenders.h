// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "berth/api/pod.h"
#include "berth/in_tree/preemption.h"
#include "berth/time.h"
#include "src/base/string_map.h"
#include "src/config/types.h"
#include "src/extender/extender.h"

namespace berth::extender {

// Whether the extender wants to be asked about the pod: it manages no resource in particular, or
// one that a container of the pod names.
bool IsInterested(const config::Extender& extender, const api::Pod& pod);

// Knows for how long the scheduling loop may be silent because it waits for an extender, and logs
// the extenders that keep it waiting.
//
// Thread safety: the scheduling thread, but for excused_until().
class ExtenderWatch {
 public:
  // A longer wait is logged, once per extender and kLogAgain.
  static constexpr Duration kSlow = std::chrono::seconds(1);
  static constexpr Duration kLogAgain = std::chrono::seconds(30);

  // `clock` must outlive the watch.
  explicit ExtenderWatch(const Clock& clock) : clock_(clock) {}

  // The scheduling thread blocks for an extender from here on, for at most the timeout.
  void Begin(std::string_view extender, Duration timeout);
  void End();

  // While the loop waits, when the wait is over at the latest; else when the last one was over.
  // Any thread.
  Time excused_until() const { return excused_until_.load(std::memory_order_relaxed); }

 private:
  const Clock& clock_;
  std::string extender_;
  Time began_;
  base::StringMap<Time> logged_;  // by extender; those of the configuration
  std::atomic<Time> excused_until_{Time()};
};

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
