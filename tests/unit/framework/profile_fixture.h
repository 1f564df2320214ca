// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "src/config/types.h"
#include "src/framework/profile.h"
#include "tests/support/builders.h"
#include "tests/support/fake_handle.h"
#include "tests/support/plain_snapshot.h"
#include "tests/support/test_plugins.h"

namespace berth::test {

// Builds profiles from test plugins: EverywherePlugins of any name, a QueueSort named "Sort" and
// PostFilters whose names begin with "Post".
class ProfileFixture : public testing::Test {
 protected:
  Result<std::unique_ptr<framework::Profile>> TryMake(const config::Plugins& plugins) {
    config::Profile config;
    config.scheduler_name = "test-scheduler";
    config.plugins = plugins;
    return framework::Profile::Make(config, Registry(), handle_);
  }
  // MultiPoint with Sort and the plugins named.
  void Make(const std::vector<std::string>& names) {
    config::Plugins plugins;
    plugins.multi_point.enabled.push_back({"Sort", 0});
    for (const std::string& name : names) plugins.multi_point.enabled.push_back({name, 0});
    auto made = TryMake(plugins);
    ASSERT_TRUE(made) << made.error().message;
    profile_ = std::move(*made);
  }
  EverywherePlugin& plugin(const std::string& name) { return *plugins_.at(name); }
  FixedPostFilter& post_filter(const std::string& name) { return *post_filters_.at(name); }

  std::vector<PluginRegistration> Registry() {
    std::vector<PluginRegistration> registry;
    registry.push_back({"Sort", [](const ConfigValue&, Handle&) {
                          return Result<Plugin>(
                              AsPlugin("Sort", std::make_unique<TimeSortPlugin>()));
                        }});
    for (std::string_view name : {"A", "B", "C", "D"}) {
      registry.push_back({name, [this, name](const ConfigValue&, Handle&) {
                            auto made = std::make_unique<EverywherePlugin>(std::string(name), log_);
                            plugins_[std::string(name)] = made.get();
                            return Result<Plugin>(AsPlugin(name, std::move(made)));
                          }});
    }
    for (std::string_view name : {"PostX", "PostY"}) {
      registry.push_back({name, [this, name](const ConfigValue&, Handle&) {
                            auto made = std::make_unique<FixedPostFilter>();
                            post_filters_[std::string(name)] = made.get();
                            return Result<Plugin>(AsPlugin(name, std::move(made)));
                          }});
    }
    registry.push_back(
        {"Broken", [](const ConfigValue&, Handle&) { return Result<Plugin>(Fail("bad args")); }});
    registry.insert(registry.end(), more_plugins_.begin(), more_plugins_.end());
    return registry;
  }

  Status Make(Code code, std::string_view reason) {
    return handle_.reason_table.Make(code, reason);
  }

  std::vector<PluginRegistration> more_plugins_;
  CallLog log_;
  FakeHandle handle_;
  std::map<std::string, EverywherePlugin*> plugins_;
  std::map<std::string, FixedPostFilter*> post_filters_;
  std::unique_ptr<framework::Profile> profile_;
};

}  // namespace berth::test
