// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "berth/api/pod.h"
#include "berth/in_tree/cycle_state.h"
#include "berth/in_tree/points.h"
#include "berth/node_set.h"
#include "berth/snapshot.h"
#include "plugins/pod_topology_spread/constraints.h"
#include "plugins/pod_topology_spread/domain_counts.h"

namespace berth::plugins {

// Nodes in groups: those of one domain with as many pods. Groups are numbered as they turn up; one
// that its last node leaves gives its number back, so that there are about as many as have nodes.
//
// Thread safety: one owner; any number of readers while it does not write.
class SpreadGroups {
 public:
  // No groups: what is asked for before Reset() means nothing.
  bool empty() const { return of_row_.empty(); }
  void Clear() { *this = SpreadGroups(); }
  // Over `rows` rows, none of them in a group; `domains` and `pods` are to be below these, whose
  // product is at most 2^16 - 1.
  void Reset(size_t rows, size_t domains, size_t pods);

  // Puts the row in its group. Returns whether it was not in it.
  bool Put(NodeRow row, size_t domain, size_t pods);
  // Sets each group's score to score_of(domain, pods).
  template <typename ScoreOf>
  void Score(ScoreOf score_of) {
    for (size_t i = 0; i < groups_.size(); ++i) {
      if (groups_[i].nodes > 0) scores_[i] = score_of(groups_[i].domain, groups_[i].pods);
    }
  }

  // By row; of rows that are in no group, anything.
  std::span<const uint16_t> of_row() const { return of_row_; }
  // By group.
  std::span<const int64_t> scores() const { return scores_; }
  size_t bytes() const;

 private:
  static constexpr uint16_t kNone = UINT16_MAX;

  struct Group {
    uint32_t domain = 0;
    uint32_t pods = 0;
    uint32_t nodes = 0;
  };

  uint16_t NumberOf(size_t domain, size_t pods);

  size_t pods_ = 0;
  std::vector<uint16_t> number_;  // by domain and pods; kNone: no such group
  std::vector<uint16_t> of_row_;
  std::vector<Group> groups_;
  std::vector<int64_t> scores_;
  std::vector<uint16_t> unused_;
};

// How crowded each domain is with the pods that a pod's soft constraints count. Copies share it.
//
// Thread safety: one owner; any number of readers while it does not write.
class SpreadPreScoreState final {
 public:
  // `require_all_keys`: nodes that lack the key of some constraint neither count nor get a score;
  // otherwise they count as if their value were "".
  SpreadPreScoreState(const api::Pod& pod, const Snapshot& snapshot, SpreadConstraints constraints,
                      const NodeSet& feasible, bool require_all_keys, bool comparison_operators);

  size_t bytes() const;

  // The feasible nodes that get no score.
  const NodeSet& ignored() const { return content_->ignored; }
  // The raw score of a feasible node: pods in its domains, each domain weighted by ln(how many
  // domains there are + 2), plus maxSkew - 1 a constraint. 0 for ignored nodes.
  int64_t Score(NodeRow row) const;
  // Sets scores[i] for rows[i].
  void ScoreNodes(std::span<const NodeRow> rows, std::span<int64_t> scores) const;

  // The scores by domain and, where nodes are spread over by name, number of pods on the node, when
  // that is few groups.
  std::optional<ScoreGroups> Groups() const;

  // Pods came to or left `rows`, and other nodes may be feasible: brings everything up to date and
  // adds the rows whose score (with groups: whose group) may differ to `touched`. False: make the
  // state new. Not for copies.
  bool Update(std::span<const NodeRow> rows, const NodeSet& feasible, NodeSet& touched);

 private:
  struct Soft {
    DomainPods pods;
    // For kubernetes.io/hostname the pods of each node count; nullptr stands for no pods.
    bool by_node = false;
    std::shared_ptr<const PodCounts> node_pods;
    DomainId blank = kNoDomain;  // of the nodes that lack the key
    double weight = 0;
    double tolerance = 0;
  };
  struct Content {
    std::vector<Soft> soft;
    NodeSet scope;     // the nodes that may get a score
    NodeSet feasible;  // as of the last update
    NodeSet ignored;
    // Domains and pods have one value more, for nodes without a domain or without a name to spread
    // over.
    SpreadGroups groups;
  };
  struct Place {
    size_t domain = 0;
    size_t pods = 0;
  };

  static int32_t Pods(const Soft& soft, NodeRow row, DomainId domain) {
    if (!soft.by_node) return soft.pods.Get(domain);
    return soft.node_pods == nullptr ? 0 : soft.node_pods->by_row().Get(row);
  }
  static void MakeGroups(Content& content, size_t rows);
  // Nullopt: there are too many pods on it.
  static std::optional<Place> PlaceOf(const Content& content, NodeRow row);
  static void ScoreEachGroup(Content& content);
  static void UpdateRows(std::span<const NodeRow> rows, Content& content, NodeSet& touched);
  // Returns whether some constraint's weight is another now.
  static bool SetFeasible(const NodeSet& feasible, Content& content);

  std::shared_ptr<Content> content_;  // copies read it only
};

}  // namespace berth::plugins
