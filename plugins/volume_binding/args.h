// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "berth/time.h"
#include "plugins/shared/args_kind.h"
#include "plugins/shared/args_reader.h"

namespace berth::plugins {

// How long a pod waits for its volumes, and the score of how full they are.
struct VolumeBindingArgs {
  Duration bind_timeout = std::chrono::seconds(600);
  std::vector<UtilizationShapePoint> shape = {{0, 10}, {100, 0}};
};

extern const ArgsKind<VolumeBindingArgs> kVolumeBindingArgs;

}  // namespace berth::plugins
