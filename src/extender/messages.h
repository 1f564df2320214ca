// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "berth/in_tree/preemption.h"
#include "berth/result.h"
#include "berth/snapshot.h"

// What goes to an extender and comes back, as JSON: k8s.io/kube-scheduler/extender/v1. Members have
// their Go names, so they begin with a capital; answers are read in whatever case they come, since
// Go's reader does not care either.
//
// Pods and nodes are sent as the API server wrote them where that is known (api::SourceText), else
// with the fields that scheduling reads.
//
// Thread safety: any thread.
namespace berth::extender {

// ExtenderArgs: the pod, and the nodes by name or whole.
std::string ArgsBody(const api::Pod& pod, const Snapshot& snapshot, std::span<const NodeRow> nodes,
                     bool names_only);
// ExtenderPreemptionArgs: the pod, and the victims on each node by UID or whole; nodes sorted by
// name.
std::string PreemptionArgsBody(const api::Pod& pod, const Snapshot& snapshot,
                               std::span<const PreemptionCandidate> candidates, bool uids_only);
// ExtenderBindingArgs.
std::string BindingArgsBody(const api::Pod& pod, std::string_view node_name);

// ExtenderFilterResult. Members that were null or absent are nullopt or empty.
struct FilterAnswer {
  using Reasons = std::vector<std::pair<std::string, std::string>>;  // node, message

  std::optional<std::vector<std::string>> nodes;  // the names in Nodes
  std::optional<std::vector<std::string>> node_names;
  Reasons failed_nodes;
  Reasons failed_and_unresolvable_nodes;
  std::string error;
};
Result<FilterAnswer> ReadFilterAnswer(std::string_view body);

// HostPriorityList.
struct HostScore {
  std::string host;
  int64_t score = 0;
};
Result<std::vector<HostScore>> ReadHostPriorityList(std::string_view body);

// ExtenderPreemptionResult.
struct NodeVictims {
  std::string node;
  std::vector<std::string> pod_uids;
  int64_t num_pdb_violations = 0;
};
Result<std::vector<NodeVictims>> ReadPreemptionAnswer(std::string_view body);

// ExtenderBindingResult: its error, "" for none.
Result<std::string> ReadBindingAnswer(std::string_view body);

}  // namespace berth::extender
