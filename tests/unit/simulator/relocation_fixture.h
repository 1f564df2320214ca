// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "berth/api/workloads.h"
#include "tests/unit/simulator/simulator_fixture.h"

namespace berth::test {

// The default profile with Relocation behind its other plugins.
inline simulator::SimulationOptions OptionsWithRelocation(
    const std::map<std::string, int64_t>& args) {
  simulator::SimulationOptions options = DefaultSimulationOptions();
  std::vector<config::PluginRef> plugins = DefaultPlugins();
  plugins.push_back({"Relocation"});
  options.scheduler.configuration = config::DefaultConfiguration({plugins});
  ConfigValue::Map values;
  for (const auto& [name, value] : args) values.emplace_back(name, ConfigValue(value));
  options.scheduler.configuration.profiles.front().plugin_config.push_back(
      {"Relocation", ConfigValue(std::move(values))});
  return options;
}

// The same with pod groups.
inline simulator::SimulationOptions OptionsWithGroupRelocation(
    const std::map<std::string, int64_t>& args) {
  simulator::SimulationOptions options = OptionsWithRelocation(args);
  options.scheduler.features.generic_workload = true;
  auto& enabled = options.scheduler.configuration.profiles.front().plugins.multi_point.enabled;
  enabled.push_back({"GangScheduling"});
  return options;
}

inline std::shared_ptr<const api::PodDisruptionBudget> Budget(std::string_view name,
                                                              std::string_view app,
                                                              int32_t allowed) {
  auto budget = std::make_shared<api::PodDisruptionBudget>();
  budget->metadata.name = name;
  budget->metadata.namespace_ = "default";
  budget->spec.selector = MakeSelector({{"app", std::string(app)}});
  budget->status.disruptions_allowed = allowed;
  return budget;
}

}  // namespace berth::test
