// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <functional>

#include "src/framework/runtime.h"
#include "tests/unit/framework/profile_fixture.h"

namespace berth::framework {
namespace {

class ThrowingTest : public test::ProfileFixture {
 protected:
  ThrowingTest()
      : snapshot_(handle_.names, {test::MakeNode("n1"), test::MakeNode("n2")}),
        pod_(test::MakePod().Info(handle_.names)) {
    Make({"A", "B"});
  }

  test::PlainSnapshot snapshot_;
  PodInfoPtr pod_;
  Cycle cycle_;
};

TEST_F(ThrowingTest, WhatAPluginThrowsIsAnErrorInItsNameAtEveryPoint) {
  const std::vector<NodeRow> nodes = {0, 1};
  std::vector<int64_t> totals;
  const struct {
    const char* point;
    std::function<Status()> run;
    const char* want;
  } cases[] = {
      {"PreFilter",
       [&] { return RunPreFilter(*profile_, cycle_, *pod_, snapshot_).verdict.status; },
       "running PreFilter plugin \"A\": plugin threw: out of cheese"},
      {"Filter",
       [&] {
         return RunFilter(*profile_, cycle_, cycle_.state, *pod_, snapshot_.view("n1")).status;
       },
       "running \"A\" filter plugin: plugin threw: out of cheese"},
      {"PreScore",
       [&] { return RunPreScore(*profile_, cycle_, *pod_, snapshot_, snapshot_.nodes()); },
       "running PreScore plugin \"A\": plugin threw: out of cheese"},
      {"Score",
       [&] { return RunScore(*profile_, cycle_, *pod_, snapshot_, nodes, totals, nullptr); },
       "running Score plugins: plugin \"A\" failed with: plugin threw: out of cheese"},
      {"Reserve", [&] { return RunReserve(*profile_, cycle_, *pod_, "n1").status; },
       "running Reserve plugin \"A\": plugin threw: out of cheese"},
      {"Permit", [&] { return RunPermit(*profile_, cycle_, *pod_, "n1").verdict.status; },
       "running Permit plugin \"A\": plugin threw: out of cheese"},
      {"PreBindPreFlight",
       [&] { return RunPreBindPreFlight(*profile_, cycle_, *pod_, "n1").status; },
       "running PreBindPreFlight \"A\": plugin threw: out of cheese"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.point);
    log_.clear();
    plugin("A").throws_at = c.point;
    const Status status = c.run();
    EXPECT_EQ(status.code(), Code::kError);
    EXPECT_EQ(status.message(), c.want);
    EXPECT_EQ(log_.size(), 1u) << "the other plugins are not asked any more";
  }
}

TEST_F(ThrowingTest, APluginThatThrowsAtPreEnqueueHoldsThePodBack) {
  plugin("A").throws_at = "PreEnqueue";
  const PluginStatus verdict = RunPreEnqueue(*profile_, *pod_, "", nullptr);
  EXPECT_EQ(verdict.status.code(), Code::kError);
  EXPECT_EQ(verdict.plugin, "A");
}

TEST_F(ThrowingTest, UnreserveGoesOnToTheOtherPlugins) {
  plugin("B").throws_at = "Unreserve";
  RunUnreserve(*profile_, cycle_, *pod_, "n1");
  EXPECT_THAT(log_, testing::ElementsAre("B.Unreserve", "A.Unreserve"));
}

}  // namespace
}  // namespace berth::framework
