// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string_view>

#include "berth/in_tree/features.h"
#include "src/config/extension_points.h"
#include "src/config/types.h"

namespace berth::config {

// The plugin that makes the PodGroups of scheduling.x-k8s.io count.
inline constexpr std::string_view kCoscheduling = "Coscheduling";

// The features with what the profiles' plugins add to the feature gates'.
inline Features WithPlugins(Features features, const SchedulerConfiguration& configuration) {
  features.coscheduling = std::ranges::any_of(configuration.profiles, [](const Profile& profile) {
    return IsEnabled(profile.plugins, kCoscheduling);
  });
  return features;
}

}  // namespace berth::config
