// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "berth/pod_info.h"
#include "src/cache/tested_label_keys.h"

namespace berth::cache {

// How many PodParts bits have a meaning.
inline constexpr size_t kNumPodParts = 18;

// Appends one part of a pod (`part` is the number of its PodParts bit) in a form that is equal for
// equal parts and different for different ones.
void AppendFragment(size_t part, const PodInfo& pod, const TestedLabelKeys& tested,
                    std::string& out);

}  // namespace berth::cache
