// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "berth/in_tree/plugin.h"
#include "berth/result.h"

namespace berth::framework {

// A plugin library that was loaded.
struct PluginLibrary {
  std::string file;
  std::string version;    // the library's own
  std::string interface;  // the version of the plugin interface it was built for
  std::vector<std::string> plugins;
};

struct LoadedPlugins {
  std::vector<PluginRegistration> registrations;  // by file, then as the library lists them
  std::vector<PluginLibrary> libraries;
};

// Loads every *.so in the folders, in the order given, and within one by name. Libraries are never
// unloaded: what is returned stays good for the life of the process.
//
// `taken` are plugin names that no library may have. Errors, with the file's name: a folder that
// cannot be read; a file that is no library, exports no berth_plugin_entry(), was built for another
// version, or has a plugin that lacks something or whose name is taken; a file or folder, or a
// parent of it, that others than root and this process's user may change (trusted_path.h), since
// its code runs with the scheduler's rights.
Result<LoadedPlugins> LoadPlugins(std::span<const std::string> folders,
                                  std::span<const std::string_view> taken);

}  // namespace berth::framework
