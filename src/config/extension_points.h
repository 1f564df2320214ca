// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>

#include "src/config/types.h"

namespace berth::config {

// An extension point as a profile's `plugins` names it.
struct ExtensionPoint {
  std::string_view field;
  PluginSet Plugins::* set = nullptr;
  // kube-scheduler looks for removed plugins here (not in multiPoint and the placement points).
  bool refuses_removed_plugins = true;
};

// All of them, in the order in which problems are reported.
inline constexpr auto kExtensionPoints = std::to_array<ExtensionPoint>({
#define BERTH_CONFIG_POINT(Name, member, field, ...) {#field, &Plugins::member},
    BERTH_EXTENSION_POINTS(BERTH_CONFIG_POINT)
#undef BERTH_CONFIG_POINT
        {"podGroupPostFilter", &Plugins::pod_group_post_filter},
    {"multiPoint", &Plugins::multi_point, false},
    {"placementGenerate", &Plugins::placement_generate, false},
    {"placementScore", &Plugins::placement_score, false},
});

// Whether any point has the plugin in its enabled list.
inline bool IsEnabled(const Plugins& plugins, std::string_view name) {
  for (const ExtensionPoint& point : kExtensionPoints) {
    for (const PluginRef& plugin : (plugins.*point.set).enabled) {
      if (plugin.name == name) return true;
    }
  }
  return false;
}

}  // namespace berth::config
