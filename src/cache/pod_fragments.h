// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "berth/pod_info.h"

namespace berth::cache {

// How many PodParts bits have a meaning.
inline constexpr size_t kNumPodParts = 15;

// Appends one part of a pod (`part` is the number of its PodParts bit) in a form that is equal for
// equal parts and different for different ones. Of the labels it holds those in `tested_keys`
// (sorted; nullopt: all) and those that the pod's own affinity and spread terms test.
void AppendFragment(size_t part, const PodInfo& pod,
                    const std::optional<std::vector<std::string>>& tested_keys, std::string& out);

}  // namespace berth::cache
