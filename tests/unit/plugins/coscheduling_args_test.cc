// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plugins/coscheduling/coscheduling.h"
#include "src/documents/parse.h"

namespace berth::plugins {
namespace {

Result<CoschedulingArgs> Parse(const std::string& json) {
  return kCoschedulingArgs.parse(*documents::ParseJson(json, ""));
}

TEST(CoschedulingArgsTest, HaveSchedulerPluginsNamesAndDefaults) {
  const auto defaults = kCoschedulingArgs.parse(ConfigValue());
  ASSERT_TRUE(defaults);
  EXPECT_EQ(*defaults, (CoschedulingArgs{60, 0, 10, 1000}));
  const auto given = Parse(R"({"apiVersion":"kubescheduler.config.k8s.io/v1",
                               "kind":"CoschedulingArgs","permitWaitingTimeSeconds":10,
                               "podGroupBackoffSeconds":30,"podGroupRejectPercentage":0})");
  ASSERT_TRUE(given) << given.error().message;
  EXPECT_EQ(*given, (CoschedulingArgs{10, 30, 0, 1000}));
  EXPECT_EQ(kCoschedulingArgs
                .with_defaults(*documents::ParseJson(R"({"podGroupBackoffSeconds":30})", ""), {})
                .ToJson(),
            R"({"podGroupBackoffSeconds":30,"permitWaitingTimeSeconds":60,)"
            R"("podGroupRejectPercentage":10})");
}

TEST(CoschedulingArgsTest, ProblemsNameTheField) {
  for (const auto* const json :
       {R"({"podGroupBackoffSeconds":-1})", R"({"podGroupRejectPercentage":101})",
        R"({"permitWaitingTimeSeconds":-1})", R"({"searchSteps":-1})", R"({"minMember":3})",
        R"({"kind":"OtherArgs"})"}) {
    const auto parsed = Parse(json);
    EXPECT_FALSE(parsed) << json;
    const auto problems =
        kCoschedulingArgs.problems(*documents::ParseJson(json, ""), "profiles[0].args", {});
    ASSERT_EQ(problems.size(), 1u) << json;
  }
  EXPECT_EQ(Parse(R"({"podGroupBackoffSeconds":-1})").error().message,
            "podGroupBackoffSeconds: Invalid value: -1: not in valid range [0, 3153600000]");
}

}  // namespace
}  // namespace berth::plugins
