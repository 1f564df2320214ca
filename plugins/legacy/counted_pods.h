// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <optional>

#include "berth/loadable/plugin.hpp"

namespace berth::legacy {

// Pods that PreScore counted, for a plugin whose raw score of a node is how many there are of the
// pod's namespace that a selector matches, those that are being deleted left out.
struct CountedPods {
  std::optional<Counts> counts;  // nullopt: there is nothing to count

  size_t bytes() const { return counts ? counts->bytes() : 0; }
};

// Scheduling thread.
inline CountedPods CountPods(const PodView& pod, const Snapshot& snapshot,
                             const std::optional<Selector>& selector) {
  CountedPods counted;
  if (selector) {
    counted.counts = Counts::Of(snapshot, pod.namespace_(), *selector, /*skip_terminating=*/true);
  }
  return counted;
}

// Sets scores[i] to how many pods are on rows[i].
inline void ScoreCounted(const CountedPods& counted, const uint32_t* rows, int64_t* scores,
                         size_t n) {
  std::fill_n(scores, n, 0);
  if (counted.counts) counted.counts->Read(rows, scores, n);
}

// The same of one node by a look at each pod, for a profile without PreScore.
inline int64_t ScoreUncounted(const std::optional<Selector>& selector, const PodView& pod,
                              const NodeView& node) {
  int64_t pods = 0;
  if (!selector) return pods;
  node.ForEachPod([&](const PodView& placed) {
    const bool counts = placed.namespace_() == pod.namespace_() && !placed.being_deleted() &&
                        selector->Matches(placed.labels());
    pods += counts ? 1 : 0;
    return true;
  });
  return pods;
}

}  // namespace berth::legacy
