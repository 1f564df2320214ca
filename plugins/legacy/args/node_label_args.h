// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "plugins/shared/args_kind.h"

namespace berth::plugins {

// Keys of node labels; their values do not matter.
struct NodeLabelArgs {
  // A node must have all of these, and none of those.
  std::vector<std::string> present_labels;
  std::vector<std::string> absent_labels;
  // A node had better have these, and not those.
  std::vector<std::string> present_labels_preference;
  std::vector<std::string> absent_labels_preference;
};

// Errors: a key that is to be both there and not.
extern const ArgsKind<NodeLabelArgs> kNodeLabelArgs;

}  // namespace berth::plugins
