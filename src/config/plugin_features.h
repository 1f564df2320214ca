// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string_view>

#include "berth/in_tree/features.h"
#include "src/config/extension_points.h"
#include "src/config/types.h"

namespace berth::config {

// The plugins that make custom resources be watched: the PodGroups of scheduling.x-k8s.io, the
// NodeResourceTopologies of topology.node.k8s.io, the ElasticQuotas of scheduling.x-k8s.io.
inline constexpr std::string_view kCoscheduling = "Coscheduling";
inline constexpr std::string_view kNodeResourceTopologyMatch = "NodeResourceTopologyMatch";
inline constexpr std::string_view kCapacityScheduling = "CapacityScheduling";

// The features with what the profiles' plugins add to the feature gates'.
inline Features WithPlugins(Features features, const SchedulerConfiguration& configuration) {
  const auto any_has = [&configuration](std::string_view plugin) {
    return std::ranges::any_of(configuration.profiles, [plugin](const Profile& profile) {
      return IsEnabled(profile.plugins, plugin);
    });
  };
  features.coscheduling = any_has(kCoscheduling);
  features.node_resource_topologies = any_has(kNodeResourceTopologyMatch);
  features.elastic_quotas = any_has(kCapacityScheduling);
  return features;
}

}  // namespace berth::config
