// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "plugins/relocation/relocation.h"
#include "src/documents/parse.h"

namespace berth::plugins {
namespace {

TEST(RelocationArgsTest, HaveDefaults) {
  const auto defaults = kRelocationArgs.parse(ConfigValue());
  ASSERT_TRUE(defaults);
  EXPECT_EQ(*defaults, (RelocationArgs{60, 60, 3}));
  const auto given = kRelocationArgs.parse(*documents::ParseJson(
      R"({"apiVersion":"kubescheduler.config.k8s.io/v1","kind":"RelocationArgs",
          "minPendingSeconds":0,"maxMovesPerHour":1,"maxMovesPerPod":2})",
      ""));
  ASSERT_TRUE(given) << given.error().message;
  EXPECT_EQ(*given, (RelocationArgs{0, 1, 2}));
  EXPECT_EQ(kRelocationArgs.with_defaults(*documents::ParseJson(R"({"maxMovesPerPod":1})", ""), {})
                .ToJson(),
            R"({"maxMovesPerPod":1,"minPendingSeconds":60,"maxMovesPerHour":60})");
}

TEST(RelocationArgsTest, ProblemsNameTheField) {
  for (const char* const json :
       {R"({"minPendingSeconds":-1})", R"({"minPendingSeconds":86401})", R"({"maxMovesPerHour":0})",
        R"({"maxMovesPerHour":10001})", R"({"maxMovesPerPod":0})", R"({"maxMovesPerPod":101})",
        R"({"maxMoves":1})", R"({"kind":"OtherArgs"})"}) {
    const auto problems =
        kRelocationArgs.problems(*documents::ParseJson(json, ""), "profiles[0].args", {});
    EXPECT_EQ(problems.size(), 1u) << json;
  }
  const auto parsed = kRelocationArgs.parse(*documents::ParseJson(R"({"maxMovesPerPod":0})", ""));
  ASSERT_FALSE(parsed);
  EXPECT_EQ(parsed.error().message,
            "maxMovesPerPod: Invalid value: 0: not in valid range [1, 100]");
}

}  // namespace
}  // namespace berth::plugins
