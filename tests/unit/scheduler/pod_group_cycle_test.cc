// SPDX-License-Identifier: Apache-2.0
#include "src/scheduler/pod_groups/pod_group_cycle.h"

#include <gmock/gmock.h>

#include <chrono>

#include "tests/support/default_plugins.h"
#include "tests/support/device_builders.h"
#include "tests/support/fake_extender.h"
#include "tests/unit/scheduler/pod_group_fixture.h"

namespace berth::scheduler {
namespace {

using std::chrono::seconds;
using testing::AllOf;
using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAre;

class PodGroupCycleTest : public test::PodGroupFixture {};

TEST_F(PodGroupCycleTest, AGangWaitsForItsPodGroupAndForMinCountPodsThenIsBoundInOneCycle) {
  AddNodeWithCpu("n1", 8);
  AddMembers("train", 2);
  Turn();
  EXPECT_EQ(scheduler().queue().counts().incomplete, 2u);
  AddGroup(MakeGroup("train", 3));
  Turn();
  EXPECT_EQ(scheduler().queue().counts().incomplete, 0u);
  EXPECT_EQ(scheduler().queue().counts().gated, 2u);
  EXPECT_EQ(scheduler().queue().counts().groups.gated, 1u);
  EXPECT_THAT(Bindings(), IsEmpty());
  AddPod(Member("train", 2));
  Turn();
  EXPECT_THAT(Bindings(), UnorderedElementsAre("default/train-0 -> n1", "default/train-1 -> n1",
                                               "default/train-2 -> n1"));
  EXPECT_THAT(
      GroupStatusPatches("train"),
      ElementsAre(AllOf(HasSubstr(R"("type":"PodGroupInitiallyScheduled")"),
                        HasSubstr(R"("status":"True")"), HasSubstr(R"("reason":"Scheduled")"))));
}

TEST_F(PodGroupCycleTest, APodsAttemptIsNoLongerForTheTurnsOfTheOthers) {
  const auto extender = std::make_shared<test::FakeExtender>();
  extender->filters = true;
  extender->on_wait = [this] { clock().Advance(seconds(1)); };
  options_.extenders = {extender};
  Restart();
  Synced();
  AddNodeWithCpu("n1", 8);
  AddGroup(MakeGroup("train", 3));
  AddMembers("train", 3);
  Turn();
  EXPECT_THAT(Bindings(), SizeIs(3));
  EXPECT_THAT(Metrics(), HasSubstr("scheduler_scheduling_attempt_duration_seconds_sum{"
                                   "profile=\"default-scheduler\",result=\"scheduled\"} 3\n"));
}

TEST_F(PodGroupCycleTest, AGangThatDoesNotFitTakesNothingAndStartsOnceThereIsRoom) {
  AddNodeWithCpu("n1", 2);
  AddGroup(MakeGroup("train", 3));
  AddMembers("train", 3);
  Turn();
  EXPECT_THAT(Bindings(), IsEmpty());
  EXPECT_EQ(scheduler().cache().num_assumed(), 0u);
  EXPECT_THAT(
      Events("FailedScheduling"),
      UnorderedElementsAre(
          "pod group is unschedulable, minCount (3) cannot be satisfied: 2 scheduled, 0 "
          "remaining, pod group preemption: No preemption victims found for incoming preemptor",
          "pod group is unschedulable, minCount (3) cannot be satisfied: 2 scheduled, 0 "
          "remaining, pod group preemption: No preemption victims found for incoming preemptor",
          "0/1 nodes are available: 1 Insufficient cpu."));
  EXPECT_THAT(
      GroupStatusPatches("train"),
      ElementsAre(AllOf(HasSubstr(R"("status":"False")"), HasSubstr(R"("reason":"Unschedulable")"),
                        HasSubstr("minCount (3) cannot be satisfied"))));
  AddPod(test::MakePod().Name("web").Req({{"cpu", "2"}}));
  Turn();
  EXPECT_THAT(Bindings(), ElementsAre("default/web -> n1")) << "the gang holds no room";
  AddNodeWithCpu("n2", 3);
  Advance(seconds(20));
  EXPECT_THAT(Bindings(), SizeIs(4));
}

TEST_F(PodGroupCycleTest, OnceAGangCannotReachMinCountItsOtherPodsAreNotTried) {
  AddNodeWithCpu("n1", 1);
  AddGroup(MakeGroup("train", 3));
  AddMembers("train", 3);
  Turn();
  EXPECT_THAT(Events("FailedScheduling"),
              UnorderedElementsAre(
                  HasSubstr("pod group is unschedulable, minCount (3) cannot be satisfied"),
                  "0/1 nodes are available: 1 Insufficient cpu.",
                  "minCount (3) cannot be satisfied: 1 scheduled, 1 remaining"));
}

TEST_F(PodGroupCycleTest, WhatKeepsAPodWithAClaimOutKeepsNoOtherOut) {
  AddNodeWithCpu("n1", 4);
  PostEvent(informers::EventType::kAdded, informers::Kind::kResourceClaim, {},
            test::MakeDeviceClaim("a").Request("gpu", "absent").Ptr());
  AddGroup(MakeGroup("train", 1));
  api::Pod with_claim = Member("train", 0);
  with_claim.spec.resource_claims.emplace_back().name = "a";
  with_claim.spec.resource_claims[0].resource_claim_name = "a";
  AddPod(std::make_shared<const api::Pod>(std::move(with_claim)));
  AddPod(Member("train", 1));
  Turn();
  EXPECT_THAT(StatusPatches("train-0"),
              Contains(HasSubstr("request gpu: device class absent does not exist")));
  EXPECT_THAT(Bindings(), ElementsAre("default/train-1 -> n1"));
}

TEST_F(PodGroupCycleTest, ABasicGroupBindsWhatFitsAndTheRestLater) {
  AddNodeWithCpu("n1", 2);
  AddGroup(MakeGroup("web", 0));
  AddMembers("web", 3);
  Turn();
  EXPECT_THAT(Bindings(), SizeIs(2));
  AddNodeWithCpu("n2", 2);
  Advance(seconds(20));
  EXPECT_THAT(Bindings(), SizeIs(3));
}

TEST_F(PodGroupCycleTest, TwoGangsThatFitAloneButNotTogetherDoNotBlockEachOther) {
  AddNodeWithCpu("n1", 2);
  AddNodeWithCpu("n2", 2);
  AddGroup(MakeGroup("a", 3));
  AddGroup(MakeGroup("b", 3));
  for (int i = 0; i < 3; ++i) {
    AddPod(Member("a", i));
    AddPod(Member("b", i));
  }
  Advance(seconds(20));
  ASSERT_THAT(Bindings(), SizeIs(3));
  EXPECT_THAT(Bindings(), Each(HasSubstr("default/a-")));
  for (const std::string& binding : Bindings()) {
    const int number = binding[std::string("default/a-").size()] - '0';
    const auto bound = Member("a", number).OnNode(binding.substr(binding.size() - 2)).Ptr();
    UpdatePod(Member("a", number).Ptr(), bound);
    DeletePod(bound);
  }
  Advance(seconds(60));
  EXPECT_THAT(Bindings(), SizeIs(6));
}

TEST_F(PodGroupCycleTest, PodsThatDifferWhereTheyMustNotAreAnErrorOfTheGroup) {
  AddNodeWithCpu("n1", 8);
  AddGroup(MakeGroup("train", 2));
  AddPod(Member("train", 0));
  AddPod(Member("train", 1).Priority(7));
  Turn();
  EXPECT_THAT(Bindings(), IsEmpty());
  EXPECT_THAT(GroupStatusPatches("train"),
              Contains(AllOf(HasSubstr(R"("reason":"SchedulerError")"),
                             HasSubstr("the same priority as the pod group's priority, got 7 "
                                       "and 0"))));
}

TEST_F(PodGroupCycleTest, ALowerMinCountFreesAGang) {
  AddNodeWithCpu("n1", 8);
  const auto before = MakeGroup("train", 4);
  AddGroup(before);
  AddMembers("train", 3);
  Turn();
  EXPECT_THAT(Bindings(), IsEmpty());
  auto after = std::make_shared<api::PodGroup>(*before);
  after->spec.scheduling_policy.gang->min_count = 3;
  UpdateGroup(before, after);
  Turn();
  EXPECT_THAT(Bindings(), SizeIs(3));
}

TEST_F(PodGroupCycleTest, PodsAddedToAStartedGangAreBoundWithoutTheOthers) {
  AddNodeWithCpu("n1", 8);
  AddGroup(MakeGroup("train", 2));
  AddMembers("train", 2);
  Turn();
  ASSERT_THAT(Bindings(), SizeIs(2));
  AddPod(Member("train", 2));
  Turn();
  EXPECT_THAT(Bindings(), SizeIs(3));
}

TEST_F(PodGroupCycleTest, APodThatIsRefusedAtBindComesBackWithItsGroup) {
  AddNodeWithCpu("n1", 8);
  AddGroup(MakeGroup("train", 2));
  hold_binds_ = true;
  AddMembers("train", 2);
  Turn();
  ASSERT_THAT(Bindings(), SizeIs(2));
  hold_binds_ = false;
  RefuseOneBind();
  ReleaseOneBind();
  Advance(seconds(20));
  EXPECT_THAT(Bindings(), SizeIs(3)) << "the one that was refused is bound in a cycle of its own";
}

// Lets no pod pass until it was asked about many.
class RefusingPermit final : public PermitPlugin {
 public:
  explicit RefusingPermit(int& calls) : calls_(calls) {}
  PermitResult Permit(CycleState& state, const PodInfo&, std::string_view) override {
    if (++calls_ > 100) return {};
    return {.status = state.reasons().Make(Code::kUnschedulable, "not now")};
  }

 private:
  int& calls_;
};

TEST_F(PodGroupCycleTest, AGroupOfWhichPermitRefusesEveryPodBacksOff) {
  int calls = 0;
  plugins_.push_back({"Refusing", [&calls](const ConfigValue&, Handle&) -> Result<Plugin> {
                        return AsPlugin("Refusing", std::make_unique<RefusingPermit>(calls));
                      }});
  options_.configuration.profiles[0].plugins.multi_point.enabled.push_back({"Refusing"});
  Restart();
  Synced();
  AddNodeWithCpu("n1", 8);
  AddGroup(MakeGroup("web", 0));
  AddMembers("web", 2);
  Turn();
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(scheduler().queue().counts().backoff, 2u);
  Advance(seconds(20));
  EXPECT_THAT(calls, AllOf(testing::Ge(6), testing::Le(14)));
  EXPECT_THAT(Bindings(), IsEmpty());
}

// Refuses one pod of a group twice.
class RefusingOne final : public PermitPlugin {
 public:
  PermitResult Permit(CycleState& state, const PodInfo& pod, std::string_view) override {
    if (pod.pod->metadata.name != "train-1" || ++calls_ > 2) return {};
    return {.status = state.reasons().Make(Code::kUnschedulable, "not now")};
  }

 private:
  int calls_ = 0;
};

TEST_F(PodGroupCycleTest, PodsOfAGangWaitAtPermitForOneThatIsRefusedThere) {
  plugins_.push_back({"RefusingOne", [](const ConfigValue&, Handle&) -> Result<Plugin> {
                        return AsPlugin("RefusingOne", std::make_unique<RefusingOne>());
                      }});
  auto& enabled = options_.configuration.profiles[0].plugins.multi_point.enabled;
  enabled.insert(enabled.begin(), {"RefusingOne"});
  Restart();
  Synced();
  AddNodeWithCpu("n1", 8);
  AddGroup(MakeGroup("train", 3));
  AddMembers("train", 3);
  Turn();
  EXPECT_THAT(Bindings(), IsEmpty());
  EXPECT_EQ(scheduler().cache().num_assumed(), 2u);
  Advance(seconds(5));
  EXPECT_THAT(Bindings(), SizeIs(3));
}

TEST_F(PodGroupCycleTest, AGroupWithoutItsPodGroupWaitsAgain) {
  AddNodeWithCpu("n1", 1);
  const auto group = MakeGroup("train", 2);
  AddGroup(group);
  AddMembers("train", 2);
  Turn();
  DeleteGroup(group);
  Turn();
  EXPECT_EQ(scheduler().queue().counts().incomplete, 2u);
  DeletePod(Member("train", 0).Ptr());
  Turn();
  EXPECT_EQ(scheduler().queue().counts().incomplete, 1u);
  EXPECT_EQ(scheduler().queue().counts().backoff, 0u);
}

TEST_F(PodGroupCycleTest, WithoutTheGatePodsOfAGroupAreScheduledOneByOne) {
  options_.features.generic_workload = false;
  options_.configuration = config::DefaultConfiguration({test::DefaultPlugins()});
  Restart();
  Synced();
  AddNodeWithCpu("n1", 1);
  AddMembers("train", 2);
  Turn();
  EXPECT_THAT(Bindings(), SizeIs(1));
}

}  // namespace
}  // namespace berth::scheduler
