// SPDX-License-Identifier: Apache-2.0
#include "src/config/other_plugins.h"

#include <gmock/gmock.h>

#include "src/documents/parse.h"

namespace berth::config {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::StartsWith;

Profile With(Plugins plugins, const std::string& fit_args = "{}") {
  Profile profile;
  profile.scheduler_name = "packed";
  profile.plugins = std::move(plugins);
  profile.plugins.multi_point.enabled.push_back({"NodeResourcesFit", 1});
  profile.plugin_config.push_back({"NodeResourcesFit", *documents::ParseJson(fit_args, "")});
  return profile;
}

std::vector<std::string> Warnings(Profile profile) {
  SchedulerConfiguration configuration;
  configuration.profiles.push_back(std::move(profile));
  return OldPluginWarnings(configuration);
}

TEST(OldPluginWarningsTest, SayWhatToWriteAndWhatUndoesThem) {
  Plugins plugins;
  plugins.score.enabled = {{"NodeResourcesMostAllocated", 1}};
  const char* advice =
      "profile \"packed\": plugin \"NodeResourcesMostAllocated\" is of older releases; write in "
      "its place scoringStrategy: {type: MostAllocated} in NodeResourcesFitArgs";
  EXPECT_THAT(Warnings(With(plugins)),
              ElementsAre(std::string(advice) +
                          ". NodeResourcesFit scores, too, by LeastAllocated, and undoes it"));
  EXPECT_THAT(Warnings(With(plugins, R"({"scoringStrategy":{"type":"MostAllocated"}})")),
              ElementsAre(std::string(advice) + ". NodeResourcesFit scores, too, by "
                                                "MostAllocated, so that it counts twice"));
  plugins.score.disabled = {{"NodeResourcesFit"}};
  EXPECT_THAT(Warnings(With(plugins)), ElementsAre(advice));
}

TEST(OldPluginWarningsTest, AreOneForEachPluginAtWhateverPoint) {
  Plugins plugins;
  plugins.filter.enabled = {{"NodeLabel"}, {"NodeName"}};
  plugins.score.enabled = {{"NodeLabel", 2}};
  plugins.multi_point.enabled = {{"EBSLimits"}};
  EXPECT_THAT(Warnings(With(plugins)),
              ElementsAre(StartsWith("profile \"packed\": plugin \"NodeLabel\" "),
                          StartsWith("profile \"packed\": plugin \"EBSLimits\" ")));
  EXPECT_THAT(Warnings(With({})), IsEmpty());
}

TEST(MisspeltPluginWarningsTest, NameWhatIsDisabledOrGetsArgsInVain) {
  Profile profile = With({});
  profile.plugins.score.disabled = {{"NodeResourceFit"}, {"*"}, {"NodeResourcesFit"}, {"Mine"}};
  profile.plugins.multi_point.disabled = {{"NodeResourceFit"}};
  profile.plugin_config.push_back({"nodename", {}});
  SchedulerConfiguration configuration;
  configuration.profiles.push_back(std::move(profile));
  const std::vector<PluginRegistration> known = {{"NodeResourcesFit", nullptr, ""},
                                                 {"NodeName", nullptr, ""}};
  EXPECT_THAT(MisspeltPluginWarnings(configuration, known),
              ElementsAre("profile \"packed\": disabled \"NodeResourceFit\": there is no such "
                          "plugin; did you mean NodeResourcesFit?",
                          "profile \"packed\": pluginConfig \"nodename\": there is no such plugin; "
                          "did you mean NodeName?"));
}

TEST(WhatItIsTest, NamesTheProjectOfPluginsThatAreKnown) {
  EXPECT_EQ(WhatItIs("NetworkOverhead"),
            "it is a plugin of kubernetes-sigs/scheduler-plugins, in Go, which Berth cannot load");
  EXPECT_EQ(WhatItIs("NodeResourcesAllocatable"), "");  // built in
  EXPECT_EQ(WhatItIs("TargetLoadPacking"), "");
  EXPECT_EQ(WhatItIs("Coscheduling"), "");  // built in
  EXPECT_EQ(WhatItIs("NodeName"), "");
  EXPECT_EQ(WhatItIs("Mine"), "");
}

}  // namespace
}  // namespace berth::config
