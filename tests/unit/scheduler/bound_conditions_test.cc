// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <chrono>
#include <string>

#include "src/scheduler/event_handlers.h"
#include "tests/unit/scheduler/scheduler_fixture.h"

namespace berth::scheduler {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class BoundConditionsTest : public test::SchedulerFixture {
 protected:
  // A pod on n1 that says of itself what the condition says.
  static test::PodBuilder Bound(const std::string& name, const std::string& status,
                                const std::string& reason) {
    test::PodBuilder pod = test::MakePod();
    pod.Name(name).OnNode("n1").Generation(2).Condition("PodScheduled", status, reason);
    return pod;
  }
};

const auto kSaysScheduled =
    AllOf(HasSubstr(R"("type":"PodScheduled")"), HasSubstr(R"("status":"True")"),
          HasSubstr(R"("reason":null)"), HasSubstr(R"("observedGeneration":2)"));

TEST_F(BoundConditionsTest, AConditionThatIsWrittenAfterTheBindIsPutRight) {
  Synced();
  hold_status_patches_ = true;
  const auto waiting = test::MakePod().Name("web").Generation(2).ResourceVersion("1").Ptr();
  AddPod(waiting);
  Turn();
  AddNode(test::MakeNode("n1"));
  Advance(std::chrono::seconds(2));
  ASSERT_THAT(Bindings(), ElementsAre("default/web -> n1"));
  ASSERT_THAT(StatusPatches("web"), ElementsAre(HasSubstr("Unschedulable")));

  // The patch was under way when the bind began, and the server carries it out last.
  UpdatePod(waiting, Bound("web", "False", "Unschedulable").ResourceVersion("3").Ptr());
  Turn();
  EXPECT_THAT(StatusPatches("web"), ElementsAre(HasSubstr("Unschedulable"), kSaysScheduled));
}

TEST_F(BoundConditionsTest, WhatADaemonBeforeThisOneLeftIsPutRight) {
  AddPod(Bound("refused", "False", "SchedulerError"));
  Synced();
  Turn();
  EXPECT_THAT(StatusPatches("refused"), ElementsAre(kSaysScheduled));
}

TEST_F(BoundConditionsTest, VersionsThatSayTheSameAreAnsweredOnce) {
  Synced();
  hold_status_patches_ = true;
  const auto first = Bound("web", "False", "Unschedulable").ResourceVersion("3").Ptr();
  AddPod(first);
  Turn();
  const auto second =
      Bound("web", "False", "Unschedulable").Label("a", "b").ResourceVersion("4").Ptr();
  UpdatePod(first, second);
  Turn();
  UpdatePod(second, Bound("web", "True", "").ResourceVersion("5").Ptr());
  Turn();
  EXPECT_THAT(StatusPatches("web"), ElementsAre(kSaysScheduled));
}

TEST_F(BoundConditionsTest, OtherConditionsAndThePodsOfOthersAreLeft) {
  Synced();
  AddPod(Bound("right", "True", ""));
  AddPod(test::MakePod().Name("silent").OnNode("n1"));
  AddPod(Bound("another", "False", "Unschedulable").SchedulerName("another-scheduler"));
  AddPod(Bound("own-reason", "False", "Checked"));
  AddPod(test::MakePod().Name("unready").OnNode("n1").Condition("Ready", "False", "Unschedulable"));
  Turn();
  for (const char* name : {"right", "silent", "another", "own-reason", "unready"}) {
    EXPECT_THAT(StatusPatches(name), IsEmpty()) << name;
  }
}

TEST_F(BoundConditionsTest, AStandbyWritesNothingUntilItLeads) {
  options_.leading = false;
  Restart();
  AddPod(Bound("web", "False", "Unschedulable"));
  Synced();
  Turn();
  EXPECT_THAT(StatusPatches("web"), IsEmpty());
  scheduler().Post(LeadingBegan{});
  Turn();
  EXPECT_THAT(StatusPatches("web"), ElementsAre(kSaysScheduled));
}

}  // namespace
}  // namespace berth::scheduler
