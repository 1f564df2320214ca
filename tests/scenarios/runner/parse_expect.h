// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "berth/config_value.h"
#include "berth/result.h"
#include "tests/scenarios/runner/scenario.h"

namespace berth::scenarios {

// Reads what stands behind `expect`. Errors begin with the line.
//
// Thread safety: any thread.
Result<Expect> ParseExpect(const ConfigValue& written);

}  // namespace berth::scenarios
