// SPDX-License-Identifier: Apache-2.0
#include "src/framework/loader.h"

#include <dlfcn.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <set>
#include <system_error>
#include <utility>

#include "berth/field_errors.h"
#include "berth/loadable/abi.h"
#include "berth/plugin_kinds.h"
#include "src/base/logging.h"
#include "src/base/mutex.h"
#include "src/framework/loadable/host_table.h"
#include "src/framework/loadable/loaded_plugin.h"

namespace berth::framework {
namespace {

// Whether only root and this process's user can change what stands at `path`, or put
// something else there: each file, folder and link on the way, links followed, belongs to one of
// the two, and neither its group nor others may write to it. Parents whose sticky bit keeps entries
// with their owners (/tmp) are trusted too. Errors: what is not so, of which file or folder, and
// what to do; the path leads nowhere.
//
// `like` is a path that is trusted already, "" for none: who may change what stands there, by owner
// or as a group, may change what stands at `path`, too. Where it leads nowhere, it is as "".
//
// Thread safety: any thread.
Result<void> CheckTrusted(const std::string& path, std::string_view like = "");

// As many as the kernel follows.
constexpr int kMaxLinks = 40;

// Who may change what stands at a path.
struct Writers {
  std::set<uid_t> users;
  std::set<gid_t> groups;
  bool everybody = false;
};

// Whether group and others have no say, whatever the mode: all users may write to a link, and none
// can, since what counts is the folder that it is in; in a sticky folder entries are their owners'.
bool ModeSaysNothing(const struct stat& status, bool is_end) {
  if (S_ISLNK(status.st_mode)) return true;
  return S_ISDIR(status.st_mode) && (status.st_mode & S_ISVTX) != 0 && !is_end;
}

void Add(const struct stat& status, bool is_end, Writers& writers) {
  writers.users.insert(status.st_uid);
  if (ModeSaysNothing(status, is_end)) return;
  if ((status.st_mode & S_IWOTH) != 0) writers.everybody = true;
  if ((status.st_mode & S_IWGRP) != 0) writers.groups.insert(status.st_gid);
}

std::string Problem(const struct stat& status, bool is_end, const Writers& trusted) {
  if (!trusted.users.contains(status.st_uid)) {
    return "it belongs to user " + std::to_string(status.st_uid) +
           ", who is neither root nor the scheduler's; change that (chown root)";
  }
  if (ModeSaysNothing(status, is_end)) return "";
  if ((status.st_mode & S_IWOTH) != 0 && !trusted.everybody) {
    return "everybody may write to it (chmod o-w)";
  }
  if ((status.st_mode & S_IWGRP) != 0 && !trusted.groups.contains(status.st_gid)) {
    return "group " + std::to_string(status.st_gid) + " may write to it (chmod g-w)";
  }
  return "";
}

std::list<std::string> PartsOf(const std::filesystem::path& path) {
  std::list<std::string> parts;
  for (const auto& part : path.relative_path()) {
    if (!part.empty() && part != ".") parts.push_back(part.string());
  }
  return parts;
}

// Calls visit() with each file, folder and link on the way, links followed; `is_end`: nothing comes
// after it. Stops at the first problem that visit() returns.
Result<void> Walk(const std::string& path,
                  const std::function<std::string(const struct stat&, bool is_end)>& visit) {
  namespace fs = std::filesystem;
  std::error_code error;
  std::list<std::string> ahead = PartsOf(fs::absolute(path, error));
  if (error) return Fail(path + ": " + error.message());
  int links = 0;
  for (fs::path at = "/";;) {
    struct stat status{};
    if (lstat(at.c_str(), &status) != 0) {
      return Fail(path + ": " + std::generic_category().message(errno));
    }
    if (const std::string problem = visit(status, ahead.empty()); !problem.empty()) {
      return Fail(at.string() + ": " + problem +
                  "; the code of plugins there would run with the scheduler's rights");
    }
    if (S_ISLNK(status.st_mode)) {
      const fs::path target = fs::read_symlink(at, error);
      if (error) return Fail(at.string() + ": " + error.message());
      if (++links > kMaxLinks) return Fail(path + ": " + std::generic_category().message(ELOOP));
      ahead.splice(ahead.begin(), PartsOf(target));
      at = target.is_absolute() ? fs::path("/") : at.parent_path();
    }
    if (ahead.empty()) return {};
    const std::string next = ahead.front();
    ahead.pop_front();
    at = next == ".." ? at.parent_path() : at / next;
  }
}

Result<void> CheckTrusted(const std::string& path, std::string_view like) {
  Writers trusted;
  trusted.users = {0, geteuid()};
  if (!like.empty()) {
    Writers of_like;
    const auto walked = Walk(std::string(like), [&](const struct stat& status, bool is_end) {
      Add(status, is_end, of_like);
      return std::string();
    });
    if (walked) {
      trusted.users.merge(of_like.users);
      trusted.groups = std::move(of_like.groups);
      trusted.everybody = of_like.everybody;
    }
  }
  return Walk(path, [&](const struct stat& status, bool is_end) {
    return Problem(status, is_end, trusted);
  });
}

using loadable::Grown;
using loadable::LoadedPlugin;
using loadable::Text;

// The oldest version of the interface that is loaded, and its structs; later members are zero where
// a library does not have them.
constexpr uint32_t kOldestMinor = 3;
constexpr size_t kSmallestPlugin = offsetof(berth_plugin, own_kinds);
constexpr size_t kSmallestLibrary = sizeof(berth_library);

// Whether libraries of that version are loaded; see abi.h.
bool Fits(uint32_t major, uint32_t minor) {
  return major == BERTH_ABI_MAJOR && minor >= kOldestMinor && minor <= BERTH_ABI_MINOR;
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
    kinds_of_library_.clear();
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
    if (!added) return Fail("plugin " + Quoted(name) + " is there already: " + owner->second);
    auto kinds = OwnKinds(plugin);
    if (!kinds) return Fail(kinds.error().Within("plugin " + Quoted(name)));
    loaded_.libraries.back().plugins.push_back(name);
    PluginRegistration registration;
    registration.name = Text(plugin.name);
    registration.factory = [plugin, kinds = *kinds](const ConfigValue& args, Handle& handle) {
      return LoadedPlugin::Make(plugin, kinds, args, handle);
    };
    registration.library = file;
    registration.kinds = *std::move(kinds);
    loaded_.registrations.push_back(std::move(registration));
    return {};
  }

  // The kinds that the plugin asks for. Errors name the field.
  Result<std::vector<api::PluginKindId>> OwnKinds(const berth_plugin& plugin) {
    std::vector<api::PluginKindId> ids;
    if (plugin.num_own_kinds > BERTH_MOST_OWN_KINDS) return Fail(TooManyKinds());
    if (plugin.num_own_kinds > 0 && plugin.own_kinds == nullptr) return Fail("own_kinds is NULL");
    for (size_t i = 0; i < plugin.num_own_kinds; ++i) {
      const std::string path = IndexedPath("own_kinds", i);
      if (plugin.own_kinds[i] == nullptr) return Fail(path + " is NULL");
      const berth_own_kind given = Grown(plugin.own_kinds[i]);
      const auto id = PluginKinds().Add({.group = std::string(Text(given.group)),
                                         .version = std::string(Text(given.version)),
                                         .resource = std::string(Text(given.resource)),
                                         .kind = std::string(Text(given.kind)),
                                         .namespaced = given.namespaced});
      if (!id) return Fail(Error{path + "." + id.error().message});
      if (std::ranges::find(ids, *id) != ids.end()) return Fail(path + ": it is there twice");
      ids.push_back(*id);
      kinds_of_library_.insert(*id);
      if (kinds_of_library_.size() > BERTH_MOST_OWN_KINDS) return Fail(TooManyKinds());
    }
    return ids;
  }
  static Error TooManyKinds() {
    return {"own_kinds: a library may ask for at most " + std::to_string(BERTH_MOST_OWN_KINDS) +
            " kinds"};
  }

  std::string like_;
  std::set<api::PluginKindId> kinds_of_library_;           // that is being loaded
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
