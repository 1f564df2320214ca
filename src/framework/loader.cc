// SPDX-License-Identifier: Apache-2.0
#include "src/framework/loader.h"

#include <dlfcn.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <utility>

#include "berth/field_errors.h"
#include "berth/loadable/abi.h"
#include "src/base/logging.h"
#include "src/base/mutex.h"
#include "src/framework/loadable/host_table.h"
#include "src/framework/loadable/loaded_plugin.h"
#include "src/framework/trusted_path.h"

namespace berth::framework {
namespace {

using loadable::Grown;
using loadable::LoadedPlugin;
using loadable::Text;

// The structs of the oldest version that is loaded; later members are zero where a library does not
// have them. There is no such version before the first release.
constexpr size_t kSmallestPlugin = sizeof(berth_plugin);
constexpr size_t kSmallestLibrary = sizeof(berth_library);

// Whether libraries of that version are loaded; see abi.h.
bool Fits(uint32_t major, uint32_t minor) {
  if (major != BERTH_ABI_MAJOR) return false;
  return BERTH_ABI_MAJOR == 0 ? minor == BERTH_ABI_MINOR : minor <= BERTH_ABI_MINOR;
}

std::string Version(uint32_t major, uint32_t minor) {
  return std::to_string(major) + "." + std::to_string(minor);
}

// The *.so files of a folder, by name.
Result<std::vector<std::string>> LibrariesIn(const std::string& folder) {
  if (auto checked = CheckTrusted(folder); !checked) return Fail(checked.error());
  std::vector<std::string> files;
  std::error_code error;
  std::filesystem::directory_iterator it(folder, error);
  for (; !error && it != std::filesystem::directory_iterator(); it.increment(error)) {
    if (it->path().extension() == ".so") files.push_back(it->path().string());
  }
  if (error) return Fail(folder + ": " + error.message());
  std::sort(files.begin(), files.end());
  return files;
}

// dlopen's message without the path in front, which ours names already.
std::string DlError(const std::string& file) {
  const char* text = dlerror();
  std::string message = text == nullptr ? "cannot be loaded" : text;
  if (message.starts_with(file + ": ")) message.erase(0, file.size() + 2);
  return message;
}

// What is wrong with a plugin's table; "" when nothing is.
std::string Problem(const berth_plugin& plugin) {
  if (Text(plugin.name).empty()) return "it has no name";
  if (plugin.create == nullptr || plugin.destroy == nullptr) return "it lacks create or destroy";
  const std::pair<bool, const char*> rules[] = {
      {(plugin.add_pod == nullptr) == (plugin.remove_pod == nullptr),
       "add_pod and remove_pod come together"},
      {plugin.add_pod == nullptr || plugin.pre_filter != nullptr, "add_pod needs pre_filter"},
      {(plugin.reserve == nullptr) == (plugin.unreserve == nullptr),
       "reserve and unreserve come together"},
      {plugin.filter_nodes == nullptr || plugin.filter != nullptr, "filter_nodes needs filter"},
      {plugin.score_nodes == nullptr || plugin.score != nullptr, "score_nodes needs score"},
      {plugin.normalize_score == nullptr || plugin.score != nullptr, "normalize_score needs score"},
      {plugin.pre_bind_pre_flight == nullptr || plugin.pre_bind != nullptr,
       "pre_bind_pre_flight needs pre_bind"},
  };
  for (const auto& [kept, text] : rules)
    if (!kept) return text;
  return "";
}

// Loads libraries one by one and keeps the books of names.
class Loader {
 public:
  explicit Loader(std::span<const std::string_view> taken, std::string_view like = "")
      : like_(like) {
    for (const std::string_view name : taken) owner_.emplace(name, "built in");
  }

  Result<void> Load(const std::string& file) {
    if (auto checked = CheckTrusted(file, like_); !checked) return checked;
    auto library = Open(file);
    if (!library) return Fail(library.error().Within(file));
    loaded_.libraries.push_back({file,
                                 std::string(Text(library->version)),
                                 Version(library->abi_major, library->abi_minor),
                                 {}});
    for (size_t i = 0; i < library->num_plugins; ++i) {
      if (auto added = Add(file, library->plugins[i]); !added) {
        return Fail(added.error().Within(file));
      }
    }
    return {};
  }

  LoadedPlugins Take() { return std::move(loaded_); }

 private:
  Result<berth_library> Open(const std::string& file) {
    void* opened = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (opened == nullptr) return Fail(DlError(file));
    const auto entry =
        reinterpret_cast<berth_plugin_entry_function>(dlsym(opened, BERTH_PLUGIN_ENTRY));
    if (entry == nullptr) {
      return Fail("no Berth plugin: it does not export " BERTH_PLUGIN_ENTRY "()");
    }
    const berth_library* library = nullptr;
    try {
      library = entry(&loadable::HostTable());
    } catch (...) {
      return Fail("an exception left " BERTH_PLUGIN_ENTRY "()");
    }
    if (library == nullptr) {
      return Fail(
          "the library says that it cannot work with this Berth, whose plugin interface is " +
          Version(BERTH_ABI_MAJOR, BERTH_ABI_MINOR));
    }
    if (!Fits(library->abi_major, library->abi_minor)) {
      return Fail("built for plugin interface " + Version(library->abi_major, library->abi_minor) +
                  ", but this Berth has " + Version(BERTH_ABI_MAJOR, BERTH_ABI_MINOR) +
                  "; build the plugin against the headers of this Berth");
    }
    if (library->size < kSmallestLibrary) {
      return Fail("its berth_library has a size of " + std::to_string(library->size) +
                  " bytes, at least " + std::to_string(kSmallestLibrary) + " are needed");
    }
    if (library->num_plugins == 0 || library->plugins == nullptr) {
      return Fail("the library has no plugin");
    }
    return Grown(library);
  }

  Result<void> Add(const std::string& file, const berth_plugin* given) {
    if (given == nullptr) return Fail("a plugin of the library is NULL");
    if (given->size < kSmallestPlugin) {
      return Fail("a berth_plugin has a size of " + std::to_string(given->size) +
                  " bytes, at least " + std::to_string(kSmallestPlugin) + " are needed");
    }
    const berth_plugin plugin = Grown(given);
    const std::string name(Text(plugin.name));
    if (const std::string problem = Problem(plugin); !problem.empty()) {
      return Fail("plugin " + Quoted(name) + ": " + problem);
    }
    const auto [owner, added] = owner_.emplace(name, file);
    if (!added) {
      return Fail("plugin " + Quoted(name) + " is there already: " + owner->second);
    }
    loaded_.libraries.back().plugins.push_back(name);
    PluginRegistration registration;
    registration.name = Text(plugin.name);
    registration.factory = [plugin](const ConfigValue& args, Handle& handle) {
      return LoadedPlugin::Make(plugin, args, handle);
    };
    registration.library = file;
    loaded_.registrations.push_back(std::move(registration));
    return {};
  }

  std::string like_;
  std::map<std::string, std::string, std::less<>> owner_;  // by plugin
  LoadedPlugins loaded_;
};

// The plugins of a library that comes with Berth. It is loaded once; where it cannot be, the next
// call tries again.
Result<const std::vector<PluginRegistration>*> Shipped(const ShippedFile& file) {
  struct Libraries {
    base::Mutex mutex;
    std::map<std::string, LoadedPlugins> by_file BERTH_GUARDED_BY(mutex);
  };
  static auto& libraries = *std::make_unique<Libraries>().release();  // as long as the process
  base::MutexLock lock(libraries.mutex);
  auto at = libraries.by_file.find(file.library);
  if (at == libraries.by_file.end()) {
    auto loaded = LoadLibrary(file.library, file.program);
    if (!loaded) return Fail(loaded.error());
    base::LogInfo("Loaded a plugin library that comes with Berth", {{"file", file.library}});
    at = libraries.by_file.emplace(file.library, *std::move(loaded)).first;
  }
  return &at->second.registrations;
}

}  // namespace

Result<LoadedPlugins> LoadPlugins(std::span<const std::string> folders,
                                  std::span<const std::string_view> taken) {
  Loader loader(taken);
  for (const std::string& folder : folders) {
    const auto files = LibrariesIn(folder);
    if (!files) return Fail(files.error());
    if (files->empty()) base::LogWarning("No plugin library in the folder", {{"folder", folder}});
    for (const std::string& file : *files) {
      if (auto loaded = loader.Load(file); !loaded) return Fail(loaded.error());
    }
  }
  return loader.Take();
}

Result<LoadedPlugins> LoadLibrary(const std::string& file, std::string_view like) {
  Loader loader({}, like);
  if (auto loaded = loader.Load(file); !loaded) return Fail(loaded.error());
  return loader.Take();
}

Result<ShippedFile> ShippedLibrary(std::string_view name) {
  namespace fs = std::filesystem;
  constexpr const char* kProgram = "/proc/self/exe";
  std::error_code error;
  const fs::path program = fs::read_symlink(kProgram, error);
  if (error) return Fail(std::string(kProgram) + ": " + error.message());
  const fs::path folder = program.parent_path().parent_path() / "lib/berth/plugins";
  return ShippedFile{.library = (folder / (std::string(name) + ".so")).string(),
                     .program = program.string()};
}

PluginRegistration ShippedPlugin(std::string_view plugin, std::string_view library,
                                 PrepareArgs prepare) {
  PluginRegistration registration;
  registration.name = plugin;
  registration.factory = [plugin, library, prepare](const ConfigValue& args,
                                                    Handle& handle) -> Result<Plugin> {
    Result<ConfigValue> prepared = prepare == nullptr ? args : prepare(args);
    if (!prepared) return Fail(prepared.error());
    constexpr std::string_view kWhat = "its library, which comes with Berth, cannot be loaded";
    const auto file = ShippedLibrary(library);
    if (!file) return Fail(file.error().Within(kWhat));
    const auto registrations = Shipped(*file);
    if (!registrations) return Fail(registrations.error().Within(kWhat));
    const auto found = std::ranges::find(**registrations, plugin, &PluginRegistration::name);
    if (found == (*registrations)->end()) return Fail(file->library + ": it has no such plugin");
    return found->factory(*prepared, handle);
  };
  return registration;
}

}  // namespace berth::framework
