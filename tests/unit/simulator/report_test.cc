// SPDX-License-Identifier: Apache-2.0
#include "src/simulator/report.h"

#include <gmock/gmock.h>

#include "tests/unit/simulator/simulator_fixture.h"

namespace berth::simulator {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using namespace std::chrono_literals;

class ReportTest : public test::SimulatorFixture {
 protected:
  test::PodBuilder Pod(std::string_view name, std::string_view cpu) {
    return test::MakePod().Name(name).SchedulerName("default-scheduler").Req({{"cpu", cpu}});
  }
  // Two nodes, and one pod of each fate.
  Report Run() {
    for (const char* name : {"n1", "n2"}) {
      Apply(test::MakeNode(name).Allocatable({{"cpu", "4"}, {"memory", "8Gi"}}));
    }
    Apply(Pod("fits", "1"));
    Apply(Pod("large", "9"));
    Apply(Pod("gated", "1").Gate("g"));
    Apply(Pod("others", "1").SchedulerName("another"));
    simulation_->RunUntilQuiet(1min);
    return MakeReport({"default/fits", "default/gated", "default/large", "default/others"},
                      {7, decisions_.size(), 1500ms, 2345us}, *simulation_);
  }
};

TEST_F(ReportTest, EveryPendingPodHasOneFate) {
  const Report report = Run();
  EXPECT_EQ(report.pods, 4u);
  EXPECT_EQ(report.nodes, 2u);
  EXPECT_EQ(report.bound, 1u);
  ASSERT_EQ(report.placed.size(), 1u);
  EXPECT_THAT(report.placed.begin()->second, ElementsAre("default/fits"));
  std::vector<std::string> left;
  for (const Report::Left& pod : report.left)
    left.push_back(pod.pod + " " + std::string(pod.result) + ": " + pod.message);
  EXPECT_THAT(left,
              ElementsAre("default/gated gated: waiting for scheduling gates: [g]",
                          "default/large unschedulable: 0/2 nodes are available: 2 Insufficient "
                          "cpu. preemption: 0/2 nodes are available: 2 Preemption is not helpful "
                          "for scheduling.",
                          "default/others ignored: no profile is named \"another\""));
}

// As `berth explain` says of the first and the second; the third is with the second.
TEST_F(ReportTest, PodsThatWaitForTheirGroupAreGated) {
  Restart(test::OptionsWithPodGroups());
  Apply(test::MakeNode("n1").Allocatable({{"cpu", "4"}}));
  auto group = std::make_shared<api::PodGroup>();
  group->metadata.namespace_ = "default";
  group->metadata.name = "there";
  group->metadata.uid = "u";
  simulation_->Apply(std::shared_ptr<const api::PodGroup>(group));
  Apply(Pod("a", "1").SchedulingGroup("gone"));
  Apply(Pod("b", "1").SchedulingGroup("there").Gate("g"));
  Apply(Pod("c", "1").SchedulingGroup("there"));
  simulation_->RunUntilQuiet(1min);
  const auto left = [this] {
    std::vector<std::string> texts;
    for (const Report::Left& pod :
         MakeReport({"default/a", "default/b", "default/c"}, {}, *simulation_).left)
      texts.push_back(pod.pod + " " + std::string(pod.result) + ": " + pod.message);
    return texts;
  };
  const char* const kGone =
      "gated: waiting for pods's pod group \"gone\" to appear in scheduling queue";
  EXPECT_THAT(left(), ElementsAre(std::string("default/a ") + kGone,
                                  "default/b gated: waiting for scheduling gates: [g]",
                                  "default/c gated: another pod of its pod group is gated"));
  // What its last attempt said counts no more.
  api::Pod tried = Pod("a", "1").SchedulingGroup("gone");
  tried.status.conditions.push_back({.type = "PodScheduled",
                                     .status = "False",
                                     .reason = "Unschedulable",
                                     .message = "old",
                                     .observed_generation = 0,
                                     .last_transition_time = std::nullopt});
  simulation_->Apply(std::make_shared<const api::Pod>(tried));
  simulation_->RunUntilQuiet(1min);
  EXPECT_EQ(left().front(), std::string("default/a ") + kGone);
}

TEST_F(ReportTest, ADecisionTellsOfTheDevicesThatItGives) {
  const api::Pod pod = Pod("train", "1");
  const std::vector<std::string> devices = {"gpu: gpu.example.com/n1/gpu-0"};
  std::string out;
  const scheduler::CycleOutcome outcome{
      .pod = pod, .node_name = "n1", .message = {}, .tried_node = {}, .nominated_node = {}};
  AppendDecision(outcome, out, devices);
  EXPECT_EQ(out,
            R"({"pod":"default/train","node":"n1","devices":["gpu: gpu.example.com/n1/gpu-0"]})"
            "\n");
  EXPECT_THAT(DevicesGiven(pod, *simulation_), testing::IsEmpty());
}

TEST_F(ReportTest, TheSummaryIsOneLineOfIntegers) {
  std::string out;
  AppendSummary(Run(), out);
  EXPECT_EQ(out,
            R"({"summary":{"attempts":2,"bound":1,"evicted":0,"gated":1,"ignored":1,"nodes":2,)"
            R"("pods":4,"seed":7,"unfinished":0,"unschedulable":1,"virtualSeconds":2,)"
            R"("wallMicroseconds":2345}})"
            "\n");
}

TEST_F(ReportTest, TheTableTellsWhoWentWhereAndWhoWasLeft) {
  const Report report = Run();
  const std::string node = report.placed.begin()->first;
  std::string out;
  AppendReportTable(report, *simulation_, out);
  EXPECT_EQ(
      out,
      "1 of 4 pending pods placed on 1 of 2 nodes: 2 attempts in 2.3 ms, 2 s of virtual "
      "time, seed 7.\n"
      "\n"
      "NODE  NEW   PODS  CPU  MEMORY  NEW PODS\n" +
          node +
          "      1  1/110  25%      0%  default/fits\n"
          "\n"
          "PODS  RESULT         FIRST           MESSAGE\n"
          "   1  gated          default/gated   waiting for scheduling gates: [g]\n"
          "   1  ignored        default/others  no profile is named \"another\"\n"
          "   1  unschedulable  default/large   0/2 nodes are available: 2 Insufficient cpu. "
          "preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling.\n");
}

TEST_F(ReportTest, APodThatFailsAgainAndAgainIsUnfinished) {
  Apply(Pod("a", "1"));
  Apply(Pod("others", "1").SchedulerName("another"));
  simulation_->RunUntilQuiet(10s);
  const Report report = MakeReport({"default/a", "default/others"}, {}, *simulation_);
  EXPECT_EQ(report.Count("ignored"), 1u);
  EXPECT_EQ(report.Count("unfinished"), 1u);
  std::string out;
  AppendReportTable(report, *simulation_, out);
  EXPECT_THAT(out, HasSubstr("   1  unfinished  default/a       no nodes available to schedule "
                             "pods\n"));
}

TEST(DecisionTest, ALineNamesTheNodeOrSaysWhyThereIsNone) {
  const api::Pod pod = test::MakePod().Name("a");
  std::string out;
  AppendDecision({pod, Code::kSuccess, "n\"1", "", "", ""}, out);
  AppendDecision({pod, Code::kUnschedulable, "", "no room", "", ""}, out);
  EXPECT_EQ(out,
            "{\"pod\":\"default/a\",\"node\":\"n\\\"1\"}\n"
            "{\"pod\":\"default/a\",\"node\":null,\"message\":\"no room\"}\n");
}

}  // namespace
}  // namespace berth::simulator
