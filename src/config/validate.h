// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "berth/result.h"
#include "src/config/load.h"
#include "src/config/types.h"

namespace berth::config {

// Checks a configuration whose defaults are set, in kube-scheduler's order and words. Args are
// checked by what `known` has for them; what it has nothing for is left to the plugins. Validate()
// makes one error of all problems: one as it is, several as "[a, b]"; nullopt when there is none.
std::vector<std::string> FindProblems(const SchedulerConfiguration& config,
                                      const KnownPlugins& known = {});
std::optional<Error> Validate(const SchedulerConfiguration& config, const KnownPlugins& known = {});

}  // namespace berth::config
