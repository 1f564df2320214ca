// SPDX-License-Identifier: Apache-2.0
#include "src/app/endpoints/live_questions.h"

#include <gmock/gmock.h>

namespace berth::app {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(LeaveLibrariesOutTest, PluginsOfLibrariesGoFromEveryPointAndOthersStay) {
  const std::vector<PluginRegistration> registry = {
      {.name = "NodeName", .factory = nullptr},
      {.name = "Mine", .factory = nullptr, .library = "mine.so"},
      {.name = "Ours", .factory = nullptr, .library = "mine.so"}};
  config::SchedulerConfiguration configuration;
  config::Profile& profile = configuration.profiles.emplace_back();
  profile.plugins.multi_point.enabled = {{"NodeName"}, {"Ours"}, {"Unheard"}};
  profile.plugins.score.enabled = {{"Mine", 3}};
  profile.plugin_config = {{"Mine", ConfigValue()}, {"NodeName", ConfigValue()}};
  configuration.profiles.push_back(profile);
  EXPECT_THAT(LeaveLibrariesOut(registry, configuration), ElementsAre("Mine", "Ours"));
  for (const config::Profile& left : configuration.profiles) {
    EXPECT_THAT(left.plugins.multi_point.enabled,
                ElementsAre(config::PluginRef{"NodeName"}, config::PluginRef{"Unheard"}));
    EXPECT_THAT(left.plugins.score.enabled, IsEmpty());
    ASSERT_EQ(left.plugin_config.size(), 1u);
    EXPECT_EQ(left.plugin_config[0].name, "NodeName");
  }
  EXPECT_THAT(LeaveLibrariesOut(registry, configuration), IsEmpty());
}

}  // namespace
}  // namespace berth::app
