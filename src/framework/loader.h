// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "berth/config_value.h"
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

// The same of one library; who may change what stands at `like` may change it, too.
Result<LoadedPlugins> LoadLibrary(const std::string& file, std::string_view like);

// A library that comes with Berth: ../lib/berth/plugins/<name>.so beside the folder of the running
// program, links to which are followed. It is the same in a build folder, a package and an image;
// no flag, variable or configuration changes it.
struct ShippedFile {
  std::string library;
  std::string program;  // who may change it could put any code in Berth as well
};

// Errors: the program's own file is not known, as where there is no /proc.
Result<ShippedFile> ShippedLibrary(std::string_view name);

// A plugin of such a library, which is loaded when the plugin is first made; `library` stays "", as
// it comes with the program. `prepare` checks args and sets their defaults before the library gets
// them; nullptr: they go as they are. Errors of the factory: what `prepare` and the plugin say; the
// library is not there, is not to be trusted or does not fit, or lacks the plugin, with its file.
//
// Thread safety of the factory: any thread, one at a time.
using PrepareArgs = Result<ConfigValue> (*)(const ConfigValue& args);
PluginRegistration ShippedPlugin(std::string_view plugin, std::string_view library,
                                 PrepareArgs prepare);

}  // namespace berth::framework
