// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "berth/config_value.h"
#include "berth/in_tree/plugin_args.h"
#include "berth/result.h"

namespace berth::plugins {

struct InterPodAffinityArgs {
  // What a required affinity term of a placed pod adds to the score where the incoming pod matches
  // it; 0..100.
  int32_t hard_pod_affinity_weight = 1;
  // Score nothing for pods that have no preferred terms of their own.
  bool ignore_preferred_terms_of_existing_pods = false;
};

// Reads, defaults and validates the args. Errors: unknown fields, wrong types, and what
// kube-scheduler rejects, in its words.
Result<InterPodAffinityArgs> ParseInterPodAffinityArgs(const ConfigValue& value);

// See PluginArgs (berth/plugin_args.h).
ConfigValue InterPodAffinityArgsWithDefaults(const ConfigValue& args, const ArgsFeatures& features);
std::vector<std::string> InterPodAffinityArgsProblems(const ConfigValue& args,
                                                      const std::string& path,
                                                      const ArgsFeatures& features);

}  // namespace berth::plugins
