// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>

#include "berth/in_tree/features.h"
#include "berth/in_tree/plugin.h"
#include "src/config/extension_points.h"
#include "src/config/types.h"

namespace berth::config {

// The plugins that make custom resources be watched: the PodGroups of scheduling.x-k8s.io, the
// NodeResourceTopologies of topology.node.k8s.io, the ElasticQuotas of scheduling.x-k8s.io.
inline constexpr std::string_view kCoscheduling = "Coscheduling";
inline constexpr std::string_view kNodeResourceTopologyMatch = "NodeResourceTopologyMatch";
inline constexpr std::string_view kCapacityScheduling = "CapacityScheduling";

// The features with what the profiles' plugins add to the feature gates'. Without `registry` the
// kinds that plugins of libraries ask for are left as they are.
inline Features WithPlugins(Features features, const SchedulerConfiguration& configuration,
                            std::span<const PluginRegistration> registry = {}) {
  const auto any_has = [&configuration](std::string_view plugin) {
    return std::ranges::any_of(configuration.profiles, [plugin](const Profile& profile) {
      return IsEnabled(profile.plugins, plugin);
    });
  };
  features.coscheduling = any_has(kCoscheduling);
  features.node_resource_topologies = any_has(kNodeResourceTopologyMatch);
  features.elastic_quotas = any_has(kCapacityScheduling);
  for (const PluginRegistration& plugin : registry) {
    if (plugin.kinds.empty() || !any_has(plugin.name)) continue;
    for (const api::PluginKindId kind : plugin.kinds) features.plugin_kinds |= uint64_t{1} << kind;
  }
  return features;
}

}  // namespace berth::config
