// SPDX-License-Identifier: Apache-2.0
#include "src/scheduler/profiles.h"

#include <gmock/gmock.h>

#include "tests/support/test_plugins.h"
#include "tests/unit/scheduler/parts_fixture.h"

namespace berth::scheduler {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class ProfilesTest : public test::PartsFixture {
 protected:
  ProfilesTest() {
    config::Profile batch = options_.configuration.profiles[0];
    batch.scheduler_name = "batch";
    batch.percentage_of_nodes_to_score = 30;
    options_.configuration.profiles.push_back(std::move(batch));
    options_.configuration.percentage_of_nodes_to_score = 50;
    Restart();
  }
  Result<bool> Replace(const config::SchedulerConfiguration& next, size_t pods = 0) {
    return profiles().Replace(next, [this, pods](std::string_view name) {
      counted_.emplace_back(name);
      return pods;
    });
  }

  std::vector<std::string> counted_;
};

TEST_F(ProfilesTest, AProfileIsFoundByItsSchedulerName) {
  ASSERT_NE(profiles().Find("batch"), nullptr);
  EXPECT_EQ(profiles().Find("batch")->scheduler_name(), "batch");
  EXPECT_EQ(profiles().Find("other"), nullptr);
  EXPECT_EQ(profiles().PercentageOfNodesToScore(*profiles().Find("batch")), 30);
  EXPECT_EQ(profiles().PercentageOfNodesToScore(*profiles().Find("default-scheduler")), 50);
  const auto hints = profiles().Hints();
  ASSERT_EQ(hints.size(), 2u);
  EXPECT_EQ(hints[0].scheduler_name, "batch");
  EXPECT_FALSE(hints[0].hints.empty());
}

TEST_F(ProfilesTest, AllProfilesSortTheQueueAlike) {
  plugins_.push_back({"Sort", [](const ConfigValue&, Handle&) -> Result<Plugin> {
                        return AsPlugin("Sort", std::make_unique<test::TimeSortPlugin>());
                      }});
  const auto made = [&](const config::SchedulerConfiguration& configuration) -> std::string {
    const auto profiles = Profiles::Make(configuration, plugins_, state());
    return profiles ? "" : profiles.error().message;
  };
  const auto sort_by = [](config::Profile& profile, const std::string& plugin) {
    auto& enabled = profile.plugins.multi_point.enabled;
    std::erase_if(enabled, [](const auto& ref) { return ref.name == "PrioritySort"; });
    enabled.push_back({plugin});
  };
  config::SchedulerConfiguration configuration = options_.configuration;
  EXPECT_EQ(made(configuration), "");
  sort_by(configuration.profiles[1], "Sort");
  EXPECT_EQ(made(configuration),
            "different queue sort plugins for profile \"batch\": \"Sort\", first: "
            "\"PrioritySort\"");
  sort_by(configuration.profiles[0], "Sort");
  EXPECT_EQ(made(configuration), "");

  // Coscheduling's order is PrioritySort's.
  configuration = options_.configuration;
  sort_by(configuration.profiles[1], "Coscheduling");
  EXPECT_EQ(made(configuration), "");

  configuration = options_.configuration;
  configuration.profiles[1].plugin_config.push_back({"PrioritySort", ConfigValue()});
  EXPECT_EQ(made(configuration), "");
  configuration.profiles[1].plugin_config.back().args =
      ConfigValue(ConfigValue::Map{{"x", ConfigValue(true)}});
  EXPECT_EQ(made(configuration), "different queue sort plugin args for profile \"batch\"");
}

TEST_F(ProfilesTest, WhatComesAgainBecomesASeriesButForBinds) {
  const auto pod = test::MakePod().Name("web").Uid("web-uid").Ptr();
  Handle& handle = profiles().Find("batch")->handle();
  for (const std::string_view reason : {"Preempted", "Preempted", "Scheduled", "Scheduled"}) {
    handle.RecordEvent(*pod, PodEventType::kNormal, reason, "Binding", "note", {});
    RunExecutor();
  }
  EXPECT_EQ(Events("Preempted").size(), 1u);
  EXPECT_EQ(Events("Scheduled").size(), 2u);
}

TEST_F(ProfilesTest, TheSameConfigurationChangesNothing) {
  const framework::Profile* before = profiles().Find("batch");
  const auto replaced = Replace(options_.configuration);
  ASSERT_TRUE(replaced);
  EXPECT_FALSE(*replaced);
  EXPECT_EQ(profiles().Find("batch"), before);
}

TEST_F(ProfilesTest, ReplacedProfilesLiveOnForThePodsThatHaveThem) {
  const framework::Profile* before = profiles().Find("batch");
  config::SchedulerConfiguration next = options_.configuration;
  std::erase_if(next.profiles[1].plugins.multi_point.enabled,
                [](const config::PluginRef& ref) { return ref.name == "ImageLocality"; });
  const auto replaced = Replace(next);
  ASSERT_TRUE(replaced) << replaced.error().message;
  EXPECT_TRUE(*replaced);
  EXPECT_NE(profiles().Find("batch"), before);
  EXPECT_EQ(before->scheduler_name(), "batch");
  EXPECT_FALSE(before->plugins().bind.empty());
}

TEST_F(ProfilesTest, AProfileGoesOnlyWhenNoPodNeedsIt) {
  config::SchedulerConfiguration next = options_.configuration;
  next.profiles.pop_back();
  const auto refused = Replace(next, 2);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("\"batch\" cannot go while pods wait for it (2)"));
  EXPECT_NE(profiles().Find("batch"), nullptr);
  EXPECT_EQ(profiles().configuration().profiles.size(), 2u);

  ASSERT_TRUE(Replace(next, 0));
  EXPECT_EQ(profiles().Find("batch"), nullptr);
  EXPECT_EQ(profiles().configuration().profiles.size(), 1u);
  EXPECT_THAT(counted_, ElementsAre("batch", "batch"));
}

}  // namespace
}  // namespace berth::scheduler
