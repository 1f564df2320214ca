// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "berth/in_tree/points.h"
#include "berth/node_set.h"
#include "berth/status.h"

namespace berth::engine {

// The verdicts of rejected nodes: one each for those looked at, and one for all others. Nodes share
// few verdicts, so each is there once, with the number of its nodes.
class NodeStatuses final : public NodeToStatus {
 public:
  struct Verdict {
    Status status;
    std::string_view plugin;
    size_t num_nodes = 0;  // 0: of no node any more
  };

  // Forgets everything; from now on over `rows` node rows.
  void Reset(size_t rows);
  // From now on over so many, which are not fewer; the new ones have no verdict.
  void Grow(size_t rows);
  void Set(NodeRow row, Status status, std::string_view plugin);
  // The node is none any more.
  void Clear(NodeRow row);
  void SetAbsent(Status status) { absent_ = status; }
  // From now on the verdicts have their reasons from `reasons`, which must outlive them.
  void Intern(ReasonTable& reasons);

  Status Get(NodeRow row) const override;
  // The plugin that rejected the row; "" for absent nodes.
  std::string_view plugin(NodeRow row) const;
  Status absent() const { return absent_; }
  const NodeSet& explicit_nodes() const { return explicit_; }
  size_t num_explicit() const { return num_explicit_; }
  const std::vector<Verdict>& verdicts() const { return verdicts_; }
  // About how much memory it takes.
  size_t bytes() const;

 private:
  using VerdictId = uint32_t;
  // The code and the place of the reasons, and that of the plugin's name.
  using Key = std::pair<std::pair<Code, const ReasonSet*>, const char*>;

  static Key KeyOf(const Status& status, std::string_view plugin) {
    return {{status.code(), &status.reasons()}, plugin.data()};
  }
  VerdictId IdOf(const Status& status, std::string_view plugin);

  NodeSet explicit_;
  size_t num_explicit_ = 0;
  std::vector<Verdict> verdicts_;
  absl::flat_hash_map<Key, VerdictId> ids_;
  VerdictId last_ = 0;                 // that was set; many rows in a row have the same
  std::vector<VerdictId> verdict_of_;  // by row
  Status absent_;
};

// Why no node took a pod. The statuses' reasons live as long as the pod's CycleState.
struct Diagnosis {
  size_t num_all_nodes = 0;
  NodeStatuses statuses;
  std::string pre_filter_message;
  // Who rejected the pod, or named the only nodes that may pass, before any node was looked at.
  std::vector<std::string> pre_filter_plugins;
  std::string post_filter_message;
  // Who rejected the pod on at least one node; sorted, unique.
  std::vector<std::string> unschedulable_plugins;
  std::vector<std::string> pending_plugins;

  void Reset(size_t rows);
  // Adds the plugin of a rejection.
  void AddPlugin(std::string_view plugin, const Status& status);
  void AddPlugin(std::string_view plugin);
};

// "0/3 nodes are available: 1 node(s) had untolerated taint(s), 2 Insufficient cpu. ...", as
// kube-scheduler's FitError prints it: reasons counted, sorted as whole strings.
std::string FitErrorMessage(const Diagnosis& diagnosis);

// The same for a rejection by Reserve or Permit of the one node that was chosen.
std::string FitErrorMessage(const Status& status);

}  // namespace berth::engine
