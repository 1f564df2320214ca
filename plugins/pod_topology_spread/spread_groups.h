// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "berth/node_set.h"

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

}  // namespace berth::plugins
