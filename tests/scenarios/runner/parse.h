// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "berth/config_value.h"
#include "berth/field_errors.h"
#include "berth/in_tree/node_metrics.h"
#include "berth/result.h"
#include "src/config/feature_gates.h"
#include "src/config/types.h"
#include "tests/scenarios/runner/scenario.h"

namespace berth::scenarios {

// Reads a scenario strictly: what the format does not have is an error. Errors begin with file and
// line, and name the field.
//
// Thread safety: any thread.
Result<Scenario> ParseScenario(std::string_view text, std::string_view file_name);
Result<Scenario> ReadScenario(const std::string& file_name);

// A map of feature gates by name, as scenarios and workloads have it; nullptr: all at their
// defaults. Errors begin with the line.
Result<config::FeatureGates> ParseFeatureGates(const ConfigValue* written);

// A configuration without apiVersion and kind, defaulted and checked; nullptr: the default one.
// Errors begin with the line.
Result<config::SchedulerConfiguration> ParseConfiguration(const ConfigValue* written,
                                                          const config::FeatureGates& gates);

// What a node is measured to use: `name`, and in percent `cpu`, `cpuDeviation`, `memory` and
// `memoryDeviation`.
NodeMetrics ReadNodeMetrics(FieldReader& fields);

}  // namespace berth::scenarios
