// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "berth/api/plugin_object.h"
#include "berth/in_tree/extension_points.h"
#include "berth/in_tree/inputs.h"
#include "berth/result.h"

// A plugin as a profile sees it: data, which its factory fills. The interfaces are in points.h.
namespace berth {
class ConfigValue;
}  // namespace berth

namespace berth::inline in_tree {

class Handle;

#define BERTH_DECLARE_POINT(Name, ...) class Name##Plugin;
BERTH_EXTENSION_POINTS(BERTH_DECLARE_POINT)
BERTH_POD_GROUP_POINTS(BERTH_DECLARE_POINT)
#undef BERTH_DECLARE_POINT
#define BERTH_DECLARE_EXTENSION(Interface, ...) class Interface;
BERTH_PLUGIN_EXTENSIONS(BERTH_DECLARE_EXTENSION)
#undef BERTH_DECLARE_EXTENSION

// One instance of a plugin, for one profile: at each extension point what is called there, nullptr
// where the plugin takes no part.
struct Plugin {
  std::string name;
  // What Filter and Score depend on.
  Inputs inputs;
  // What Filter says where the profile does not call the plugin's PreFilter, and Score without its
  // PreScore, as an Error. "": they are called all the same.
  std::string_view filter_without_pre_filter;
  std::string_view score_without_pre_score;
  // It has no say about a pod that runs already and whose resize is deferred: neither its PreFilter
  // nor its Filter is called.
  bool skips_deferred_resizes = false;

#define BERTH_POINT(Name, member, ...) Name##Plugin* member = nullptr;
  BERTH_EXTENSION_POINTS(BERTH_POINT)
  BERTH_POD_GROUP_POINTS(BERTH_POINT)
#undef BERTH_POINT
#define BERTH_EXTENSION(Interface, member) Interface* member = nullptr;
  BERTH_PLUGIN_EXTENSIONS(BERTH_EXTENSION)
#undef BERTH_EXTENSION

  // What the pointers point into.
  std::shared_ptr<void> object;
};

// `object` at the points whose interfaces its class derives from. The class may say more:
//   Inputs DeclaredInputs() const;
//   static constexpr std::string_view kFilterWithoutPreFilter, kScoreWithoutPreScore;
//   static constexpr bool kSkipsDeferredResizes;
template <typename T>
Plugin AsPlugin(std::string_view name, std::unique_ptr<T> object) {
  Plugin plugin;
  plugin.name = name;
  if constexpr (requires { object->DeclaredInputs(); }) plugin.inputs = object->DeclaredInputs();
  if constexpr (requires { T::kFilterWithoutPreFilter; }) {
    plugin.filter_without_pre_filter = T::kFilterWithoutPreFilter;
  }
  if constexpr (requires { T::kScoreWithoutPreScore; }) {
    plugin.score_without_pre_score = T::kScoreWithoutPreScore;
  }
  if constexpr (requires { T::kSkipsDeferredResizes; }) {
    plugin.skips_deferred_resizes = T::kSkipsDeferredResizes;
  }
#define BERTH_SET_POINT(Name, member, ...) \
  if constexpr (std::is_base_of_v<Name##Plugin, T>) plugin.member = object.get();
  BERTH_EXTENSION_POINTS(BERTH_SET_POINT)
  BERTH_POD_GROUP_POINTS(BERTH_SET_POINT)
#undef BERTH_SET_POINT
#define BERTH_SET_EXTENSION(Interface, member) \
  if constexpr (std::is_base_of_v<Interface, T>) plugin.member = object.get();
  BERTH_PLUGIN_EXTENSIONS(BERTH_SET_EXTENSION)
#undef BERTH_SET_EXTENSION
  plugin.object = std::move(object);
  return plugin;
}

// A new T under its own name, T::kName.
template <typename T, typename... Args>
Plugin MakePlugin(Args&&... args) {
  return AsPlugin(T::kName, std::make_unique<T>(std::forward<Args>(args)...));
}

// Makes a plugin from its args (a null value when the configuration names none). Errors: invalid
// args, with the field's path.
using PluginFactory = std::function<Result<Plugin>(const ConfigValue& args, Handle& handle)>;

struct PluginRegistration {
  std::string_view name;
  PluginFactory factory;
  // The file that it was loaded from; "" when it is built in.
  std::string library = {};
  // What is watched where a profile enables it, besides the kinds that always are.
  std::vector<api::PluginKindId> kinds = {};
};

}  // namespace berth::inline in_tree
