// SPDX-License-Identifier: Apache-2.0
#include "src/config/merge.h"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <vector>

#include "src/config/extension_points.h"

namespace berth::config {
namespace {

bool Names(const std::vector<PluginRef>& list, std::string_view name) {
  return std::any_of(list.begin(), list.end(),
                     [name](const PluginRef& plugin) { return plugin.name == name; });
}

}  // namespace

PluginSet MergePluginSet(const PluginSet& defaults, const PluginSet& custom) {
  PluginSet merged;
  for (const std::vector<PluginRef>* list : {&custom.disabled, &defaults.disabled}) {
    for (const PluginRef& plugin : *list) merged.disabled.push_back({plugin.name, 0});
  }

  // Of a repeated custom plugin the last entry replaces the default; the others are appended.
  std::vector<bool> replaced(custom.enabled.size(), false);
  if (!Names(merged.disabled, "*")) {
    for (const PluginRef& plugin : defaults.enabled) {
      if (Names(merged.disabled, plugin.name)) continue;
      const auto last =
          std::find_if(custom.enabled.rbegin(), custom.enabled.rend(),
                       [&](const PluginRef& entry) { return entry.name == plugin.name; });
      if (last == custom.enabled.rend()) {
        merged.enabled.push_back(plugin);
        continue;
      }
      merged.enabled.push_back(*last);
      replaced[static_cast<size_t>(custom.enabled.rend() - last) - 1] = true;
    }
  }
  for (size_t i = 0; i < custom.enabled.size(); ++i) {
    if (!replaced[i]) merged.enabled.push_back(custom.enabled[i]);
  }
  return merged;
}

Plugins MergePlugins(const Plugins& defaults, const Plugins& custom) {
  Plugins merged;
  for (const ExtensionPoint& point : kExtensionPoints) {
    merged.*point.set = MergePluginSet(defaults.*point.set, custom.*point.set);
  }
  return merged;
}

}  // namespace berth::config
