// SPDX-License-Identifier: Apache-2.0
#include "plugins/volume_binding/args.h"

#include <chrono>
#include <optional>
#include <utility>

#include "berth/field_errors.h"
#include "plugins/shared/args_reader.h"
#include "plugins/shared/function_shape.h"

namespace berth::plugins {
namespace {

constexpr std::string_view kTimeout = "bindTimeoutSeconds";
constexpr std::string_view kShape = "shape";
constexpr int64_t kDefaultTimeoutSeconds = 600;

ConfigValue Point(int64_t utilization, int64_t score) {
  return ConfigValue(
      ConfigValue::Map{{"utilization", ConfigValue(utilization)}, {"score", ConfigValue(score)}});
}

}  // namespace

Result<VolumeBindingArgs> ParseVolumeBindingArgs(const ConfigValue& value) {
  FieldReader fields(value, "");
  ReadTypeMeta(fields, "VolumeBinding");
  int64_t timeout = kDefaultTimeoutSeconds;
  fields.Read(kTimeout, timeout);
  VolumeBindingArgs args;
  std::vector<UtilizationShapePoint> shape = ReadShape(fields, kShape);
  if (auto error = fields.Finish()) return Fail(std::move(*error));
  args.bind_timeout = std::chrono::seconds(timeout);
  if (!shape.empty()) args.shape = std::move(shape);
  return args;
}

ConfigValue VolumeBindingArgsWithDefaults(const ConfigValue& args, const ArgsFeatures& features) {
  ConfigValue result = WithDefault(args, kTimeout, ConfigValue(kDefaultTimeoutSeconds));
  const ConfigValue* shape = args.Find(kShape);
  const bool given = shape != nullptr && shape->list() != nullptr && !shape->list()->empty();
  if (given || !features.storage_capacity_scoring) return result;
  return WithField(result, kShape, ConfigValue(ConfigValue::List{Point(0, 10), Point(100, 0)}));
}

std::vector<std::string> VolumeBindingArgsProblems(const ConfigValue& args, const std::string& path,
                                                   const ArgsFeatures& features) {
  FieldReader fields(args, path);
  int64_t timeout = kDefaultTimeoutSeconds;
  fields.Read(kTimeout, timeout);
  const bool has_shape = fields.Get(kShape) != nullptr;
  const std::vector<UtilizationShapePoint> shape = ReadShape(fields, kShape);
  if (auto error = fields.Finish()) return {error->message};

  std::vector<std::string> problems;
  if (timeout < 0) {
    problems.push_back(InvalidField(FieldPath(path, kTimeout), std::to_string(timeout),
                                    "invalid BindTimeoutSeconds, should not be a negative value"));
  }
  if (features.storage_capacity_scoring) {
    ValidateShape(shape, FieldPath(path, kShape), problems);
  } else if (has_shape) {
    std::string points;
    for (const UtilizationShapePoint& point : shape) {
      points += (points.empty() ? "" : ",");
      points += "{\"Utilization\":" + std::to_string(point.utilization) +
                ",\"Score\":" + std::to_string(point.score) + "}";
    }
    problems.push_back(InvalidField(FieldPath(path, kShape), "[" + points + "]",
                                    "unexpected field `shape`, remove it or turn on the feature "
                                    "gate StorageCapacityScoring"));
  }
  return problems;
}

}  // namespace berth::plugins
