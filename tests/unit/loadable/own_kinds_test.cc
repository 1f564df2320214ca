// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "berth/plugin_kinds.h"
#include "src/config/plugin_features.h"
#include "tests/support/builders.h"
#include "tests/support/plain_snapshot.h"
#include "tests/support/plugin_kinds.h"
#include "tests/unit/loadable/loaded.h"

namespace berth::framework {
namespace {

using test::MakeNode;
using test::MakePluginObject;
using test::MakePod;
using testing::ElementsAre;
using testing::Pair;
using testing::SizeIs;

class OwnKindsTest : public testing::Test {
 protected:
  static std::vector<PluginRegistration> Load(std::string_view library) {
    const std::vector<std::string> folders{test::LibraryFolder(library)};
    auto loaded = LoadPlugins(folders, {});
    EXPECT_TRUE(loaded) << loaded.error().message;
    return loaded ? std::move(loaded->registrations) : std::vector<PluginRegistration>();
  }

  Plugin Make(size_t index = 0) {
    auto made = registry_[index].factory(ConfigValue(), handle_);
    EXPECT_TRUE(made) << made.error().message;
    return *std::move(made);
  }
  void Add(api::PluginKindId kind, const std::string& json) {
    handle_.plain_listers.Set(*MakePluginObject(kind, json));
  }
  std::string Verdict(Plugin& plugin, const api::Pod& pod, const api::Node& node) {
    const test::PlainSnapshot snapshot(handle_.names, {node});
    const auto info = PodInfo::Make(std::make_shared<const api::Pod>(pod), handle_.names);
    return std::string(plugin.filter->Filter(state_, *info, NodeView(snapshot, 0)).message());
  }

  test::FakeHandle handle_;
  CycleState state_;
  const std::vector<PluginRegistration> registry_ = Load("own_kinds");
  const api::PluginKindId widgets_ = registry_[0].kinds[0];
  const api::PluginKindId gadgets_ = registry_[0].kinds[1];
};

TEST_F(OwnKindsTest, AreKnownByTheirNames) {
  ASSERT_THAT(registry_, SizeIs(2));
  EXPECT_EQ(PluginKinds()[widgets_],
            (api::PluginKind{"tests.example.com", "v1", "widgets", "Widget", false}));
  EXPECT_EQ(PluginKinds()[gadgets_],
            (api::PluginKind{"tests.example.com", "v1beta1", "gadgets", "Gadget", true}));
  EXPECT_THAT(registry_[1].kinds, ElementsAre(gadgets_)) << "two plugins, one kind";
}

TEST_F(OwnKindsTest, AreWatchedWhereAProfileEnablesThePlugin) {
  config::SchedulerConfiguration configuration;
  configuration.profiles.resize(1);
  const auto watched = [&] {
    return config::WithPlugins(Features(), configuration, registry_).plugin_kinds;
  };
  EXPECT_EQ(watched(), 0u);
  configuration.profiles[0].plugins.filter.enabled = {{"WantsAll", 0}};
  EXPECT_EQ(watched(), uint64_t{1} << gadgets_);
  configuration.profiles[0].plugins.multi_point.enabled = {{"ShowsKinds", 0}};
  EXPECT_EQ(watched(), uint64_t{1} << gadgets_ | uint64_t{1} << widgets_);
}

TEST_F(OwnKindsTest, ObjectsAreShownByNameAndByNamespace) {
  Plugin plugin = Make();
  const api::Node node = MakeNode("n");
  EXPECT_EQ(Verdict(plugin, MakePod(), node), "; ; ");
  Add(widgets_, R"({"metadata": {"name": "b"}})");
  Add(widgets_, R"({"metadata": {"name": "a"}})");
  Add(gadgets_, R"({"metadata": {"name": "n", "namespace": "default"}, "spec": {"x": [1, 2.50]}})");
  Add(gadgets_, R"({"metadata": {"name": "m", "namespace": "default"}})");
  Add(gadgets_, R"({"metadata": {"name": "n", "namespace": "other"}})");
  EXPECT_EQ(Verdict(plugin, MakePod(), node),
            R"(/a /b ; default/m default/n ; {"metadata":{"name":"n","namespace":"default"},)"
            R"("spec":{"x":[1,2.50]}})");
  EXPECT_EQ(Verdict(plugin, MakePod().Namespace("nobodys"), node), "/a /b ; ; ");
  handle_.plain_listers.ObjectTables::Remove(
      MakePluginObject(gadgets_, R"({"metadata": {"name": "n", "namespace": "default"}})"));
  EXPECT_EQ(Verdict(plugin, MakePod(), node), "/a /b ; default/m ; ");
}

TEST_F(OwnKindsTest, EventsAreThoseOfTheKind) {
  Plugin plugin = Make();
  const auto events = plugin.enqueue_extensions->EventsToRegister();
  ASSERT_THAT(events, SizeIs(1)) << "it has no third kind";
  EXPECT_EQ(events[0].event.Label(), "gadgets.v1beta1.tests.example.comAll");
  const auto hint = [&](const api::Pod& pod, const api::ObjectPtr& before,
                        const api::ObjectPtr& after) {
    return *events[0].hint(pod, before, after);
  };
  const api::ObjectPtr web =
      MakePluginObject(gadgets_, R"({"metadata":{"name":"x"},"spec":"for web"})");
  const api::ObjectPtr other = MakePluginObject(gadgets_, R"({"metadata":{"name":"x"}})");
  const api::Pod pod = MakePod().Name("web");
  EXPECT_EQ(hint(pod, {}, web), QueueingHint::kQueue);
  EXPECT_EQ(hint(pod, web, other), QueueingHint::kQueue);
  EXPECT_EQ(hint(pod, web, {}), QueueingHint::kQueue);
  EXPECT_EQ(hint(pod, other, {}), QueueingHint::kQueueSkip);
  EXPECT_EQ(hint(pod, {}, other), QueueingHint::kQueueSkip);
}

TEST_F(OwnKindsTest, APluginThatNamesNoEventsWantsThoseOfItsKinds) {
  Plugin plugin = Make(1);
  ASSERT_NE(plugin.enqueue_extensions, nullptr);
  const auto events = plugin.enqueue_extensions->EventsToRegister();
  EXPECT_EQ(events.size(), AllClusterEvents(false).size() + 1);
  EXPECT_EQ(events.back().event.resource, EventResourceOf(gadgets_));
}

// The oldest headers have neither own_kinds nor what is called for them.
TEST_F(OwnKindsTest, ALibraryOfTheOldestInterfaceIsLoadedAndAsked) {
  const std::vector<std::string> folders{test::LibraryFolder("oldest")};
  const auto loaded = LoadPlugins(folders, {});
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_EQ(loaded->libraries.front().interface, "0.3");
  EXPECT_THAT(loaded->registrations.front().kinds, SizeIs(0));
  auto made = loaded->registrations.front().factory(ConfigValue(), handle_);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->enqueue_extensions, nullptr);
  EXPECT_EQ(Verdict(*made, MakePod().Name("a"), MakeNode("b")), "another name");
  EXPECT_EQ(Verdict(*made, MakePod().Name("a"), MakeNode("a")), "");
}

}  // namespace
}  // namespace berth::framework
