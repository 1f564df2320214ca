// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <string>

#include "src/documents/parse.h"
#include "src/documents/write.h"
#include "src/plan/plan.h"
#include "tests/unit/simulator/simulator_fixture.h"

namespace berth::plan {
namespace {

using testing::HasSubstr;
using namespace std::chrono_literals;

constexpr std::string_view kPlan = R"(apiVersion: berth.dev/v1
goal: fit=ml/train-0
made: 2026-11-28T05:00:00Z
outcome: found
moves:
- {pod: shop/web-2, uid: u2, from: n1, to: n3, wave: 1, frees: {cpu: 1000}}
- {pod: ml/train-0, uid: u0, to: n1, wave: 2}
fewest: 1
proved: true
judged: 12
)";

// The plan with one text instead of another.
std::string With(std::string_view old_text, std::string_view new_text) {
  std::string text(kPlan);
  const size_t at = text.find(old_text);
  EXPECT_NE(at, std::string::npos) << old_text;
  return text.replace(at, old_text.size(), new_text);
}

TEST(PlanFileTest, ReadsWhatIsWritten) {
  const auto plan = ReadPlan(kPlan, "plan.yaml");
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(plan->goal.ToString(), "fit=ml/train-0");
  EXPECT_EQ(plan->outcome, Plan::Outcome::kFound);
  ASSERT_EQ(plan->moves.size(), 2u);
  EXPECT_EQ(plan->moves[0].pod, "shop/web-2");
  EXPECT_EQ(plan->moves[0].uid, "u2");
  EXPECT_EQ(plan->moves[0].from, "n1");
  EXPECT_EQ(plan->moves[1].from, "");
  EXPECT_EQ(plan->moves[1].to, "n1");
  EXPECT_EQ(plan->moves[1].wave, 2u);
}

TEST(PlanFileTest, APlanOfARunningSchedulerIsReadToo) {
  EXPECT_TRUE(ReadPlan(With("goal: ", "leading: false\ngoal: "), "plan.yaml"));
}

class WrittenPlanTest : public test::SimulatorFixture {};

TEST_F(WrittenPlanTest, IsReadBack) {
  const auto node = [](std::string_view name) {
    return test::MakeNode(name)
        .Allocatable({{"cpu", "4"}})
        .Label("topology.kubernetes.io/zone", name);
  };
  Apply(node("n1"));
  Apply(node("n2").Allocatable({{"example.com/gpu", "1"}}));
  for (const char* name : {"a", "b"}) {
    Apply(test::MakePod()
              .Name(name)
              .Uid(std::string("u") + name)
              .Req({{"cpu", "2"}})
              .Owner("ReplicaSet", "w", "u")
              .OnNode("n2"));
  }
  Apply(test::MakePod().Name("big").Uid("u-big").Req({{"cpu", "3"}, {"example.com/gpu", "1"}}));
  simulation_->RunDue();
  for (const char* goal : {"fit=default/big", "pending", "empty=n2", "skew=default/rs/w:1",
                           "stranded=example.com/gpu:1"}) {
    SCOPED_TRACE(goal);
    auto plan = FindPlan(*Goal::Parse(goal), *simulation_);
    ASSERT_TRUE(plan);
    ASSERT_EQ(plan->outcome, Plan::Outcome::kFound) << plan->why;
    ASSERT_GT(plan->evictions(), 0u);
    plan->made = Time() + 24h;
    std::string json;
    AppendJson(*plan, json);
    json.insert(1, R"("apiVersion":"berth.dev/v1",)");
    const auto yaml = documents::ToYaml(*documents::ParseJson(json, ""));
    for (const std::string& text : {json, yaml}) {
      const auto read = ReadPlan(text, "plan");
      ASSERT_TRUE(read) << read.error().message;
      EXPECT_EQ(read->goal, plan->goal);
      EXPECT_EQ(read->made, plan->made);
      ASSERT_EQ(read->moves.size(), plan->moves.size());
      for (size_t i = 0; i < read->moves.size(); ++i) {
        EXPECT_EQ(read->moves[i].pod, plan->moves[i].pod);
        EXPECT_EQ(read->moves[i].uid, plan->moves[i].uid);
        EXPECT_EQ(read->moves[i].from, plan->moves[i].from);
        EXPECT_EQ(read->moves[i].to, plan->moves[i].to);
        EXPECT_EQ(read->moves[i].wave, plan->moves[i].wave);
      }
    }
  }
}

TEST(PlanFileTest, EachProblemNamesItsField) {
  const std::tuple<const char*, const char*, const char*> cases[] = {
      {"goal: fit", "gaol: fit", "gaol"},
      {"goal: fit=ml/train-0\n", "", "goal: Required value"},
      {"fit=ml/train-0", "fit=train", "goal: Invalid value: \"fit=train\""},
      {"fit=ml/train-0", "skew=deploy/web:1", "goal: Invalid value: \"skew=deploy/web:1\""},
      {"fit=ml/train-0", "stranded=cpu", "goal: Invalid value: \"stranded=cpu\""},
      {"outcome: found", "outcome: refused", "make it without --min-gain"},
      {"made: 2026-11-28T05:00:00Z\n", "", "made: Required value"},
      {"2026-11-28T05:00:00Z", "yesterday", "made: Invalid value: \"yesterday\""},
      {"outcome: found", "outcome: impossible", "outcome: Invalid value: \"impossible\""},
      {"outcome: found", "outcome: maybe", "outcome: Unsupported value: \"maybe\""},
      {"from: n1", "form: n1", "moves[0].form"},
      {"uid: u2, ", "", "moves[0].uid: Required value"},
      {"pod: shop/web-2", "pod: web-2", "moves[0].pod: Invalid value: \"web-2\""},
      {"to: n3", "to: n1", "moves[0].to: Invalid value: \"n1\""},
      {"to: n3, ", "", "moves[0].to: Required value"},
      {"wave: 1", "wave: 0", "moves[0].wave: Invalid value: 0"},
      {"wave: 1", "wave: 3", "moves[1].wave: Invalid value: 2"},
      {"wave: 1", "wave: first", "moves[0].wave"},
      {"uid: u0", "uid: u2", "moves[1].uid: Duplicate value: \"u2\""},
      {"berth.dev/v1", "berth.dev/v2", "apiVersion: Invalid value: \"berth.dev/v2\""},
      {"moves:\n", "moves: none\nother:\n", "moves"},
  };
  for (const auto& [old_text, new_text, message] : cases) {
    SCOPED_TRACE(new_text);
    const auto plan = ReadPlan(With(old_text, new_text), "plan.yaml");
    ASSERT_FALSE(plan);
    EXPECT_THAT(plan.error().message, HasSubstr(message));
    EXPECT_THAT(plan.error().message, testing::StartsWith("plan.yaml: "));
  }
  for (const char* text : {"", "[]", "a: 1\n---\nb: 2\n", "just words"}) {
    SCOPED_TRACE(text);
    EXPECT_FALSE(ReadPlan(text, "plan.yaml"));
  }
}

// Its goal says so, and the pod in its place has its next move from there.
TEST(PlanFileTest, APodIsEvictedForGoodWhereTheGoalSaysSo) {
  constexpr std::string_view kTo = ", to: n3";
  EXPECT_THAT(ReadPlan(With(kTo, ""), "plan.yaml").error().message,
              HasSubstr("moves[0].to: Required value"));
  std::string text = With(kTo, "");
  text.replace(text.find("outcome:"), 0, "evict: true\n");
  const auto plan = ReadPlan(text, "plan.yaml");
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_TRUE(plan->goal.evict);
  EXPECT_EQ(plan->moves[0].to, "");
  EXPECT_EQ(plan->evicted_for_good(), 1u);
  text.replace(text.find("goal: fit=ml/train-0"), 20, "goal: empty=n1");
  EXPECT_THAT(ReadPlan(text, "plan.yaml").error().message, HasSubstr("evict: Invalid value: true"));
}

TEST(PlanFileTest, APodThatIsMovedTwiceBeginsWhereItWas) {
  const auto twice = [](std::string_view second) {
    std::string text(kPlan);
    return text.insert(text.find("- {pod: ml/"), second);
  };
  const auto plan =
      ReadPlan(twice("- {pod: shop/web-2, uid: u2, from: n3, to: n2, wave: 2}\n"), "plan.yaml");
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(plan->moves.size(), 3u);
  for (const char* second : {"- {pod: shop/web-2, uid: u2, from: n1, to: n2, wave: 2}\n",
                             "- {pod: shop/web-2, uid: u2, to: n2, wave: 2}\n"}) {
    EXPECT_THAT(ReadPlan(twice(second), "plan.yaml").error().message,
                HasSubstr("moves[1].uid: Duplicate value: \"u2\""));
  }
}

TEST(PlanFileTest, AnOldPlanIsRefused) {
  const auto plan = ReadPlan(kPlan, "plan.yaml");
  ASSERT_TRUE(plan);
  const Time made = *plan->made;
  EXPECT_TRUE(CheckAge(*plan, made + 59min, 1h));
  const auto old = CheckAge(*plan, made + 61min, 1h);
  ASSERT_FALSE(old);
  EXPECT_THAT(old.error().message, HasSubstr("made: Invalid value"));
  EXPECT_THAT(old.error().message, HasSubstr("is 1h1m0s old"));
  EXPECT_TRUE(CheckAge(*plan, made + 61min, 0h));
  EXPECT_TRUE(CheckAge(*plan, made - 1min, 1h));
  EXPECT_FALSE(CheckAge(*plan, made - 1h, 1h));
}

}  // namespace
}  // namespace berth::plan
