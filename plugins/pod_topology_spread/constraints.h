// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "berth/api/pod.h"
#include "berth/in_tree/handle.h"
#include "berth/label_selector.h"
#include "berth/result.h"
#include "plugins/pod_topology_spread/args.h"

namespace berth::plugins {

// A topology spread constraint with its defaults filled in and its selector checked.
struct SpreadConstraint {
  int32_t max_skew = 0;
  std::string topology_key;
  LabelSelectorMatcher selector;  // matchLabelKeys merged into it
  int32_t min_domains = 1;
  // Which nodes count: those that the pod's node affinity matches, those whose taints it tolerates.
  bool honors_node_affinity = true;
  bool honors_node_taints = false;

  // A selector without requirements counts no placed pod, although it matches the pod itself.
  bool counts_pods() const { return !selector.nothing() && !selector.everything(); }
};

using SpreadConstraints = std::vector<SpreadConstraint>;

// Whether the node has the label of every constraint.
bool HasAllKeys(const api::StringMap& node_labels, const SpreadConstraints& constraints);

// Finds the constraints that hold for a pod: its own, or the defaults.
//
// Thread safety: the scheduling thread only, as the listers it reads; it keeps no state.
class ConstraintSource {
 public:
  ConstraintSource(const PodTopologySpreadArgs& args, Handle& handle);

  // Those with DoNotSchedule. Errors: a selector that cannot be parsed.
  Result<SpreadConstraints> Hard(const api::Pod& pod) const;
  // Those with ScheduleAnyway. Errors: as above.
  Result<SpreadConstraints> Soft(const api::Pod& pod) const;
  // Whether nodes that lack a constraint's key get no score: not so with the system's defaults,
  // which spread over nodes also where there are no zones.
  bool RequiresAllKeys(const api::Pod& pod) const;

 private:
  Result<SpreadConstraints> Of(const api::Pod& pod, std::string_view action) const;
  Result<SpreadConstraints> Parse(const std::vector<api::TopologySpreadConstraint>& constraints,
                                  const api::StringMap& pod_labels, std::string_view action) const;

  bool system_defaulting_;
  bool match_label_keys_;
  std::vector<api::TopologySpreadConstraint> defaults_;
  const Listers* listers_;
};

}  // namespace berth::plugins
