// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "src/config/load.h"
#include "tests/support/fake_extender.h"
#include "tests/unit/scheduler/scheduler_fixture.h"

namespace berth::scheduler {
namespace {

using std::chrono::seconds;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class ExtendersTest : public test::SchedulerFixture {
 protected:
  void SetUp() override {
    options_.extenders = {first_, second_};
    Restart();
    Synced();
  }
  void AddNodes(std::initializer_list<std::string_view> names) {
    for (const std::string_view name : names) {
      AddNode(test::MakeNode(name).Allocatable({{"cpu", "4"}, {"memory", "8Gi"}}));
    }
  }
  static test::PodBuilder Pod(std::string_view name = "web") {
    return test::MakePod().Name(name).Req({{"cpu", "1"}});
  }

  std::shared_ptr<test::FakeExtender> first_ = std::make_shared<test::FakeExtender>("first");
  std::shared_ptr<test::FakeExtender> second_ = std::make_shared<test::FakeExtender>("second");
};

TEST_F(ExtendersTest, EachFiltersWhatTheOneBeforeItLeft) {
  AddNodes({"n1", "n2", "n3"});
  first_->filters = second_->filters = true;
  first_->failed["n1"] = "no";
  second_->unresolvable["n3"] = "never";
  AddPod(Pod());
  Turn();
  EXPECT_THAT(first_->calls, ElementsAre("filter web: n1 n2 n3"));
  EXPECT_THAT(second_->calls, ElementsAre("filter web: n2 n3"));
  EXPECT_THAT(Bindings(), ElementsAre("default/web -> n2"));
}

TEST_F(ExtendersTest, TheyAreAskedAboutZonesInTurnAndInTheOrderOfTheLastAnswer) {
  for (const char* name : {"a1", "a2", "b1"}) {
    AddNode(test::MakeNode(name)
                .Label("topology.kubernetes.io/zone", std::string(name, 1))
                .Allocatable({{"cpu", "4"}, {"memory", "8Gi"}}));
  }
  first_->filters = second_->filters = second_->prioritizes = true;
  first_->reverses = true;
  second_->scores = {{"b1", 10}};
  AddPod(Pod());
  Turn();
  EXPECT_THAT(first_->calls, ElementsAre("filter web: a1 b1 a2"));
  EXPECT_THAT(second_->calls, ElementsAre("filter web: a2 b1 a1", "prioritize web: a2 b1 a1"));
  EXPECT_THAT(Bindings(), ElementsAre("default/web -> b1"));
}

TEST_F(ExtendersTest, AHungExtenderIsNoStuckLoop) {
  AddNodes({"n1", "n2"});
  first_->filters = true;
  first_->ignorable = true;
  first_->timeout = seconds(60);
  first_->error = "no answer";
  Duration silent{};
  first_->on_wait = [this, &silent] {
    clock_.Advance(seconds(60));
    silent = clock_.Now() - scheduler().last_turn();
  };
  AddPod(Pod());
  Turn();
  EXPECT_EQ(silent, Duration::zero());
  EXPECT_THAT(Bindings(), SizeIs(1));
}

TEST_F(ExtendersTest, TheirReasonsAreCountedAndAnyEventTriesThePodAgain) {
  AddNodes({"n1", "n2", "n3", "small"});
  first_->filters = second_->filters = true;
  first_->failed["n1"] = "busy";
  first_->unresolvable["n2"] = "broken";
  first_->dropped["n3"] = true;
  first_->failed["small"] = "busy";
  AddPod(Pod());
  Turn();
  EXPECT_THAT(second_->calls, IsEmpty()) << "nothing is left to ask about";
  EXPECT_THAT(Events("FailedScheduling"),
              ElementsAre(testing::StartsWith("0/4 nodes are available: 1 broken, 2 busy. ")));
  EXPECT_THAT(StatusPatches("web"), Contains(HasSubstr("\"reason\":\"Unschedulable\"")));

  // Such an event means nothing to any plugin.
  first_->failed.clear();
  AddPod(Pod("other").OnNode("n1"));
  Advance(seconds(3));
  EXPECT_THAT(Bindings(), SizeIs(1));
}

TEST_F(ExtendersTest, TheirWordOnANodeReplacesThatOfAPlugin) {
  AddNodes({"n1", "n2"});
  AddPod(test::MakePod().Name("low").Req({{"cpu", "4"}}).OnNode("n1"));
  first_->filters = true;
  first_->failed["n2"] = "no gpu";
  first_->unasked["n1"] = "no gpu";
  AddPod(test::MakePod().Name("high").Req({{"cpu", "4"}}).Priority(10));
  Turn();
  EXPECT_THAT(first_->calls, ElementsAre("filter high: n2"));
  EXPECT_THAT(Events("FailedScheduling"),
              ElementsAre("0/2 nodes are available: 2 no gpu. preemption: 0/2 nodes are available: "
                          "1 No preemption victims found for incoming pod, 1 Preemption is not "
                          "helpful for scheduling."));
  EXPECT_THAT(Deletions(), IsEmpty()) << "nothing helps on n1";
}

TEST_F(ExtendersTest, AFailureIsAnErrorOfTheCycleUnlessItMayBeIgnored) {
  AddNodes({"n1", "n2"});
  first_->filters = true;
  first_->error = "extender is on fire";
  AddPod(Pod());
  Turn();
  EXPECT_THAT(Bindings(), IsEmpty());
  EXPECT_THAT(StatusPatches("web"), Contains(testing::AllOf(HasSubstr("SchedulerError"),
                                                            HasSubstr("extender is on fire"))));
  first_->ignorable = true;
  Advance(seconds(3));
  EXPECT_THAT(Bindings(), SizeIs(1));
}

TEST_F(ExtendersTest, PodsOfNoInterestAreNotAskedAbout) {
  AddNodes({"n1", "n2"});
  first_->filters = first_->prioritizes = first_->binds = true;
  first_->interested_in = "gpu";
  AddPod(Pod("web"));
  Turn();
  EXPECT_THAT(first_->calls, IsEmpty());
  EXPECT_THAT(Bindings(), SizeIs(1));
}

TEST_F(ExtendersTest, TheirScoresCountTenTimesTheirWeight) {
  AddNodes({"n1", "n2", "n3"});
  first_->prioritizes = second_->prioritizes = true;
  first_->scores = {{"n1", 10}, {"n2", 8}, {"n3", 0}, {"gone", 10}};
  second_->scores = {{"n2", 5}};
  second_->weight = 7;
  for (int i = 0; i < 3; ++i) AddPod(Pod("web-" + std::to_string(i)));
  Turn();
  EXPECT_THAT(first_->calls, ElementsAre("prioritize web-0: n1 n2 n3", "prioritize web-1: n1 n2 n3",
                                         "prioritize web-2: n1 n2 n3"));
  EXPECT_THAT(Bindings(),
              ElementsAre("default/web-0 -> n2", "default/web-1 -> n2", "default/web-2 -> n2"));
  // Scores that fail to come are done without.
  second_->error = "no scores today";
  first_->scores = {{"n3", 10}};
  first_->weight = 50;
  AddPod(Pod("late"));
  Turn();
  EXPECT_THAT(Bindings(), Contains("default/late -> n3"));
}

TEST_F(ExtendersTest, TheNominatedNodeIsAskedAboutAlone) {
  AddNodes({"n1", "n2"});
  first_->filters = true;
  AddPod(Pod().NominatedNode("n2"));
  Turn();
  EXPECT_THAT(first_->calls, ElementsAre("filter web: n2"));
  EXPECT_THAT(Bindings(), ElementsAre("default/web -> n2"));
  first_->failed["n2"] = "not any more";
  AddPod(Pod("other").NominatedNode("n2"));
  Turn();
  EXPECT_THAT(first_->calls, Contains("filter other: n1 n2"));
  EXPECT_THAT(Bindings(), Contains("default/other -> n1"));
}

TEST_F(ExtendersTest, NoVerdictIsSharedWhereOneWasAsked) {
  AddNodes({"n1"});
  first_->filters = true;
  first_->failed["n1"] = "busy";
  for (int i = 0; i < 3; ++i) AddPod(Pod("web-" + std::to_string(i)));
  Turn();
  EXPECT_THAT(first_->calls, SizeIs(3));
  EXPECT_EQ(scheduler().num_reused_refusals(), 0u);
  // Where the plugins leave no node there is nothing to ask, and all is as without extenders.
  for (int i = 0; i < 3; ++i) {
    AddPod(test::MakePod().Name("big-" + std::to_string(i)).Req({{"cpu", "64"}}));
  }
  Turn();
  EXPECT_THAT(first_->calls, SizeIs(3));
  EXPECT_EQ(scheduler().num_reused_refusals(), 2u);
}

TEST_F(ExtendersTest, ManyNodesAreSampledOnlyForPodsOfInterest) {
  for (int i = 0; i < 400; ++i) AddNodes({"node-" + std::to_string(i)});
  first_->filters = true;
  first_->interested_in = "gpu";
  AddPod(Pod("gpu-1"));
  Turn();
  ASSERT_THAT(first_->calls, SizeIs(1));
  // 47 % of 400.
  EXPECT_EQ(std::count(first_->calls[0].begin(), first_->calls[0].end(), ' '), 1 + 188);
}

TEST_F(ExtendersTest, TheyChooseAmongPreemptionsCandidates) {
  AddNodes({"n1", "n2"});
  const auto low = [](std::string_view name, std::string_view node, int32_t priority) {
    return test::MakePod().Name(name).Req({{"cpu", "4"}}).Priority(priority).OnNode(node);
  };
  AddPod(low("low1", "n1", 1));
  AddPod(low("low2", "n2", 5));
  first_->preempts = true;
  first_->process_preemption = [](const Snapshot& snapshot, auto& candidates) {
    // The dearer one.
    std::erase_if(candidates, [&](const auto& candidate) {
      return snapshot.node(candidate.row).metadata.name == "n1";
    });
  };
  AddPod(test::MakePod().Name("high").Req({{"cpu", "4"}}).Priority(10));
  Turn();
  EXPECT_THAT(first_->calls, Contains("preempt high: n1 n2"));
  EXPECT_THAT(Deletions(), ElementsAre("default/low2"));
}

TEST_F(ExtendersTest, PreemptionMayEndWithThem) {
  AddNodes({"n1"});
  AddPod(test::MakePod().Name("low").Req({{"cpu", "4"}}).OnNode("n1"));
  first_->preempts = true;
  const struct {
    const char* name;
    std::function<void(const Snapshot&, std::vector<PreemptionCandidate>&)> answer;
    std::string error;
    bool ignorable;
    std::string message;
  } cases[] = {
      {"no candidate", [](auto&, auto& left) { left.clear(); }, "", false,
       "preemption: no candidate node for preemption"},
      {"no victim", [](auto&, auto& left) { left[0].victims.clear(); }, "", false,
       "preemption: expected at least one victim pod on node \\\"n1\\\""},
      {"no victim, ignored", [](auto&, auto& left) { left[0].victims.clear(); }, "", true,
       "preemption: no candidate node for preemption"},
      {"a failure", nullptr, "cannot think", false, "preemption: cannot think"},
  };
  int i = 0;
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    first_->process_preemption = c.answer;
    first_->error = c.error;
    first_->ignorable = c.ignorable;
    const std::string name = "high-" + std::to_string(i++);
    const auto pod = test::MakePod().Name(name).Req({{"cpu", "4"}}).Priority(10).Ptr();
    AddPod(pod);
    Turn();
    EXPECT_THAT(StatusPatches(name), Contains(HasSubstr(c.message)));
    EXPECT_THAT(Deletions(), IsEmpty());
    DeletePod(pod);
  }
}

TEST_F(ExtendersTest, OneThatBindsTakesThePlaceOfTheBindPlugins) {
  AddNodes({"n1"});
  first_->binds = true;
  AddPod(Pod());
  Turn();
  EXPECT_THAT(first_->calls, ElementsAre("bind web: n1"));
  EXPECT_EQ(scheduler().binding_cycles().awaiting_bind(), 1u);
  first_->open_binds[0]({});
  Turn();
  EXPECT_THAT(Events("Scheduled"), ElementsAre("Successfully assigned default/web to n1"));
  EXPECT_THAT(Bindings(), IsEmpty());

  AddPod(Pod("refused"));
  Turn();
  first_->open_binds[1]({binding::RequestEnd::Kind::kRefused, "not this one"});
  Turn();
  EXPECT_THAT(Events("FailedScheduling"), ElementsAre("not this one"));
  first_->ignorable = true;
  Advance(seconds(3));
  first_->open_binds[2]({binding::RequestEnd::Kind::kRefused, "nor now"});
  Turn();
  EXPECT_THAT(Bindings(), ElementsAre("default/refused -> n1")) << "the plugins are next";
}

TEST_F(ExtendersTest, AnUnconfirmedBindHoldsUpNoOthers) {
  AddNodes({"n1"});
  first_->binds = true;
  AddPod(Pod());
  Turn();
  EXPECT_EQ(scheduler().binding_cycles().awaiting_bind(), 1u);
  first_->open_binds[0]({binding::RequestEnd::Kind::kLost, "cut off"});
  Turn();
  EXPECT_EQ(scheduler().binding_cycles().awaiting_bind(), 0u);
  EXPECT_EQ(scheduler().binding_cycles().size(), 1u);
}

TEST_F(ExtendersTest, ResourcesThatTheyManageAreLeftToThem) {
  config::Extender extender;
  extender.managed_resources = {{"example.com/gpu", true}, {"example.com/fpga", false}};
  options_.configuration.extenders = {extender};
  ASSERT_TRUE(config::LeaveManagedResources(options_.configuration));
  Restart();
  Synced();
  AddNodes({"n1"});
  AddPod(test::MakePod().Name("gpu").Req({{"example.com/gpu", "1"}}));
  AddPod(test::MakePod().Name("fpga").Req({{"example.com/fpga", "1"}}));
  Turn();
  EXPECT_THAT(Bindings(), ElementsAre("default/gpu -> n1"));
}

}  // namespace
}  // namespace berth::scheduler
