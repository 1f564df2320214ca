// SPDX-License-Identifier: Apache-2.0
#include "plugins/dynamic_resources/args.h"

#include "berth/field_errors.h"
#include "plugins/shared/args_reader.h"

namespace berth::plugins {
namespace {

constexpr std::string_view kFilterTimeout = "filterTimeout";
constexpr std::string_view kBindingTimeout = "bindingTimeout";
constexpr Duration kDefaultFilterTimeout = std::chrono::seconds(10);
constexpr Duration kDefaultBindingTimeout = std::chrono::minutes(10);
constexpr Duration kMinBindingTimeout = std::chrono::seconds(1);

ConfigValue Text(Duration duration) { return ConfigValue(FormatGoDuration(duration)); }

}  // namespace

Result<DynamicResourcesArgs> ParseDynamicResourcesArgs(const ConfigValue& value) {
  FieldReader fields(value, "");
  ReadTypeMeta(fields, "DynamicResources");
  DynamicResourcesArgs args;
  fields.Read(kFilterTimeout, args.filter_timeout);
  fields.Read(kBindingTimeout, args.binding_timeout);
  if (auto error = fields.Finish()) return Fail(*std::move(error));
  return args;
}

ConfigValue DynamicResourcesArgsWithDefaults(const ConfigValue& args,
                                             const ArgsFeatures& features) {
  ConfigValue result = args;
  if (features.dra_scheduler_filter_timeout) {
    result = WithDefault(result, kFilterTimeout, Text(kDefaultFilterTimeout));
  }
  if (features.dra_device_binding_conditions) {
    result = WithDefault(result, kBindingTimeout, Text(kDefaultBindingTimeout));
  }
  return result;
}

std::vector<std::string> DynamicResourcesArgsProblems(const ConfigValue& args,
                                                      const std::string& path,
                                                      const ArgsFeatures& features) {
  FieldReader fields(args, path);
  Duration filter{};
  Duration binding{};
  const bool has_filter = fields.Read(kFilterTimeout, filter);
  const bool has_binding = fields.Read(kBindingTimeout, binding);
  if (auto error = fields.Finish()) return {error->message};

  std::vector<std::string> problems;
  if (has_filter && !features.dra_scheduler_filter_timeout) {
    problems.push_back(ForbiddenField(FieldPath(path, kFilterTimeout),
                                      "DRASchedulingFilterTimeout feature gate is disabled"));
  } else if (has_filter && filter < Duration::zero()) {
    problems.push_back(InvalidField(FieldPath(path, kFilterTimeout),
                                    Quoted(FormatGoDuration(filter)), "must be zero or positive"));
  }
  if (has_binding && !features.dra_device_binding_conditions) {
    problems.push_back(ForbiddenField(
        FieldPath(path, kBindingTimeout),
        "DRADeviceBindingConditions or DRAResourceClaimDeviceStatus feature gate is disabled"));
  } else if (has_binding && binding < kMinBindingTimeout) {
    problems.push_back(InvalidField(FieldPath(path, kBindingTimeout),
                                    Quoted(FormatGoDuration(binding)),
                                    "must be at least 1 second"));
  }
  return problems;
}

}  // namespace berth::plugins
