// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "src/simulator/memory_api.h"
#include "src/simulator/pod_defaults.h"

namespace berth::simulator {

// All objects as one list in JSON, for --cluster: what scheduling reads of each, an object a line,
// by kind and key, and the PriorityClasses, which questions may name. So there are no Secrets or
// ConfigMaps in it, and no environment and no arguments of containers; nor are annotations, but for
// those of volumes, their claims, classes and CSINodes, and of claims of devices, which scheduling
// reads.
std::string DumpOf(const MemoryApi& api, std::span<const PriorityClass> classes);

}  // namespace berth::simulator
