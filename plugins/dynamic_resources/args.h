// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

#include "berth/time.h"
#include "plugins/shared/args_kind.h"

namespace berth::plugins {

// Time limits of Filter on one node, 0 for none, and of what devices demand before a pod is bound.
struct DynamicResourcesArgs {
  Duration filter_timeout = std::chrono::seconds(10);
  Duration binding_timeout = std::chrono::minutes(10);
};

extern const ArgsKind<DynamicResourcesArgs> kDynamicResourcesArgs;

}  // namespace berth::plugins
