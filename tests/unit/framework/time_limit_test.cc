// SPDX-License-Identifier: Apache-2.0
#include "src/framework/time_limit.h"

#include <gmock/gmock.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "src/base/virtual_time.h"
#include "src/framework/runtime.h"
#include "tests/unit/framework/profile_fixture.h"

namespace berth::framework {
namespace {

using std::chrono::seconds;

// Takes a second for each node, and tells how many it was asked about.
class SecondANode final : public FilterPlugin, public ReservePlugin {
 public:
  explicit SecondANode(base::VirtualClock& clock) : clock_(clock) {}
  Status Filter(const CycleState&, const PodInfo&, const NodeView&) const override {
    clock_.Advance(seconds(1));
    ++asked;
    return {};
  }
  Status Reserve(CycleState&, const PodInfo&, std::string_view) override { return {}; }
  void Unreserve(CycleState&, const PodInfo&, std::string_view) override { ++given_back; }

  mutable int asked = 0;
  int given_back = 0;

 private:
  base::VirtualClock& clock_;
};

class TimeLimitTest : public test::ProfileFixture {
 protected:
  TimeLimitTest() : pod_(test::MakePod().Info(handle_.names)) {
    std::vector<api::Node> nodes;
    for (int i = 0; i < 20; ++i) nodes.push_back(test::MakeNode("n" + std::to_string(i)));
    snapshot_.emplace(handle_.names, nodes);
    more_plugins_.push_back({"Slow", [this](const ConfigValue&, Handle&) {
                               auto made = std::make_unique<SecondANode>(clock_);
                               slow_ = made.get();
                               return Result<Plugin>(AsPlugin("Slow", std::move(made)));
                             }});
    Make({"A", "Slow"});
  }
  std::function<Duration()> Left(Duration time) {
    return [this, until = clock_.Now() + time] { return until - clock_.Now(); };
  }
  // About all 20 nodes, which take 20 s.
  Status FilterAll() {
    NodeSet nodes = snapshot_->nodes();
    return RunFilterNodes(profile_->plugins().filter.back(), cycle_.state, *pod_, *snapshot_,
                          nodes);
  }

  base::VirtualClock clock_;
  std::optional<test::PlainSnapshot> snapshot_;
  PodInfoPtr pod_;
  SecondANode* slow_ = nullptr;
  Cycle cycle_;
};

// A limit of 8 s was asked between decisions alone, and took 20.5 s.
TEST_F(TimeLimitTest, ADecisionEndsWithTheCallThatIsUnderWayWhenTheTimeIsUp) {
  const TimeLimit limit(Left(seconds(8)));
  EXPECT_FALSE(TimeLimit::IsUp());
  const Status status = FilterAll();
  EXPECT_EQ(slow_->asked, 8);
  EXPECT_TRUE(TimeLimit::IsUp());
  EXPECT_EQ(status.code(), Code::kError);
  EXPECT_THAT(status.message(), testing::HasSubstr("the time for the question is up"));
  RunUnreserve(*profile_, cycle_, *pod_, "n1");
  EXPECT_EQ(slow_->given_back, 1);
}

TEST_F(TimeLimitTest, WithoutALimitTimeIsNotLookedAt) {
  {
    const TimeLimit before(Left(seconds(-1)));
  }
  EXPECT_TRUE(FilterAll().ok());
  EXPECT_EQ(slow_->asked, 20);
  EXPECT_FALSE(TimeLimit::IsUp());
  EXPECT_EQ(TimeLimit::BudgetNow().steps_left(), CycleBudget::kSteps);
}

TEST_F(TimeLimitTest, ACycleHasTheStepsOfHalfTheTimeThatIsLeft) {
  const TimeLimit limit(Left(seconds(8)));
  EXPECT_EQ(TimeLimit::BudgetNow().steps_left(), 40'000'000u);
  clock_.Advance(seconds(6));
  RunPreFilter(*profile_, cycle_, *pod_, *snapshot_);
  EXPECT_EQ(cycle_.state.budget().steps_left(), 10'000'000u);
  {
    const TimeLimit inner(Left(seconds(60)));
    EXPECT_EQ(TimeLimit::BudgetNow().steps_left(), CycleBudget::kSteps);
  }
  clock_.Advance(seconds(3));
  EXPECT_EQ(TimeLimit::BudgetNow().steps_left(), 0u);
}

}  // namespace
}  // namespace berth::framework
