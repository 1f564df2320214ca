// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "berth/api/meta.h"

namespace berth::api {

// PATCH .../podgroups/<name>/status, a strategic merge patch: adds the condition to `old`, or puts
// it in the place of the one of its type, whose last_transition_time stays unless the status
// changes. nullopt when that would change nothing. The server refuses (409) when the group has been
// recreated.
std::optional<std::string> PodGroupStatusPatch(const std::vector<Condition>& old,
                                               Condition condition, std::string_view uid);

}  // namespace berth::api
