// SPDX-License-Identifier: Apache-2.0
#include "plugins/in_tree_registry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "tests/support/default_plugins.h"
#include "tests/support/fake_handle.h"
#include "tests/support/shipped.h"

namespace berth::plugins {
namespace {

TEST(InTreeRegistryTest, EveryPluginIsMadeWithoutArgsUnderItsOwnName) {
  test::FakeHandle handle;
  std::set<std::string_view> names;
  std::vector<PluginRegistration> registry = InTreeRegistry();
  for (PluginRegistration& shipped : test::ShippedRegistry()) {
    registry.push_back(std::move(shipped));
  }
  for (const PluginRegistration& registration : registry) {
    SCOPED_TRACE(registration.name);
    EXPECT_TRUE(names.insert(registration.name).second) << "registered twice";
    const auto plugin = registration.factory(ConfigValue(), handle);
    ASSERT_TRUE(plugin.has_value()) << plugin.error().message;
    EXPECT_EQ(plugin->name, registration.name);
    EXPECT_TRUE(plugin->inputs.declared || plugin->inputs.each_pod);
  }
}

TEST(InTreeRegistryTest, DefaultsAreRegisteredInUpstreamsOrderAndWeight) {
  std::set<std::string_view> registered;
  for (const PluginRegistration& registration : InTreeRegistry()) {
    registered.insert(registration.name);
  }
  const std::vector<std::pair<std::string_view, int>> upstream = {
      {"SchedulingGates", 0},
      {"PrioritySort", 0},
      {"NodeName", 0},
      {"NodeUnschedulable", 0},
      {"TaintToleration", 3},
      {"NodeAffinity", 2},
      {"NodePorts", 0},
      {"NodeResourcesFit", 1},
      {"VolumeRestrictions", 0},
      {"NodeVolumeLimits", 0},
      {"VolumeBinding", 0},
      {"VolumeZone", 0},
      {"PodTopologySpread", 2},
      {"InterPodAffinity", 2},
      {"DynamicResources", 2},
      {"DefaultPreemption", 0},
      {"NodeResourcesBalancedAllocation", 1},
      {"ImageLocality", 1},
      {"DefaultBinder", 0},
      {"NodeDeclaredFeatures", 0},
  };
  auto next = upstream.begin();
  for (const DefaultPlugin& plugin : DefaultMultiPoint()) {
    SCOPED_TRACE(plugin.name);
    EXPECT_TRUE(registered.contains(plugin.name));
    if (!test::IsOnByDefault(plugin)) continue;
    next = std::find(next, upstream.end(),
                     std::pair<std::string_view, int>(plugin.name, plugin.weight));
    ASSERT_NE(next, upstream.end()) << "not at its place, or of another weight";
  }
}

}  // namespace
}  // namespace berth::plugins
