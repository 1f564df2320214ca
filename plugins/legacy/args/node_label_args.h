// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "berth/config_value.h"
#include "berth/in_tree/plugin_args.h"
#include "berth/result.h"

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

// Reads and validates the args. Errors: unknown fields, wrong types, a key that is to be both there
// and not.
Result<NodeLabelArgs> ParseNodeLabelArgs(const ConfigValue& value);

// See PluginArgs (berth/plugin_args.h).
std::vector<std::string> NodeLabelArgsProblems(const ConfigValue& args, const std::string& path,
                                               const ArgsFeatures& features);

}  // namespace berth::plugins
