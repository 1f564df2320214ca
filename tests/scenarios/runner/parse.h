// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "berth/result.h"
#include "tests/scenarios/runner/scenario.h"

namespace berth::scenarios {

// Reads a scenario strictly: what the format does not have is an error. Errors begin with file and
// line, and name the field.
//
// Thread safety: any thread.
Result<Scenario> ParseScenario(std::string_view text, std::string_view file_name);
Result<Scenario> ReadScenario(const std::string& file_name);

}  // namespace berth::scenarios
