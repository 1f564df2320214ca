// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "berth/result.h"

namespace berth {

// A signed decimal number; leading zeros and '+' are fine.
std::optional<int64_t> ParseInt64(std::string_view text);

// Appends to `errors` what is wrong with a requirement on labels, in kube-scheduler's words: its
// key, its values, and their number. `op` is one of In, NotIn, Exists, DoesNotExist, Gt, Lt;
// `path` is "" or ends with a dot.
void CheckRequirement(const std::string& path, std::string_view key, std::string_view op,
                      const std::vector<std::string>& values, std::vector<Error>& errors);

}  // namespace berth
