// SPDX-License-Identifier: Apache-2.0
#include "plugins/volume_binding/args.h"

#include <chrono>
#include <utility>

namespace berth::plugins {
namespace {

constexpr std::string_view kTimeout = "bindTimeoutSeconds";
constexpr std::string_view kShape = "shape";
constexpr int64_t kDefaultTimeoutSeconds = 600;

ConfigValue Point(int64_t utilization, int64_t score) {
  return ConfigValue(
      ConfigValue::Map{{"utilization", ConfigValue(utilization)}, {"score", ConfigValue(score)}});
}

// The args as they are written.
struct RawVolumeArgs {
  int64_t timeout = kDefaultTimeoutSeconds;
  bool has_shape = false;
  std::vector<UtilizationShapePoint> shape;
};

RawVolumeArgs ReadVolumeArgs(FieldReader& fields) {
  RawVolumeArgs args;
  fields.Read(kTimeout, args.timeout);
  args.has_shape = fields.Get(kShape) != nullptr;
  args.shape = ReadShape(fields, kShape);
  return args;
}

std::vector<std::string> VolumeArgsProblems(const RawVolumeArgs& args, const std::string& path,
                                            const ArgsFeatures& features) {
  std::vector<std::string> problems;
  if (args.timeout < 0) {
    problems.push_back(InvalidField(FieldPath(path, kTimeout), std::to_string(args.timeout),
                                    "invalid BindTimeoutSeconds, should not be a negative value"));
  }
  if (features.storage_capacity_scoring) {
    ValidateShape(args.shape, FieldPath(path, kShape), problems);
  } else if (args.has_shape) {
    std::string points;
    for (const UtilizationShapePoint& point : args.shape) {
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

VolumeBindingArgs VolumeArgsOf(RawVolumeArgs raw) {
  VolumeBindingArgs args;
  args.bind_timeout = std::chrono::seconds(raw.timeout);
  if (!raw.shape.empty()) args.shape = std::move(raw.shape);
  return args;
}

ConfigValue WithVolumeDefaults(const ConfigValue& args, const ArgsFeatures& features) {
  ConfigValue result = WithDefault(args, kTimeout, ConfigValue(kDefaultTimeoutSeconds));
  const ConfigValue* shape = args.Find(kShape);
  const bool given = shape != nullptr && shape->list() != nullptr && !shape->list()->empty();
  if (given || !features.storage_capacity_scoring) return result;
  return WithField(result, kShape, ConfigValue(ConfigValue::List{Point(0, 10), Point(100, 0)}));
}

}  // namespace

constexpr ArgsKind<VolumeBindingArgs> kVolumeBindingArgs =
    MakeArgsKind<"VolumeBinding", ReadVolumeArgs, VolumeArgsProblems, VolumeArgsOf>(
        WithVolumeDefaults);

}  // namespace berth::plugins
