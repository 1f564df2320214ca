// SPDX-License-Identifier: Apache-2.0
#include "src/fixes/find.h"

#include <gmock/gmock.h>

#include "src/base/clock.h"
#include "tests/unit/simulator/simulator_fixture.h"

namespace berth::fixes {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;

class FindFixesTest : public test::SimulatorFixture {
 protected:
  explain::Fixes Find(const test::PodBuilder& pod, const FindOptions& options = {}) {
    Apply(pod);
    simulation_->RunDue();
    return FindFixes(*simulation_, simulation_->FindPod("default/pod"), clock_, options);
  }
  // "10: change; change -> node, node"
  std::vector<std::string> Texts(const test::PodBuilder& pod, const FindOptions& options = {}) {
    std::vector<std::string> texts;
    for (const explain::Fix& fix : Find(pod, options).fixes) {
      std::string& text = texts.emplace_back(std::to_string(fix.cost) + ": ");
      for (const explain::Change& change : fix.changes) {
        text += (&change == &fix.changes.front() ? "" : "; ") + ToText(change);
      }
      text += " ->";
      for (const std::string& node : fix.nodes) text += " " + node;
    }
    return texts;
  }

  base::VirtualClock clock_{Time()};
};

TEST_F(FindFixesTest, ARequestIsLoweredToWhatANodeHasLeft) {
  Apply(test::MakeNode("n1").Allocatable({{"cpu", "4"}, {"memory", "8Gi"}}));
  Apply(test::MakeNode("n2").Allocatable({{"cpu", "2"}, {"memory", "8Gi"}}));
  Apply(test::MakePod().Name("there").OnNode("n1").Req({{"cpu", "500m"}}));
  EXPECT_THAT(Texts(test::MakePod().Req({{"cpu", "7"}, {"memory", "1Gi"}})),
              ElementsAre("60: pod: request cpu 3500m instead of 7 -> n1"));
}

TEST_F(FindFixesTest, OneMoreNodeHelpsWhereAnEmptyOneIsLargeEnough) {
  Apply(test::MakeNode("n1").Label("kubernetes.io/hostname", "n1").Allocatable({{"cpu", "4"}}));
  Apply(test::MakePod().Name("there").OnNode("n1").Req({{"cpu", "4"}}));
  EXPECT_THAT(Texts(test::MakePod().Req({{"cpu", "4"}})),
              Contains("60: cluster: one more node like n1 -> n1-like-1"));
  EXPECT_EQ(simulation_->api().Count(informers::Kind::kNode), 1u);
}

TEST_F(FindFixesTest, ANewNodeHasTheDaemonsOfTheOther) {
  Apply(test::MakeNode("n1").Allocatable({{"cpu", "4"}}));
  api::Pod daemon = test::MakePod()
                        .Name("agent")
                        .OnNode("n1")
                        .Req({{"cpu", "1"}})
                        .Owner("DaemonSet", "agent", "uid");
  simulation_->Apply(std::make_shared<const api::Pod>(daemon));
  EXPECT_THAT(Texts(test::MakePod().Req({{"cpu", "4"}})),
              ElementsAre("35: pod: request cpu 3 instead of 4 -> n1"));
  EXPECT_EQ(simulation_->api().Count(informers::Kind::kPod), 2u);
}

TEST_F(FindFixesTest, ATaintIsToleratedAndACordonLifted) {
  Apply(test::MakeNode("n1").Taint("team", "blue", "NoSchedule").Allocatable({{"cpu", "4"}}));
  Apply(test::MakeNode("n2").Unschedulable().Allocatable({{"cpu", "4"}}));
  EXPECT_THAT(
      Texts(test::MakePod().Req({{"cpu", "1"}})),
      ElementsAre("10: cluster: uncordon n2 -> n2", "20: pod: tolerate team=blue:NoSchedule -> n1",
                  "60: cluster: one more node like n2 -> n2-like-1"));
}

TEST_F(FindFixesTest, TheClusterIsAfterwardsAsItWas) {
  Apply(test::MakeNode("n1").Unschedulable().Allocatable({{"cpu", "4"}}));
  const auto first = Texts(test::MakePod().Req({{"cpu", "1"}}));
  EXPECT_THAT(first, Not(IsEmpty()));
  EXPECT_EQ(Texts(test::MakePod().Req({{"cpu", "1"}})), first);
}

TEST_F(FindFixesTest, ThereIsNothingToFixForAPodThatFits) {
  Apply(test::MakeNode("n1").Allocatable({{"cpu", "4"}}));
  const explain::Fixes fixes = Find(test::MakePod().Req({{"cpu", "1"}}));
  EXPECT_THAT(fixes.fixes, IsEmpty());
  EXPECT_FALSE(fixes.cut_short);
}

TEST_F(FindFixesTest, ASearchEndsAtItsBound) {
  Apply(test::MakeNode("n1").Unschedulable().Allocatable({{"cpu", "4"}}));
  FindOptions options;
  options.max_trials = 1;
  const explain::Fixes fixes = Find(test::MakePod().Req({{"cpu", "1"}}), options);
  EXPECT_TRUE(fixes.cut_short);
  EXPECT_LE(fixes.tried, 2u);
}

}  // namespace
}  // namespace berth::fixes
