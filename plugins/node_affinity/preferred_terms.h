// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "berth/api/pod.h"
#include "berth/matching.h"
#include "berth/result.h"

namespace berth::plugins {

// Preferred node affinity, checked once and then scored often. Terms of weight 0 and terms without
// expressions and fields count nothing.
//
// Thread safety: immutable after Make.
class PreferredTerms {
 public:
  // Errors: terms that cannot be parsed, as Kubernetes prints them.
  static Result<PreferredTerms> Make(std::span<const api::PreferredSchedulingTerm> terms);
  // What cannot be parsed, each text beginning with the term's index ("[0].matchExpressions...").
  static std::vector<std::string> Problems(std::span<const api::PreferredSchedulingTerm> terms);

  // The sum of the weights of the terms that match.
  int64_t Score(const api::Node& node) const;
  // Adds the same to scores[i] for nodes[i].
  void AddScores(const Snapshot& snapshot, std::span<const NodeRow> nodes,
                 std::span<int64_t> scores) const;

 private:
  struct Term {
    NodeSelectorMatcher matcher;
    int64_t weight = 0;
  };

  std::vector<Term> terms_;
};

}  // namespace berth::plugins
