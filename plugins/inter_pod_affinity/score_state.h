// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "berth/in_tree/cycle_state.h"
#include "berth/in_tree/points.h"
#include "berth/snapshot.h"
#include "plugins/shared/position_by_key.h"

namespace berth::plugins {

// The score of each domain of each topology key that some term gives a score.
//
// Thread safety: one owner; any number of readers while it does not write.
class PodAffinityScoreState final {
 public:
  // Every counted pod adds `weight` to its domain of the key: pods that a term of the incoming pod
  // means, and pods that have a term which means it. Of counts that nothing else keeps, no more
  // than kMaxOwned stay: what comes after that is added up, and Update() cannot tell any more.
  void AddOwn(const std::shared_ptr<const Topology>& topology, std::shared_ptr<const Counts> counts,
              int64_t weight);
  void AddPlaced(const Snapshot& snapshot, const AffinityTermCounts& term, int64_t weight);

  size_t bytes() const;

  // To be called once everything is added.
  void MakeGroups();
  // The scores by domain, where there is one key with few domains.
  std::optional<ScoreGroups> Groups() const;

  // Pods came to or left `rows`, and `placed` are the terms as they are now: brings the scores up
  // to date and adds the rows whose score may differ to `touched`; none where there are groups.
  // False: make a new state. Not for copies.
  bool Update(std::span<const NodeRow> rows, const std::vector<AffinityTermCounts>& placed,
              NodeSet& touched);

  // Nothing was counted. Scores that add up to 0 are something.
  bool empty() const { return keys_.empty(); }

  // The sum over the keys that the row has.
  int64_t Score(NodeRow row) const;
  // Sets scores[i] for nodes[i].
  void ScoreNodes(std::span<const NodeRow> nodes, std::span<int64_t> scores) const;

  static constexpr size_t kMaxOwned = 256;

 private:
  struct Source {
    std::shared_ptr<const Counts> counts;
    int64_t weight = 0;
  };
  struct Key {
    std::shared_ptr<const Topology> topology;
    std::vector<Source> sources;
    std::vector<int64_t> scores;  // by domain; with groups, one more for nodes without the key
  };

  void Add(const std::shared_ptr<const Topology>& topology, Source source);

  std::vector<Key> keys_;
  PositionByKey by_key_;
  size_t num_owned_ = 0;
  bool sums_alone_ = false;
  std::vector<uint16_t> group_of_;  // by row; empty where there are no groups
  std::vector<std::shared_ptr<const Counts>> without_pods_;  // counts that were empty
  std::vector<uint64_t> placed_terms_;                       // their serials
};

}  // namespace berth::plugins
