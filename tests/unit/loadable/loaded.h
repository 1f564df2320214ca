// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

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
  Result<std::unique_ptr<Plugin>> TryMake(std::string_view name, std::string_view throw_at = "") {
    ConfigValue args;
    if (!throw_at.empty()) {
      args = ConfigValue(ConfigValue::Map{{"throwAt", ConfigValue(std::string(throw_at))}});
    }
    for (const PluginRegistration& registration : Everywhere())
      if (registration.name == name) return registration.factory(args, handle_);
    return Fail("no such plugin");
  }
  // The plugin at one extension point; it lives as long as the fixture.
  template <typename Interface>
  Interface& Make(std::string_view name, std::string_view throw_at = "") {
    auto made = TryMake(name, throw_at);
    EXPECT_TRUE(made) << made.error().message;
    instances_.push_back(std::move(*made));
    auto* plugin = PluginCast<Interface>(instances_.back().get());
    EXPECT_NE(plugin, nullptr);
    return *plugin;
  }

  FakeHandle handle_;
  std::vector<std::unique_ptr<Plugin>> instances_;
};

}  // namespace berth::test
