// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <span>

#include "berth/check.h"
#include "berth/in_tree/points.h"
#include "plugins/shared/allocation.h"
#include "plugins/shared/function_shape.h"

// How full a node may best be: the scoring strategies of NodeResourcesFit, which were plugins of
// their own once. Each is a weighted mean over the resources a node has at all; `of(i)` reads the
// node's amounts for terms[i]. All divisions truncate.
namespace berth::plugins {

enum class ScoringStrategyType { kLeastAllocated, kMostAllocated, kRequestedToCapacityRatio };

template <typename Allocations, typename ResourceScore>
int64_t WeightedMean(std::span<const AllocationTerm> terms, const Allocations& of,
                     ResourceScore score_of) {
  int64_t score_sum = 0;
  int64_t weight_sum = 0;
  for (size_t i = 0; i < terms.size(); ++i) {
    const NodeAllocation node = of(i);
    if (node.allocatable == 0) continue;
    score_sum +=
        score_of(node.allocated + terms[i].pod_request, node.allocatable) * terms[i].weight;
    weight_sum += terms[i].weight;
  }
  return weight_sum == 0 ? 0 : score_sum / weight_sum;
}

// The share that stays free.
template <typename Allocations>
int64_t LeastAllocatedScore(std::span<const AllocationTerm> terms, const Allocations& of) {
  return WeightedMean(terms, of, [](int64_t requested, int64_t capacity) {
    return requested > capacity ? 0 : (capacity - requested) * kMaxNodeScore / capacity;
  });
}

// The share that is used, at most all: defaults for missing requests can exceed the capacity.
template <typename Allocations>
int64_t MostAllocatedScore(std::span<const AllocationTerm> terms, const Allocations& of) {
  return WeightedMean(terms, of, [](int64_t requested, int64_t capacity) {
    return (requested > capacity ? capacity : requested) * kMaxNodeScore / capacity;
  });
}

// A function of the used share; resources that score 0 do not count in the mean, which is rounded
// half away from zero.
template <typename Allocations>
int64_t RequestedToCapacityRatioScore(std::span<const AllocationTerm> terms, const Allocations& of,
                                      const BrokenLinearFunction& shape) {
  constexpr int64_t kMaxUtilization = 100;
  int64_t score_sum = 0;
  int64_t weight_sum = 0;
  for (size_t i = 0; i < terms.size(); ++i) {
    const NodeAllocation node = of(i);
    if (node.allocatable == 0) continue;
    const int64_t requested = node.allocated + terms[i].pod_request;
    const int64_t utilization = requested > node.allocatable
                                    ? kMaxUtilization
                                    : requested * kMaxUtilization / node.allocatable;
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
  AllocationStrategy(ScoringStrategyType type, std::span<const UtilizationShapePoint> shape)
      : type_(type) {
    if (type == ScoringStrategyType::kRequestedToCapacityRatio) shape_.emplace(shape);
  }

  // From 0 to 100.
  template <typename Allocations>
  int64_t Score(std::span<const AllocationTerm> terms, const Allocations& of) const {
    switch (type_) {
      case ScoringStrategyType::kLeastAllocated:
        return LeastAllocatedScore(terms, of);
      case ScoringStrategyType::kMostAllocated:
        return MostAllocatedScore(terms, of);
      case ScoringStrategyType::kRequestedToCapacityRatio:
        return RequestedToCapacityRatioScore(terms, of, *shape_);
    }
    BERTH_CHECK(false, "no such scoring strategy");
    return 0;
  }

 private:
  ScoringStrategyType type_;
  std::optional<BrokenLinearFunction> shape_;
};

}  // namespace berth::plugins
