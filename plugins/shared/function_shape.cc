// SPDX-License-Identifier: Apache-2.0
#include "plugins/shared/function_shape.h"

#include "berth/field_errors.h"
#include "plugins/shared/args_reader.h"

namespace berth::plugins {
namespace {

constexpr int32_t kMaxUtilization = 100;
constexpr int32_t kMaxShapeScore = 10;

}  // namespace

std::vector<UtilizationShapePoint> ReadShape(FieldReader& fields, std::string_view field) {
  std::vector<UtilizationShapePoint> shape;
  ReadEach(fields, field, [&](FieldReader& entry) {
    UtilizationShapePoint& point = shape.emplace_back();
    entry.Read("utilization", point.utilization);
    entry.Read("score", point.score);
  });
  return shape;
}

void ValidateShape(std::span<const UtilizationShapePoint> shape, std::string_view path,
                   std::vector<std::string>& problems) {
  if (shape.empty()) {
    problems.push_back(RequiredField(path, "at least one point must be specified"));
    return;
  }
  for (size_t i = 1; i < shape.size(); ++i) {
    if (shape[i - 1].utilization < shape[i].utilization) continue;
    problems.push_back(InvalidField(IndexedPath(path, i) + ".utilization",
                                    std::to_string(shape[i].utilization),
                                    "values must be sorted in increasing order"));
    break;
  }
  for (size_t i = 0; i < shape.size(); ++i) {
    const std::string point = IndexedPath(path, i);
    CheckRange(shape[i].utilization, 0, kMaxUtilization, point + ".utilization", problems);
    CheckRange(shape[i].score, 0, kMaxShapeScore, point + ".score", problems);
  }
}

}  // namespace berth::plugins
