// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "src/simulator/admission.h"
#include "src/simulator/memory_api.h"
#include "src/simulator/pod_controllers.h"

namespace berth::simulator {

// All objects as one list in JSON, for --cluster: what scheduling reads of each, an object a line,
// by kind and key, and for questions what admission goes by and workloads without pods. So there
// are no Secrets or ConfigMaps in it, and no environment and no arguments of containers; nor are
// annotations, but for those of volumes, their claims, classes and CSINodes, and of claims of
// devices, which scheduling reads. Objects of kinds that plugins ask for are there with their text.
std::string DumpOf(const MemoryApi& api, const AdmissionObjects& admission,
                   const std::vector<PodController>& idle);

}  // namespace berth::simulator
