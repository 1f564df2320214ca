// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>

#include "berth/saturating.h"
#include "plugins/shared/broken_linear_function.h"

// How full a node may best be: the scoring strategies of NodeResourcesFit, which were plugins of
// their own once. Each is a weighted mean over the resources a node has at all. `terms` is a list
// of what has a pod_request and a weight; `of(i)` reads what is allocatable and allocated on the
// node of terms[i]. All divisions truncate. Like broken_linear_function.h without the SDK.
namespace berth::plugins {

inline constexpr int64_t kFullAllocationScore = 100;

enum class ScoringStrategyType { kLeastAllocated, kMostAllocated, kRequestedToCapacityRatio };

template <typename Terms, typename Allocations, typename ResourceScore>
int64_t WeightedMean(const Terms& terms, const Allocations& of, ResourceScore score_of) {
  int64_t score_sum = 0;
  int64_t weight_sum = 0;
  for (size_t i = 0; i < terms.size(); ++i) {
    const auto node = of(i);
    if (node.allocatable == 0) continue;
    score_sum += score_of(SumSaturated(node.allocated, terms[i].pod_request), node.allocatable) *
                 terms[i].weight;
    weight_sum += terms[i].weight;
  }
  return weight_sum == 0 ? 0 : score_sum / weight_sum;
}

// The share that stays free.
template <typename Terms, typename Allocations>
int64_t LeastAllocatedScore(const Terms& terms, const Allocations& of) {
  return WeightedMean(terms, of, [](int64_t requested, int64_t capacity) {
    return requested > capacity ? 0 : ShareOf(capacity - requested, kFullAllocationScore, capacity);
  });
}

// The share that is used, at most all: defaults for missing requests can exceed the capacity.
template <typename Terms, typename Allocations>
int64_t MostAllocatedScore(const Terms& terms, const Allocations& of) {
  return WeightedMean(terms, of, [](int64_t requested, int64_t capacity) {
    return ShareOf(std::min(requested, capacity), kFullAllocationScore, capacity);
  });
}

// A function of the used share; resources that score 0 do not count in the mean, which is rounded
// half away from zero.
template <typename Terms, typename Allocations>
int64_t RequestedToCapacityRatioScore(const Terms& terms, const Allocations& of,
                                      const BrokenLinearFunction& shape) {
  constexpr int64_t kMaxUtilization = 100;
  int64_t score_sum = 0;
  int64_t weight_sum = 0;
  for (size_t i = 0; i < terms.size(); ++i) {
    const auto node = of(i);
    if (node.allocatable == 0) continue;
    const int64_t requested = SumSaturated(node.allocated, terms[i].pod_request);
    const int64_t utilization = requested > node.allocatable
                                    ? kMaxUtilization
                                    : ShareOf(requested, kMaxUtilization, node.allocatable);
    const int64_t score = shape(utilization);
    if (score <= 0) continue;
    score_sum += score * terms[i].weight;
    weight_sum += terms[i].weight;
  }
  if (weight_sum == 0) return 0;
  return static_cast<int64_t>(
      std::round(static_cast<double>(score_sum) / static_cast<double>(weight_sum)));
}

// One of them. Thread safety: immutable.
class AllocationStrategy {
 public:
  // `shape` counts for kRequestedToCapacityRatio only, and is valid then.
  template <typename Shape>
  AllocationStrategy(ScoringStrategyType type, const Shape& shape) : type_(type) {
    if (type == ScoringStrategyType::kRequestedToCapacityRatio) shape_.emplace(shape);
  }

  // From 0 to 100.
  template <typename Terms, typename Allocations>
  int64_t Score(const Terms& terms, const Allocations& of) const {
    if (shape_) return RequestedToCapacityRatioScore(terms, of, *shape_);
    return type_ == ScoringStrategyType::kLeastAllocated ? LeastAllocatedScore(terms, of)
                                                         : MostAllocatedScore(terms, of);
  }

 private:
  ScoringStrategyType type_;
  std::optional<BrokenLinearFunction> shape_;
};

}  // namespace berth::plugins
