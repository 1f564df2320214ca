// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "src/metrics/registry.h"

namespace berth::metrics {

// Sets process_* and berth_heap_bytes to what holds now, as Linux tells it in /proc. What cannot be
// read stays as it was. Any thread; meant for Registry::BeforeExposition.
void ReadProcess(Registry& registry);

}  // namespace berth::metrics
