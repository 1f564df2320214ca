// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <string>

#include "src/questions/answers.h"

namespace berth::questions {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

plan::Goal Goal(std::string_view json) {
  const auto question = ParsePlanQuestion(json);
  EXPECT_TRUE(question) << question.error().message;
  return question ? question->goal : plan::Goal{};
}

std::string ProblemWith(std::string_view json) {
  const auto question = ParsePlanQuestion(json);
  return question ? "" : question.error().message;
}

TEST(PlanQuestionTest, GoalsAreThoseOfTheCommandLine) {
  EXPECT_EQ(Goal(R"({"goal": "fit=shop/web-3"})").ToString(), "fit=shop/web-3");
  EXPECT_EQ(Goal(R"({"goal": "fit=web-3"})").ToString(), "fit=default/web-3");
  EXPECT_EQ(Goal(R"({"goal": "fit=pod/web-3", "namespace": "shop"})").ToString(), "fit=shop/web-3");
  EXPECT_EQ(Goal(R"({"goal": "fit=shop/web-3", "namespace": "shop"})").ToString(),
            "fit=shop/web-3");
  EXPECT_EQ(Goal(R"({"goal": "empty=n1", "namespace": "shop"})"), *plan::Goal::Parse("empty=n1"));
  EXPECT_EQ(Goal(R"({"goal": "pending"})"), *plan::Goal::Parse("pending"));
  EXPECT_EQ(Goal(R"({"goal": "skew=deploy/web:1", "namespace": "shop"})").ToString(),
            "skew=shop/Deployment/web:1");
  EXPECT_EQ(Goal(R"({"goal": "skew=deploy/web:1"})").ToString(), "skew=default/Deployment/web:1");
  const plan::Goal pending = Goal(R"({"goal": "pending=-7", "namespace": "shop"})");
  EXPECT_EQ(pending.ToString(), "pending=-7");
  EXPECT_EQ(pending.namespace_, "shop");
}

TEST(PlanQuestionTest, TheSearchMayBeBoundMore) {
  EXPECT_EQ(ParsePlanQuestion(R"({"goal": "pending"})")->limits.judged, plan::Limits().judged);
  EXPECT_EQ(ParsePlanQuestion(R"({"goal": "pending", "mostJudged": 9})")->limits.judged, 9u);
  EXPECT_THAT(ProblemWith(R"({"goal": "pending", "mostJudged": 0})"),
              HasSubstr("mostJudged: Invalid value: 0: must be at least 1"));
}

TEST(PlanQuestionTest, PodsAreEvictedForGoodOnlyWhereThatIsAskedFor) {
  EXPECT_FALSE(Goal(R"({"goal": "pending"})").evict);
  EXPECT_TRUE(Goal(R"({"goal": "pending", "evict": true})").evict);
  EXPECT_TRUE(Goal(R"({"goal": "fit=shop/web-3", "evict": true})").evict);
  EXPECT_THAT(ProblemWith(R"({"goal": "empty=n1", "evict": true})"),
              HasSubstr("evict: Invalid value: true: only pods that wait"));
}

TEST(PlanQuestionTest, WhatIsWrongIsToldInTheWordsOfTheCommandLine) {
  for (const std::string goal : {"fitt=shop/web", "pending=high", "empty=", "empty=shop/n1", ""}) {
    const std::string json = R"({"goal": ")" + goal + "\"}";
    EXPECT_EQ(ProblemWith(json), "goal: " + plan::Goal::Parse(goal).error().message);
  }
  EXPECT_THAT(ProblemWith(R"({"goal": "fitt=shop/web"})"), HasSubstr("did you mean fit?"));
  EXPECT_EQ(ProblemWith(R"({"goal": "fit=a/b/c"})"),
            "goal: must be a name, pod/NAME or NAMESPACE/NAME");
  EXPECT_EQ(ProblemWith(R"({"goal": "fit=shop/web", "namespace": "ml"})"),
            "goal: the namespace is ml, and the pod's shop");
  EXPECT_EQ(ProblemWith(R"({"goal": "skew=shop/deploy/web:1", "namespace": "ml"})"),
            "goal: the namespace is ml, and the workload's shop");
  EXPECT_THAT(ProblemWith(R"({"goal": 7})"), StartsWith("goal: Invalid value: 7"));
  EXPECT_THAT(ProblemWith("{}"), StartsWith("goal: Required value"));
  EXPECT_THAT(ProblemWith(R"({"goal": "pending", "drain": []})"),
              HasSubstr(R"(unknown field "drain")"));
  EXPECT_NE(ProblemWith("no JSON"), "");
}

}  // namespace
}  // namespace berth::questions
