// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "berth/cycle_state.h"
#include "berth/snapshot.h"

namespace berth::plugins {

// The score of each domain of each topology key that some term gives a score.
//
// Thread safety: one owner; any number of readers while nobody writes.
class PodAffinityScoreState final : public StateData {
 public:
  std::unique_ptr<StateData> Clone() const override {
    return std::make_unique<PodAffinityScoreState>(*this);
  }

  // Every counted pod adds `weight` to its domain of the key.
  void Add(const Snapshot& snapshot, std::string_view key, const Counts& by_domain, int64_t weight);

  // Nothing was counted. Scores that add up to 0 are something.
  bool empty() const { return keys_.empty(); }

  // The sum over the keys that the row has.
  int64_t Score(NodeRow row) const;
  // Sets scores[i] for nodes[i].
  void ScoreNodes(std::span<const NodeRow> nodes, std::span<int64_t> scores) const;

 private:
  struct Key {
    std::shared_ptr<const Topology> topology;
    std::vector<int64_t> scores;  // by domain
  };

  std::vector<Key> keys_;
};

}  // namespace berth::plugins
