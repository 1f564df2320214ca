// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "berth/api/pod.h"
#include "plugins/shared/args_kind.h"

namespace berth::plugins {

struct NodeAffinityArgs {
  // Node affinity that every pod has besides its own.
  std::optional<api::NodeAffinity> added_affinity;
};

// Errors: terms that cannot be parsed.
extern const ArgsKind<NodeAffinityArgs> kNodeAffinityArgs;

}  // namespace berth::plugins
