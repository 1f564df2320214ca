// SPDX-License-Identifier: Apache-2.0
#include "plugins/dynamic_resources/args.h"

#include <optional>
#include <string>
#include <vector>

namespace berth::plugins {
namespace {

constexpr std::string_view kFilterTimeout = "filterTimeout";
constexpr std::string_view kBindingTimeout = "bindingTimeout";
constexpr Duration kDefaultFilterTimeout = std::chrono::seconds(10);
constexpr Duration kDefaultBindingTimeout = std::chrono::minutes(10);
constexpr Duration kMinBindingTimeout = std::chrono::seconds(1);

ConfigValue DurationText(Duration duration) { return ConfigValue(FormatGoDuration(duration)); }

// The args as they are written.
struct RawDeviceArgs {
  std::optional<Duration> filter;
  std::optional<Duration> binding;
};

RawDeviceArgs ReadDeviceArgs(FieldReader& fields) {
  RawDeviceArgs args;
  Duration timeout{};
  if (fields.Read(kFilterTimeout, timeout)) args.filter = timeout;
  if (fields.Read(kBindingTimeout, timeout)) args.binding = timeout;
  return args;
}

std::vector<std::string> DeviceArgsProblems(const RawDeviceArgs& args, const std::string& path,
                                            const ArgsFeatures& features) {
  std::vector<std::string> problems;
  if (args.filter && !features.dra_scheduler_filter_timeout) {
    problems.push_back(ForbiddenField(FieldPath(path, kFilterTimeout),
                                      "DRASchedulingFilterTimeout feature gate is disabled"));
  } else if (args.filter && *args.filter < Duration::zero()) {
    problems.push_back(InvalidField(FieldPath(path, kFilterTimeout),
                                    Quoted(FormatGoDuration(*args.filter)),
                                    "must be zero or positive"));
  }
  if (args.binding && !features.dra_device_binding_conditions) {
    problems.push_back(ForbiddenField(
        FieldPath(path, kBindingTimeout),
        "DRADeviceBindingConditions or DRAResourceClaimDeviceStatus feature gate is disabled"));
  } else if (args.binding && *args.binding < kMinBindingTimeout) {
    problems.push_back(InvalidField(FieldPath(path, kBindingTimeout),
                                    Quoted(FormatGoDuration(*args.binding)),
                                    "must be at least 1 second"));
  }
  return problems;
}

DynamicResourcesArgs DeviceArgsOf(const RawDeviceArgs& raw) {
  return {raw.filter.value_or(kDefaultFilterTimeout), raw.binding.value_or(kDefaultBindingTimeout)};
}

ConfigValue WithDeviceDefaults(const ConfigValue& args, const ArgsFeatures& features) {
  ConfigValue result = args;
  if (features.dra_scheduler_filter_timeout) {
    result = WithDefault(result, kFilterTimeout, DurationText(kDefaultFilterTimeout));
  }
  if (features.dra_device_binding_conditions) {
    result = WithDefault(result, kBindingTimeout, DurationText(kDefaultBindingTimeout));
  }
  return result;
}

}  // namespace

constexpr ArgsKind<DynamicResourcesArgs> kDynamicResourcesArgs =
    MakeArgsKind<"DynamicResources", ReadDeviceArgs, DeviceArgsProblems, DeviceArgsOf>(
        WithDeviceDefaults);

}  // namespace berth::plugins
