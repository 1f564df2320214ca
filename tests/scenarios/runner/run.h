// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "berth/in_tree/plugin.h"
#include "tests/scenarios/runner/scenario.h"

namespace berth::scenarios {

// Something that is not as a scenario says.
struct Mismatch {
  int line = 0;
  std::string what;  // "pods.default/web.node"
  std::string expected;
  std::string found;
};

// How a scenario went. A step that fails is the last one that is carried out.
struct Outcome {
  // Empty when all is as the scenario says.
  std::vector<Mismatch> mismatches;
  // Why a step could not be carried out, or "".
  std::string error;
  // The failed step, an index into Scenario::steps.
  size_t step = 0;
  uint64_t cycles = 0;  // scheduling cycles, in all

  bool ok() const { return mismatches.empty() && error.empty(); }
};

// Runs a scenario in a simulation of its own, with the plugins of a registry or those built in.
//
// Thread safety: any thread; scenarios may run side by side.
Outcome RunScenario(const Scenario& scenario);
Outcome RunScenario(const Scenario& scenario, const std::vector<PluginRegistration>& registry);

}  // namespace berth::scenarios
