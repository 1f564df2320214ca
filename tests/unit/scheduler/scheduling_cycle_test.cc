// SPDX-License-Identifier: Apache-2.0
#include "src/scheduler/scheduling_cycle.h"

#include <gmock/gmock.h>

#include "tests/unit/scheduler/parts_fixture.h"

namespace berth::scheduler {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

// Reserve and Permit say what they are told to.
class Guard final : public ReservePlugin, public PermitPlugin {
 public:
  struct Book {
    Code reserve = Code::kSuccess;
    Code permit = Code::kSuccess;
    int unreserved = 0;
  };
  explicit Guard(Book& book) : book_(book) {}
  Status Reserve(CycleState& state, const PodInfo&, std::string_view) override {
    return Say(state, book_.reserve);
  }
  void Unreserve(CycleState&, const PodInfo&, std::string_view) override { ++book_.unreserved; }
  PermitResult Permit(CycleState& state, const PodInfo&, std::string_view) override {
    return {Say(state, book_.permit), std::chrono::seconds(10)};
  }

 private:
  static Status Say(const CycleState& state, Code code) {
    return code == Code::kSuccess ? Status::Success() : state.reasons().Make(code, "not today");
  }
  Book& book_;
};

class SchedulingCycleTest : public test::PartsFixture {
 protected:
  SchedulingCycleTest() {
    plugins_.push_back({"Guard", [this](const ConfigValue&, Handle&) {
                          return Result<Plugin>(AsPlugin("Guard", std::make_unique<Guard>(book_)));
                        }});
    options_.configuration.profiles[0].plugins.multi_point.enabled.push_back({"Guard", 0});
    options_.on_cycle = [this](const CycleOutcome& outcome) {
      reported_.push_back(outcome.pod.metadata.name + " " + std::string(CodeName(outcome.code)) +
                          " " + std::string(outcome.node_name) + ": " +
                          std::to_string(outcome.took.count()));
    };
    options_.stopwatch = [this] { return Duration(time_ += step_); };
    Begin();
  }
  void Begin() {
    cycle_.reset();
    Restart();
    reported_.clear();
    engine_.emplace(Random(1), state().cluster.cache, options_.max_kept_bytes);
    failures_.emplace(state(), queue());
    binding_cycles_.emplace(state(), queue(), *failures_, 100);
    const CycleParts parts{.state = state(),
                           .profiles = profiles(),
                           .queue = queue(),
                           .engine = *engine_,
                           .binding_cycles = *binding_cycles_,
                           .failures = *failures_};
    cycle_.emplace(parts, options_);
    AddNode(test::MakeNode("n1").Allocatable({{"cpu", "1"}}));
  }

  void ScheduleOne() { cycle_->Schedule(queue().Pop()); }

  Guard::Book book_;
  std::vector<std::string> reported_;
  int64_t time_ = 0;
  int64_t step_ = 1;
  std::optional<engine::Engine> engine_;
  std::optional<FailureHandler> failures_;
  std::optional<BindingCycles> binding_cycles_;
  std::optional<SchedulingCycle> cycle_;
};

TEST_F(SchedulingCycleTest, ADecidedPodIsAssumedAndEntersItsBindingCycle) {
  AddPod(test::MakePod().Name("web").NominatedNode("n1"));
  ScheduleOne();
  EXPECT_TRUE(state().cluster.cache.IsAssumed("default/web"));
  EXPECT_EQ(binding_cycles_->size(), 1u);
  EXPECT_TRUE(state().cluster.nominator.empty()) << "it has its room now";
  EXPECT_THAT(reported_, ElementsAre("web Success n1: 1"));
}

TEST_F(SchedulingCycleTest, EachAttemptIsTimedByItself) {
  AddPod(test::MakePod().Name("web").Priority(1));
  AddPod(test::MakePod().Name("huge").Req({{"cpu", "9"}}));
  AddPod(test::MakePod().Name("huge-too").Req({{"cpu", "9"}}));
  for (step_ = 1; step_ <= 3; ++step_) ScheduleOne();
  EXPECT_THAT(reported_, ElementsAre("web Success n1: 1", "huge Unschedulable : 2",
                                     "huge-too Unschedulable : 3"));
}

TEST_F(SchedulingCycleTest, APodThatNeedsNoNodeIsDroppedWithoutAnAttempt) {
  AddPod(test::MakePod().Name("going").DeletedAt(Now()));
  ScheduleOne();
  EXPECT_THAT(Events("FailedScheduling"), ElementsAre("skip schedule deleting pod: default/going"));

  const auto web = test::MakePod().Name("web").Ptr();
  AddPod(web);
  ASSERT_TRUE(state().cluster.cache.AssumePod(state().cluster.cache.MakePodInfo(web), 0));
  ScheduleOne();
  EXPECT_EQ(queue().counts().in_flight, 0u);
  EXPECT_EQ(binding_cycles_->size(), 0u);
  EXPECT_THAT(reported_, IsEmpty());
}

TEST_F(SchedulingCycleTest, WhatReserveAndPermitRejectIsTakenBack) {
  const struct {
    const char* name;
    Code reserve;
    Code permit;
    const char* reported;
    std::vector<std::string> rejectors;
  } cases[] = {
      {"Reserve rejects", Code::kUnschedulable, Code::kSuccess, "web Unschedulable : 1", {"Guard"}},
      {"Reserve fails", Code::kError, Code::kSuccess, "web Error : 1", {}},
      {"Permit rejects", Code::kSuccess, Code::kPending, "web Pending : 1", {"Guard"}},
      {"Permit fails", Code::kSuccess, Code::kError, "web Error : 1", {}},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    book_ = {.reserve = c.reserve, .permit = c.permit};
    Begin();
    AddPod(test::MakePod().Name("web"));
    ScheduleOne();
    EXPECT_THAT(reported_, ElementsAre(c.reported));
    EXPECT_EQ(book_.unreserved, 1);
    EXPECT_FALSE(state().cluster.cache.FindPod("default/web").has_value());
    EXPECT_EQ(binding_cycles_->size(), 0u);
    ASSERT_NE(queue().Find("default/web"), nullptr);
    EXPECT_EQ(queue().Find("default/web")->unschedulable_plugins, c.rejectors);
  }
}

TEST_F(SchedulingCycleTest, APodThatPermitHoldsBackWaitsWithItsRoom) {
  book_.permit = Code::kWait;
  AddPod(test::MakePod().Name("web"));
  ScheduleOne();
  EXPECT_THAT(reported_, ElementsAre("web Wait n1: 1"));
  EXPECT_NE(state().waiting_pods.Find("default/web"), nullptr);
  EXPECT_TRUE(state().cluster.cache.IsAssumed("default/web"));
}

TEST_F(SchedulingCycleTest, APodThatNoNodeTakesMayPreempt) {
  AddNode(test::MakeNode("n2").Allocatable({{"cpu", "4"}}));
  const auto low = test::MakePod().Name("low").OnNode("n2").Req({{"cpu", "4"}}).Ptr();
  ASSERT_TRUE(state().cluster.cache.AddPod(state().cluster.cache.MakePodInfo(low)));
  AddPod(test::MakePod().Name("high").Priority(10).Req({{"cpu", "4"}}));
  ScheduleOne();
  EXPECT_EQ(state().cluster.nominator.NominatedNode("default/high"), "n2");
  EXPECT_THAT(Events("FailedScheduling"),
              ElementsAre(HasSubstr("preemption: found a potential placement")));
}

TEST_F(SchedulingCycleTest, OneCycleInTenTimesEachPlugin) {
  for (int i = 0; i < 100; ++i) {
    AddPod(test::MakePod().Name("p" + std::to_string(i)));
    ScheduleOne();
  }
  const std::string text = Metrics();
  const auto count = [&text](const std::string& series) {
    const size_t at = text.find(series);
    return at == std::string::npos ? -1 : std::stoi(text.substr(at + series.size()));
  };
  EXPECT_EQ(count("scheduler_framework_extension_point_duration_seconds_count{extension_point="
                  "\"Reserve\",profile=\"default-scheduler\",status=\"Success\"} "),
            100);
  const int timed = count(
      "scheduler_plugin_execution_duration_seconds_count{extension_point="
      "\"Reserve\",plugin=\"Guard\",status=\"Success\"} ");
  EXPECT_GT(timed, 2);
  EXPECT_LT(timed, 30);
}

}  // namespace
}  // namespace berth::scheduler
