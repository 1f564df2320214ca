// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "plugins/shared/args_kind.h"

namespace berth::plugins {

// Keys of node labels.
struct ServiceAffinityArgs {
  // Pods of a service stay on nodes with the same values of these.
  std::vector<std::string> affinity_labels;
  // Pods of a service are spread over the values of each of these.
  std::vector<std::string> anti_affinity_labels_preference;
};

extern const ArgsKind<ServiceAffinityArgs> kServiceAffinityArgs;

}  // namespace berth::plugins
