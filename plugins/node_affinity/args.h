// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "berth/api/pod.h"
#include "berth/config_value.h"
#include "berth/in_tree/plugin_args.h"
#include "berth/result.h"

namespace berth::plugins {

struct NodeAffinityArgs {
  // Node affinity that every pod has besides its own.
  std::optional<api::NodeAffinity> added_affinity;
};

// Reads and validates the args. Errors: unknown fields, wrong types, terms that cannot be parsed.
Result<NodeAffinityArgs> ParseNodeAffinityArgs(const ConfigValue& value);

// See PluginArgs (berth/plugin_args.h).
std::vector<std::string> NodeAffinityArgsProblems(const ConfigValue& args, const std::string& path,
                                                  const ArgsFeatures& features);

}  // namespace berth::plugins
