// SPDX-License-Identifier: Apache-2.0
#include "src/framework/profile.h"

#include <gmock/gmock.h>

#include <functional>
#include <limits>

#include "tests/unit/framework/profile_fixture.h"

namespace berth::framework {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

using ProfileTest = test::ProfileFixture;

std::vector<std::string> FilterNames(const Profile& profile) {
  std::vector<std::string> names;
  for (const auto& entry : profile.plugins().filter) names.emplace_back(entry.name);
  return names;
}

config::Plugins MultiPoint(std::vector<config::PluginRef> enabled) {
  config::Plugins plugins;
  plugins.multi_point.enabled = std::move(enabled);
  return plugins;
}

TEST_F(ProfileTest, MultiPointExpandsToEveryPointInItsOrder) {
  auto made = TryMake(MultiPoint({{"Sort"}, {"B"}, {"A"}}));
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_THAT(FilterNames(**made), ElementsAre("B", "A"));
  EXPECT_EQ((*made)->plugins().bind.size(), 2u);
  EXPECT_EQ((*made)->plugins().queue_sort.size(), 1u);
}

TEST_F(ProfileTest, APointsOwnSettingsOverrideMultiPoint) {
  const struct {
    const char* name;
    std::function<void(config::Plugins&)> change;
    std::vector<std::string> want;
  } cases[] = {
      {"nothing said", [](config::Plugins&) {}, {"A", "B", "C"}},
      {"overrides come first, in their own order",
       [](config::Plugins& p) { p.filter.enabled = {{"C"}, {"B"}}; },
       {"C", "B", "A"}},
      {"what only the point names comes last",
       [](config::Plugins& p) { p.filter.enabled = {{"D"}, {"B"}}; },
       {"B", "A", "C", "D"}},
      {"a plugin disabled at the point is left out",
       [](config::Plugins& p) { p.filter.disabled = {{"B"}}; },
       {"A", "C"}},
      {"a star leaves only what the point names",
       [](config::Plugins& p) {
         p.filter.disabled = {{"*"}};
         p.filter.enabled = {{"B"}};
       },
       {"B"}},
      {"enabled and disabled at the point is no override",
       [](config::Plugins& p) {
         p.filter.disabled = {{"A"}};
         p.filter.enabled = {{"A"}};
       },
       {"B", "C", "A"}},
      {"unknown names may be disabled",
       [](config::Plugins& p) { p.filter.disabled = {{"NoSuchPlugin"}}; },
       {"A", "B", "C"}},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    config::Plugins plugins = MultiPoint({{"Sort"}, {"A"}, {"B"}, {"C"}});
    c.change(plugins);
    auto made = TryMake(plugins);
    ASSERT_TRUE(made) << made.error().message;
    EXPECT_EQ(FilterNames(**made), c.want);
  }
}

TEST_F(ProfileTest, WeightsComeFromTheScorePointThenFromMultiPointAndZeroMeansOne) {
  config::Plugins plugins = MultiPoint({{"Sort"}, {"A", 5}, {"B", 7}, {"C"}});
  plugins.score.enabled = {{"B", 2}};
  auto made = TryMake(plugins);
  ASSERT_TRUE(made) << made.error().message;
  const auto& score = (*made)->plugins().score;
  ASSERT_EQ(score.size(), 3u);
  EXPECT_EQ(score[0].name, "B");
  EXPECT_EQ(score[0].weight, 2);
  EXPECT_EQ(score[1].weight, 5);
  EXPECT_EQ(score[2].weight, 1);
}

TEST_F(ProfileTest, NoWeightMayFollowATotalBelowZero) {
  config::Plugins plugins = MultiPoint({{"Sort"}, {"A", 5}, {"B", 7}, {"C"}});
  plugins.score.enabled = {{"B", -1}};
  auto made = TryMake(plugins);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().message, "score plugins: total score of Score plugins could overflow");
  // Those that are disabled at the point count.
  plugins.score.disabled = {{"*"}};
  EXPECT_FALSE(TryMake(plugins));
  plugins = MultiPoint({{"Sort"}, {"A", 5}, {"B", -4}, {"C"}});
  made = TryMake(plugins);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ((*made)->plugins().score[1].weight, -4);
}

TEST_F(ProfileTest, RefusesWhatCannotWork) {
  const struct {
    const char* want;
    std::function<void(config::Plugins&)> change;
  } cases[] = {
      {"PreFilterPlugin \"Unknown\" does not exist",
       [](config::Plugins& p) { p.multi_point.enabled.push_back({"Unknown"}); }},
      {"PreFilterPlugin \"NetworkOverhead\" does not exist; it is a plugin of "
       "kubernetes-sigs/scheduler-plugins, in Go, which Berth cannot load",
       [](config::Plugins& p) { p.pre_filter.enabled = {{"NetworkOverhead"}}; }},
      {"ScorePlugin \"Unknown\" does not exist",
       [](config::Plugins& p) { p.score.enabled = {{"Unknown"}}; }},
      {"ScorePlugin \"Sotr\" does not exist; did you mean Sort?",
       [](config::Plugins& p) { p.score.enabled = {{"Sotr"}}; }},
      {"ScorePlugin \"Unknown\" does not exist",
       [](config::Plugins& p) {
         p.multi_point.enabled.push_back({"Other"});
         p.score.enabled = {{"Unknown"}};
       }},
      {"at least one bind plugin is needed for profile with scheduler name \"test-scheduler\"",
       [](config::Plugins& p) {
         p.bind.disabled = {{"*"}};
         p.score.enabled = {{"A", std::numeric_limits<int32_t>::min()}, {"B", 1}};
       }},
      {"plugin \"Sort\" does not extend FilterPlugin plugin",
       [](config::Plugins& p) { p.filter.enabled = {{"Sort"}}; }},
      {"plugin \"A\" already registered as \"FilterPlugin\"",
       [](config::Plugins& p) { p.filter.enabled = {{"A"}, {"A"}}; }},
      {"plugin \"A\" already registered as \"PreFilterPlugin\"",
       [](config::Plugins& p) { p.multi_point.enabled.push_back({"A"}); }},
      {"only one queue sort plugin required for profile with scheduler name \"test-scheduler\", "
       "but got 0",
       [](config::Plugins& p) { p.queue_sort.disabled = {{"*"}}; }},
      {"at least one bind plugin is needed for profile with scheduler name \"test-scheduler\"",
       [](config::Plugins& p) { p.bind.disabled = {{"*"}}; }},
      {"initializing plugin \"Broken\": bad args",
       [](config::Plugins& p) { p.multi_point.enabled.push_back({"Broken"}); }},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.want);
    config::Plugins plugins = MultiPoint({{"Sort"}, {"A"}});
    c.change(plugins);
    auto made = TryMake(plugins);
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().message, c.want);
  }
}

TEST_F(ProfileTest, RefusesTwoConfigsForOnePlugin) {
  config::Profile config;
  config.scheduler_name = "test-scheduler";
  config.plugins = MultiPoint({{"Sort"}, {"A"}});
  config.plugin_config = {{"A", {}}, {"A", {}}};
  auto made = Profile::Make(config, Registry(), handle_);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().message, "repeated config for plugin A");
}

TEST_F(ProfileTest, APluginThatRegistersNothingHearsOfEverythingIfItCanReject) {
  Make({"A"});
  // Sort cannot reject a pod; A can, and implements no EnqueueExtensions.
  EXPECT_EQ(profile_->events().size(), AllClusterEvents(false).size());
  for (const RegisteredEvent& event : profile_->events()) EXPECT_EQ(event.plugin, "A");
  handle_.gates.generic_workload = true;
  Make({"A"});
  EXPECT_EQ(profile_->events().size(), AllClusterEvents(true).size());
}

}  // namespace
}  // namespace berth::framework
