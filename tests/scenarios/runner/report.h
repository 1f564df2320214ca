// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "tests/scenarios/runner/run.h"

namespace berth::scenarios {

// One line for a scenario that went well; for one that failed also the step, its note, and what was
// expected and found.
std::string Report(const Scenario& scenario, const Outcome& outcome);

}  // namespace berth::scenarios
