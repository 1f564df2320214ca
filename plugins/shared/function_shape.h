// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "berth/config_value.h"

namespace berth::plugins {

// A point of a piecewise linear score function: utilization in percent, score from 0 to 10.
struct UtilizationShapePoint {
  int32_t utilization = 0;
  int32_t score = 0;

  friend bool operator==(const UtilizationShapePoint&, const UtilizationShapePoint&) = default;
};

std::vector<UtilizationShapePoint> ReadShape(FieldReader& fields, std::string_view field);

// Adds what is wrong with the shape at `path`: it needs a point, utilizations that increase within
// 0..100, and scores within 0..10.
void ValidateShape(std::span<const UtilizationShapePoint> shape, std::string_view path,
                   std::vector<std::string>& problems);

// The function through the shape's points, scores scaled to 0..100; flat outside the points.
// Division truncates toward zero. Thread safety: immutable.
class BrokenLinearFunction {
 public:
  // `shape` is valid.
  explicit BrokenLinearFunction(std::span<const UtilizationShapePoint> shape);

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
