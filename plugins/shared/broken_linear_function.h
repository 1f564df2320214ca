// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

// Only the language's own headers: plugins/legacy has it, too, which sees the C interface alone.
namespace berth::plugins {

// A point of a piecewise linear score function: utilization in percent, score from 0 to 10.
struct UtilizationShapePoint {
  int32_t utilization = 0;
  int32_t score = 0;

  friend bool operator==(const UtilizationShapePoint&, const UtilizationShapePoint&) = default;
};

// The function through a shape's points, scores scaled to 0..100; flat outside the points.
// Division truncates toward zero. Thread safety: immutable.
class BrokenLinearFunction {
 public:
  // `shape` is a range of UtilizationShapePoint, and valid.
  template <typename Shape>
  explicit BrokenLinearFunction(const Shape& shape) {
    constexpr int64_t kScale = 10;
    for (const UtilizationShapePoint& point : shape) {
      points_.push_back({point.utilization, point.score * kScale});
    }
  }

  int64_t operator()(int64_t utilization) const {
    for (size_t i = 0; i < points_.size(); ++i) {
      if (utilization > points_[i].utilization) continue;
      if (i == 0) return points_[0].score;
      const Point& a = points_[i - 1];
      const Point& b = points_[i];
      return a.score +
             (b.score - a.score) * (utilization - a.utilization) / (b.utilization - a.utilization);
    }
    return points_.back().score;
  }

 private:
  struct Point {
    int64_t utilization = 0;
    int64_t score = 0;
  };

  std::vector<Point> points_;
};

}  // namespace berth::plugins
