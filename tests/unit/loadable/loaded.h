// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "berth/config_value.h"
#include "berth/in_tree/points.h"
#include "src/framework/loader.h"
#include "tests/support/fake_handle.h"

namespace berth::test {

// The folder of one of the libraries in tests/abi/libraries.
inline std::string LibraryFolder(std::string_view name) {
  return std::string(BERTH_TEST_LIBRARIES) + "/" + std::string(name);
}

// The plugins of everywhere.cc.
inline const std::vector<PluginRegistration>& Everywhere() {
  static const framework::LoadedPlugins loaded = [] {
    const std::vector<std::string> folders{LibraryFolder("everywhere")};
    auto plugins = framework::LoadPlugins(folders, {});
    EXPECT_TRUE(plugins) << plugins.error().message;
    return std::move(*plugins);
  }();
  return loaded.registrations;
}

// Instances of the plugins in everywhere.cc.
class LoadedFixture : public testing::Test {
 protected:
  Result<Plugin> TryMake(std::string_view name, std::string_view throw_at = "") {
    ConfigValue args;
    if (!throw_at.empty()) {
      args = ConfigValue(ConfigValue::Map{{"throwAt", ConfigValue(std::string(throw_at))}});
    }
    for (const PluginRegistration& registration : Everywhere())
      if (registration.name == name) return registration.factory(args, handle_);
    return Fail("no such plugin");
  }
  // The plugin; it lives as long as the fixture.
  const Plugin& MakePlugin(std::string_view name, std::string_view throw_at = "") {
    auto made = TryMake(name, throw_at);
    EXPECT_TRUE(made) << made.error().message;
    return plugins_.emplace_back(std::move(*made));
  }
  // The plugin at one extension point.
  template <typename Interface>
  Interface& Make(std::string_view name, std::string_view throw_at = "") {
    const Plugin& plugin = MakePlugin(name, throw_at);
    Interface* found = nullptr;
    const auto look = [&](auto* point) {
      if constexpr (std::is_same_v<decltype(point), Interface*>) found = point;
    };
#define BERTH_LOOK(Name, member, ...) look(plugin.member);
    BERTH_EXTENSION_POINTS(BERTH_LOOK)
    BERTH_PLUGIN_EXTENSIONS(BERTH_LOOK)
#undef BERTH_LOOK
    EXPECT_NE(found, nullptr);
    return *found;
  }

  FakeHandle handle_;
  std::deque<Plugin> plugins_;
};

}  // namespace berth::test
