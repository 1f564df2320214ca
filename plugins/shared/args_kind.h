// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "berth/config_value.h"
#include "berth/field_errors.h"
#include "berth/in_tree/plugin_args.h"
#include "berth/result.h"
#include "plugins/shared/args_reader.h"

namespace berth::plugins {

// A plugin's args where they are a kind of their own, for the configuration and for the plugin.
template <typename Args>
struct ArgsKind : PluginArgs {
  // The args, with the defaults of what they leave out. Errors: unknown fields, wrong types, and
  // what each kind says besides.
  Result<Args> (*parse)(const ConfigValue& value) = nullptr;
};

// A plugin's name as a template takes it.
template <size_t size>
struct PluginName {
  consteval PluginName(const char (&name)[size]) { std::copy_n(name, size, text); }
  char text[size] = {};
};

template <PluginName plugin, auto read>
auto ReadArgs(const ConfigValue& value, const std::string& path, FieldHint hint = nullptr)
    -> Result<std::invoke_result_t<decltype(read), FieldReader&>> {
  FieldReader fields(value, path, hint);
  ReadTypeMeta(fields, plugin.text);
  auto args = read(fields);
  if (auto error = fields.Finish()) return Fail(std::move(*error));
  return args;
}

inline constexpr auto kNoCheck = [](const auto&, const std::string&) {
  return std::vector<std::string>();
};

// The kind <plugin>Args. `read(fields)` takes the args as they are written, `check(args, path)`
// returns what is wrong with them, and `finish(args)` what valid ones mean. A check that takes
// ArgsFeatures, too, is made by the configuration alone: plugins do not know the feature gates.
template <PluginName plugin, auto read, auto check = kNoCheck, auto finish = std::identity()>
constexpr auto MakeArgsKind(decltype(PluginArgs::with_defaults) with_defaults = nullptr) {
  using Raw = std::invoke_result_t<decltype(read), FieldReader&>;
  using Args = std::remove_cvref_t<std::invoke_result_t<decltype(finish), Raw>>;
  constexpr bool kByFeatures =
      !std::is_invocable_v<decltype(check), const Raw&, const std::string&>;
  ArgsKind<Args> kind;
  kind.plugin = plugin.text;
  kind.with_defaults = with_defaults;
  kind.problems = [](const ConfigValue& args, const std::string& path,
                     const ArgsCheck& by) -> std::vector<std::string> {
    const auto raw = ReadArgs<plugin, read>(args, path, by.hint);
    if (!raw) return {raw.error().message};
    if constexpr (kByFeatures) {
      return check(*raw, path, by.features);
    } else {
      return check(*raw, path);
    }
  };
  kind.parse = [](const ConfigValue& value) -> Result<Args> {
    auto raw = ReadArgs<plugin, read>(value, "");
    if (!raw) return Fail(raw.error());
    if constexpr (!kByFeatures) {
      if (auto error = AggregateProblems(check(*raw, ""))) return Fail(std::move(*error));
    }
    return finish(std::move(*raw));
  };
  return kind;
}

}  // namespace berth::plugins
