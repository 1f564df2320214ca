// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "berth/config_value.h"
#include "berth/result.h"
#include "tests/scenarios/runner/scenario.h"

namespace berth::scenarios {

// Reads what stands behind `expect`. Errors begin with the line.
//
// Thread safety: any thread.
Result<Expect> ParseExpect(const ConfigValue& written);

// The failure `what`, after the line of the value that it is about.
tl::unexpected<Error> FailAt(const ConfigValue& value, const std::string& what);

}  // namespace berth::scenarios
