// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include "berth/api/pod.h"

namespace berth {

// The features that a node must declare (status.declaredFeatures) to run a pod with this spec; by
// name, ascending.
std::vector<std::string_view> RequiredNodeFeatures(const api::Pod& pod);

}  // namespace berth
