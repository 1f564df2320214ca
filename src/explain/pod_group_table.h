// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "src/engine/pod_group_preview.h"

namespace berth::explain {

// Appends for people to read what the group has and lacks, and what becomes of its waiting pods, of
// those not more than `most_pods`.
//
// Thread safety: any thread.
void AppendPodGroupTable(const engine::PodGroupPreview& group, size_t most_pods, std::string& out);

}  // namespace berth::explain
