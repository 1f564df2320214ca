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
  const ConfigValue::List& list = fields.GetList(field);
  for (size_t i = 0; i < list.size(); ++i) {
    FieldReader entry(list[i], IndexedPath(fields.PathOf(field), i));
    UtilizationShapePoint point;
    entry.Read("utilization", point.utilization);
    entry.Read("score", point.score);
    fields.Merge(entry);
    shape.push_back(point);
  }
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
    if (shape[i].utilization < 0 || shape[i].utilization > kMaxUtilization) {
      problems.push_back(InvalidField(IndexedPath(path, i) + ".utilization",
                                      std::to_string(shape[i].utilization),
                                      "not in valid range [0, 100]"));
    }
    if (shape[i].score < 0 || shape[i].score > kMaxShapeScore) {
      problems.push_back(InvalidField(IndexedPath(path, i) + ".score",
                                      std::to_string(shape[i].score),
                                      "not in valid range [0, 10]"));
    }
  }
}

}  // namespace berth::plugins
