// SPDX-License-Identifier: Apache-2.0
#include "src/scheduler/debugger.h"

#include <gmock/gmock.h>

#include "src/base/logging.h"
#include "tests/unit/scheduler/scheduler_fixture.h"

namespace berth::scheduler {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class DebuggerTest : public test::SchedulerFixture {
 protected:
  void Add(std::shared_ptr<const api::Pod> pod) {
    pods_.emplace_back(pod);
    AddPod(std::move(pod));
  }
  Mismatch Pods() {
    return ComparePods(pods_, scheduler().cache(), scheduler().queue(),
                       [](std::string_view name) { return name == "default-scheduler"; });
  }
  KnownObjects nodes_;
  KnownObjects pods_;
};

TEST_F(DebuggerTest, WherePodsAreInNoneIsMissed) {
  hold_binds_ = true;
  options_.features.in_place_pod_vertical_scaling_scheduler_preemption = true;
  Restart();
  Synced();
  const auto node = test::MakeNode("n1").Allocatable({{"cpu", "2"}, {"pods", "10"}}).Ptr();
  nodes_.emplace_back(node);
  AddNode(node);
  Add(test::MakePod().Name("placed").Uid("placed").OnNode("n1").Ptr());
  Add(test::MakePod().Name("on-its-way").Uid("on-its-way").Ptr());
  Add(test::MakePod().Name("parked").Uid("parked").Req({{"cpu", "9"}}).Ptr());
  Add(test::MakePod().Name("gated").Uid("gated").Gate("wait").Ptr());
  Add(test::MakePod().Name("other").Uid("other").SchedulerName("other").Ptr());
  Add(test::MakePod()
          .Name("resized")
          .Uid("resized")
          .OnNode("n1")
          .Req({{"cpu", "9"}})
          .Condition("PodResizePending", "True", "Deferred")
          .Ptr());
  Add(test::MakePod().Name("homeless").Uid("homeless").OnNode("gone").Ptr());
  Turn();
  EXPECT_TRUE(CompareNodes(nodes_, scheduler().cache()).none());
  EXPECT_TRUE(Pods().none()) << testing::PrintToString(Pods().missed)
                             << testing::PrintToString(Pods().redundant);
}

TEST_F(DebuggerTest, DifferencesAreNamedOnBothSides) {
  Synced();
  AddNode(test::MakeNode("known"));
  AddNode(test::MakeNode("only-here"));
  AddPod(test::MakePod().Name("a").Uid("only-here").OnNode("known"));
  for (const char* name : {"only-there", "known", "also-there"}) {
    nodes_.emplace_back(test::MakeNode(name).Ptr());
  }
  pods_.emplace_back(test::MakePod().Name("b").Uid("only-there").Ptr());
  Turn();
  const Mismatch nodes = CompareNodes(nodes_, scheduler().cache());
  EXPECT_THAT(nodes.missed, ElementsAre("also-there", "only-there"));
  EXPECT_THAT(nodes.redundant, ElementsAre("only-here"));
  EXPECT_THAT(Pods().missed, ElementsAre("only-there"));
  EXPECT_THAT(Pods().redundant, ElementsAre("only-here"));
}

TEST_F(DebuggerTest, TheDumpShowsNodesWithTheirPodsAndTheQueue) {
  Synced();
  AddNode(
      test::MakeNode("n1").Allocatable({{"cpu", "2"}, {"example.com/gpu", "4"}, {"pods", "10"}}));
  AddPod(
      test::MakePod().Name("web").Uid("u1").OnNode("n1").Phase("Running").Req({{"cpu", "500m"}}));
  AddPod(test::MakePod().Name("lost").Uid("u2").OnNode("gone"));
  AddPod(test::MakePod().Name("huge").Uid("u3").NominatedNode("n1").Gate("wait"));
  Turn();
  const std::string dump = DumpNodes(scheduler().cache(), scheduler().nominator()) +
                           QueueSummary(scheduler().queue()) + "\n" +
                           DumpQueue(scheduler().queue());
  for (const char* part : {
           "Node name: n1\nDeleted: false\nRequested Resources: pods: 1, cpu: 500m\n"
           "Allocatable Resources: pods: 10, cpu: 2000m, example.com/gpu: 4\nScheduled "
           "Pods(number: 1):\n"
           "name: web, namespace: default, uid: u1, phase: Running, nominated node: \n",
           "Nominated Pods(number: 1):\nname: huge",
           "Node name: gone\nDeleted: true\n",
           "activeQ:0; backoffQ:0; unschedulableEntities:1\nname: huge, namespace: default, "
           "uid: u3",
       }) {
    EXPECT_THAT(dump, HasSubstr(part));
  }
}

TEST_F(DebuggerTest, PodsThatWaitForTheirGroupAreCountedByThemselves) {
  options_.features.generic_workload = true;
  Restart();
  Synced();
  AddPod(test::MakePod().Name("alone").Gate("wait"));
  AddPod(test::MakePod().Name("member").SchedulingGroup("crew"));
  Turn();
  EXPECT_EQ(QueueSummary(scheduler().queue()),
            "activeQ:0; backoffQ:0; unschedulableEntities:1; pendingPodGroupMemberPods:0; "
            "incompletePodGroupPods:1");
}

TEST_F(DebuggerTest, TheLogSaysWhatKubeSchedulersSays) {
  Synced();
  AddNode(test::MakeNode("n1"));
  Turn();
  testing::internal::CaptureStderr();
  LogNodeMismatch(scheduler(), nodes_);
  LogPodMismatch(scheduler(), pods_);
  LogDump(scheduler());
  base::FlushLogs();
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_THAT(log, HasSubstr("\"Cache mismatch\" missedNodes=\"[]\" redundantNodes=\"[n1]\""));
  EXPECT_THAT(log, testing::Not(HasSubstr("missedPods")));
  EXPECT_THAT(log, HasSubstr("\"Dump of cached NodeInfo\" nodes="));
  EXPECT_THAT(log, HasSubstr("\"Dump of scheduling queue\" summary=\"activeQ:0; backoffQ:0; "
                             "unschedulableEntities:0\""));
}

}  // namespace
}  // namespace berth::scheduler
