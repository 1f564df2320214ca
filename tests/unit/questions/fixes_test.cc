// SPDX-License-Identifier: Apache-2.0
#include "src/questions/fixes.h"

#include <gmock/gmock.h>

#include "src/base/clock.h"
#include "src/explain/verdict_table.h"
#include "src/questions/pod_question.h"
#include "tests/support/volume_builders.h"
#include "tests/unit/simulator/simulator_fixture.h"

namespace berth::questions {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
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
    return TextsOf(Find(pod, options));
  }
  static std::vector<std::string> TextsOf(const explain::Fixes& fixes) {
    std::vector<std::string> texts;
    for (const explain::Fix& fix : fixes.fixes) {
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
                  "20: pod: tolerate node.kubernetes.io/unschedulable:NoSchedule -> n2",
                  "35: cluster: n1 without taint team=blue:NoSchedule -> n1",
                  "60: cluster: one more node like n2 -> n2-like-1"));
}

TEST_F(FindFixesTest, OfAPodThatItsGroupHoldsTheyAreThoseOfAnother) {
  Restart(test::OptionsWithPodGroups());
  Apply(test::MakeNode("n1").Allocatable({{"cpu", "4"}}));
  api::PodGroup group;
  group.metadata.name = "train";
  group.metadata.namespace_ = "default";
  group.spec.scheduling_policy.gang.emplace().min_count = 2;
  simulation_->Apply(std::make_shared<const api::PodGroup>(group));
  Apply(test::MakePod().Name("pod").Req({{"cpu", "1"}}).SchedulingGroup("train"));
  const auto explain = [&](const test::PodBuilder& other) {
    Apply(other);
    simulation_->RunDue();
    const auto find = [&](const auto& pod) { return FindFixes(*simulation_, pod, clock_); };
    return Explain(*simulation_, "default/pod", {.find_fixes = find});
  };
  auto answer = explain(test::MakePod().Name("large").Req({{"cpu", "9"}}).SchedulingGroup("train"));
  ASSERT_TRUE(answer->held_by_group());
  EXPECT_EQ(answer->fixes->of, "default/large");
  EXPECT_THAT(TextsOf(*answer->fixes), Contains("65: pod: request cpu 4 instead of 9 -> n1"));
  std::string table;
  explain::AppendTable(*answer, {}, table);
  EXPECT_THAT(table, HasSubstr("What would let default/large, which its pod group waits for, "));
  // Each of the two fits by itself.
  answer = explain(test::MakePod().Name("large").Req({{"cpu", "4"}}).SchedulingGroup("train"));
  ASSERT_TRUE(answer->held_by_group());
  EXPECT_EQ(answer->fixes->of, "default/train");
  EXPECT_THAT(answer->fixes->fixes, IsEmpty());
}

// Who takes such a taint away finds it there again.
TEST_F(FindFixesTest, ATaintThatAControllerPutsBackIsNotRemoved) {
  Apply(test::MakeNode("n1").Taint("node.kubernetes.io/disk-pressure", "", "NoSchedule"));
  Apply(test::MakeNode("n2").Taint("node.kubernetes.io/out-of-service", "", "NoSchedule"));
  EXPECT_THAT(
      Texts(test::MakePod()),
      ElementsAre("20: pod: tolerate node.kubernetes.io/disk-pressure:NoSchedule -> n1",
                  "20: pod: tolerate node.kubernetes.io/out-of-service:NoSchedule -> n2",
                  "35: cluster: n2 without taint node.kubernetes.io/out-of-service:NoSchedule -> "
                  "n2",
                  "60: cluster: one more node like n1 -> n1-like-1",
                  "60: cluster: one more node like n2 -> n2-like-1"));
}

TEST_F(FindFixesTest, ASelectorIsDroppedOrANodeLabelled) {
  Apply(test::MakeNode("n1").Label("disk", "hdd"));
  EXPECT_THAT(Texts(test::MakePod().NodeSelector("disk", "ssd")),
              ElementsAre("30: cluster: label n1 disk=ssd -> n1",
                          "40: pod: drop node selector disk=ssd -> n1"));
}

TEST_F(FindFixesTest, ALabelThatTellsWhatANodeIsIsNotSet) {
  Apply(test::MakeNode("n1").Label("kubernetes.io/arch", "amd64").Allocatable({{"cpu", "4"}}));
  for (const char* label : {"kubernetes.io/arch", "kubernetes.io/hostname",
                            "topology.kubernetes.io/zone", "node.kubernetes.io/instance-type"}) {
    EXPECT_THAT(Texts(test::MakePod().NodeSelector(label, "x")),
                Not(Contains(testing::HasSubstr("label"))))
        << label;
  }
}

TEST_F(FindFixesTest, NodeAffinityIsWidenedOrDropped) {
  Apply(test::MakeNode("n1").Label("zone", "c"));
  EXPECT_THAT(Texts(test::MakePod().RequireNode({test::MakeRequirement("zone", "In", {"a", "b"})})),
              ElementsAre("25: pod: node affinity also for zone=c -> n1",
                          "30: cluster: label n1 zone=a -> n1",
                          "40: pod: drop node affinity for zone in (a,b) -> n1"));
}

TEST_F(FindFixesTest, PodAffinityAndAntiAffinityAreDropped) {
  Apply(test::MakeNode("n1").Label("zone", "a"));
  Apply(test::MakePod().Name("there").OnNode("n1").Priority(1).Label("app", "web"));
  EXPECT_THAT(Texts(test::MakePod().PodAntiAffinity("zone", {{"app", "web"}})),
              ElementsAre("40: pod: drop pod anti-affinity to app=web per zone -> n1"));
  EXPECT_THAT(Texts(test::MakePod().PodAffinity("zone", {{"app", "db"}})),
              ElementsAre("40: pod: drop pod affinity to app=db per zone -> n1"));
}

// One in each zone: without the term of those that are there the pod still fits nowhere.
TEST_F(FindFixesTest, AnAntiAffinityOfReplicasToEachOtherIsDroppedFromAllOfThem) {
  const auto replica = [](std::string_view name) {
    return test::MakePod()
        .Name(name)
        .Label("app", "cache")
        .Owner("StatefulSet", "cache", "uid")
        .PodAntiAffinity("zone", {{"app", "cache"}});
  };
  Apply(test::MakeNode("n1").Label("zone", "a"));
  Apply(test::MakeNode("n2").Label("zone", "b"));
  Apply(replica("cache-0").OnNode("n1"));
  Apply(replica("cache-1").OnNode("n2"));
  // Of another owner: it is no part of the template.
  Apply(test::MakePod().Name("alone").Label("app", "cache").OnNode("n1"));
  const explain::Fixes fixes = Find(replica("pod"));
  EXPECT_THAT(TextsOf(fixes),
              Contains("40: pod, and 2 more of default/StatefulSet/cache on nodes: drop pod "
                       "anti-affinity to app=cache per zone -> n1 n2"));
  const auto& application = fixes.fixes.front().applications.front();
  ASSERT_EQ(application.commands.size(), 2u);
  EXPECT_THAT(application.commands[0], testing::StartsWith("kubectl patch statefulset cache"));
  EXPECT_THAT(application.commands[1], testing::HasSubstr("delete them"));
  // All is as it was.
  EXPECT_TRUE(simulation_->FindPod("default/cache-0")->spec.affinity);
  EXPECT_EQ(TextsOf(Find(replica("pod"))), TextsOf(fixes));
}

TEST_F(FindFixesTest, ASpreadIsRelaxedByNoMoreThanItMust) {
  Apply(test::MakeNode("n1").Label("zone", "a"));
  Apply(test::MakeNode("n2").Label("zone", "b").Allocatable({{"pods", "0"}}));
  for (const char* name : {"p1", "p2"}) {
    Apply(test::MakePod().Name(name).OnNode("n1").Priority(1).Label("app", "web"));
  }
  const auto texts = Texts(
      test::MakePod().Label("app", "web").Spread(1, "zone", "DoNotSchedule", {{"app", "web"}}));
  EXPECT_THAT(texts, Contains("17: pod: spread with maxSkew 3 instead of 1 per zone -> n1"));
  EXPECT_THAT(texts, Contains("35: pod: spread with ScheduleAnyway per zone -> n1"));
}

TEST_F(FindFixesTest, ASpreadPassesOverNodesThatThePodDoesNotTolerate) {
  Apply(test::MakeNode("n1").Label("zone", "a"));
  Apply(test::MakeNode("n2").Label("zone", "b").Taint("closed", "", "NoSchedule"));
  Apply(test::MakePod().Name("there").OnNode("n1").Priority(1).Label("app", "web"));
  EXPECT_THAT(
      Texts(
          test::MakePod().Label("app", "web").Spread(1, "zone", "DoNotSchedule", {{"app", "web"}})),
      Contains("15: pod: spread with nodeTaintsPolicy Honor per zone -> n1"));
}

TEST_F(FindFixesTest, MinDomainsIsLoweredByNoMoreThanItMust) {
  for (const char* zone : {"a", "b"}) {
    const std::string node = std::string("n-") + zone;
    Apply(test::MakeNode(node).Label("zone", zone));
    Apply(test::MakePod().Name(zone).OnNode(node).Priority(1).Label("app", "web"));
  }
  api::Pod pod =
      test::MakePod().Label("app", "web").Spread(1, "zone", "DoNotSchedule", {{"app", "web"}});
  pod.spec.topology_spread_constraints[0].min_domains = 5;
  simulation_->Apply(std::make_shared<const api::Pod>(pod));
  simulation_->RunDue();
  EXPECT_THAT(TextsOf(FindFixes(*simulation_, simulation_->FindPod("default/pod"), clock_)),
              Contains("18: pod: spread with minDomains 2 instead of 5 per zone -> n-a n-b"));
}

TEST_F(FindFixesTest, AVolumeInAZoneWithoutNodesGetsOneThere) {
  Apply(test::MakeNode("n1").Label("zone", "a"));
  simulation_->Apply(std::make_shared<const api::PersistentVolume>(
      test::MakeVolume("disk", "")
          .RequireNode({test::MakeRequirement("zone", "In", {"c"})})
          .Claim("data", "uid-data")
          .Phase("Bound")
          .Obj()));
  api::PersistentVolumeClaim claim = test::MakeClaim("data", "").Obj();
  claim.metadata.uid = "uid-data";
  claim.metadata.annotations = {{"pv.kubernetes.io/bind-completed", "yes"}};
  claim.spec.volume_name = "disk";
  simulation_->Apply(std::make_shared<const api::PersistentVolumeClaim>(claim));
  EXPECT_THAT(Texts(test::MakePod().ClaimVolume("data")),
              Contains("65: cluster: one more node like n1 with zone=c -> n1-like-1"));
}

TEST_F(FindFixesTest, APoolOfSmallNodesGetsTheShapeOfAnother) {
  Apply(test::MakeNode("gpu").Label("pool", "gpu").Allocatable({{"cpu", "2"}}));
  Apply(test::MakeNode("big").Label("pool", "big").Allocatable({{"cpu", "16"}}));
  EXPECT_THAT(Texts(test::MakePod().NodeSelector("pool", "gpu").Req({{"cpu", "8"}})),
              Contains("65: cluster: one more node like gpu with the shape of big -> gpu-like-1"));
}

TEST_F(FindFixesTest, AlikePodsAreSearchedForOnce) {
  Apply(test::MakeNode("n1").Unschedulable().Allocatable({{"cpu", "4"}}));
  for (const char* name : {"a", "b", "c", "other"}) {
    api::Pod pod =
        test::MakePod().Name(name).Req({{"cpu", "1"}}).Label("apps.kubernetes.io/pod-index", name);
    pod.spec.volumes.emplace_back().name = std::string("token-") + name;
    if (name == std::string("other")) pod.spec.node_selector = {{"disk", "ssd"}};
    simulation_->Apply(std::make_shared<const api::Pod>(pod));
  }
  simulation_->RunDue();
  FixCache cache(*simulation_, clock_);
  const auto first = TextsOf(cache.Find(simulation_->FindPod("default/a")));
  const explain::Fixes second = cache.Find(simulation_->FindPod("default/b"));
  EXPECT_EQ(cache.searches(), 1u);
  EXPECT_EQ(TextsOf(second), first);
  EXPECT_THAT(first,
              Contains("20: pod: tolerate node.kubernetes.io/unschedulable:NoSchedule -> n1"));
  EXPECT_EQ(second.fixes[1].applications[0].name, "b") << "each is its own";
  cache.Find(simulation_->FindPod("default/other"));
  EXPECT_EQ(cache.searches(), 2u);
  cache.Find(simulation_->FindPod("default/c"));
  EXPECT_EQ(cache.searches(), 2u);
}

// A pod that others keep away from by its index is like no other.
TEST_F(FindFixesTest, LabelsOfReplicasCountWhereASelectorNamesThem) {
  Apply(test::MakeNode("n1").Unschedulable());
  Apply(test::MakePod().Name("there").OnNode("n1").PodAntiAffinity(
      "zone", {{"apps.kubernetes.io/pod-index", "1"}}));
  for (const char* name : {"a", "b"})
    Apply(test::MakePod().Name(name).Label("apps.kubernetes.io/pod-index", name));
  simulation_->RunDue();
  FixCache cache(*simulation_, clock_);
  cache.Find(simulation_->FindPod("default/a"));
  cache.Find(simulation_->FindPod("default/b"));
  EXPECT_EQ(cache.searches(), 2u);
}

TEST_F(FindFixesTest, AHostPortIsDropped) {
  Apply(test::MakeNode("n1"));
  Apply(test::MakePod().Name("there").OnNode("n1").Priority(1).HostPort(80));
  EXPECT_THAT(Texts(test::MakePod().HostPort(80)),
              ElementsAre("50: pod: no host port 80/TCP -> n1",
                          "60: cluster: one more node like n1 -> n1-like-1"));
}

TEST_F(FindFixesTest, PodsOfLowerPriorityGoWithTheBudgetsThatTheyTouch) {
  Apply(test::MakeNode("n1").Allocatable({{"cpu", "4"}}));
  Apply(test::MakePod().Name("a").OnNode("n1").Label("app", "a").Req({{"cpu", "3"}}));
  Apply(test::MakePod().Name("b").OnNode("n1").Label("app", "b").Req({{"cpu", "1"}}));
  api::PodDisruptionBudget budget;
  budget.metadata.name = "keep";
  budget.metadata.namespace_ = "default";
  budget.spec.selector = test::MakeSelector({{"app", "a"}});
  simulation_->Apply(std::make_shared<const api::PodDisruptionBudget>(budget));
  EXPECT_THAT(
      Texts(test::MakePod().Priority(1).PreemptionPolicy("Never").Req({{"cpu", "2"}})),
      ElementsAre(
          "60: cluster: one more node like n1 -> n1-like-1",
          "110: pod: request cpu 0 instead of 2 -> n1",
          "155: cluster: n1 without default/a (budgets: default/keep allows 0 of 1) -> n1"));
}

TEST_F(FindFixesTest, PodsThatComeBackMoveWhereThatMakesRoom) {
  Apply(test::MakeNode("n1").Allocatable({{"cpu", "4"}}));
  Apply(test::MakeNode("n2").Allocatable({{"cpu", "3"}}));
  const auto web = [](const char* name) {
    return test::MakePod().Name(name).Label("app", "web").Req({{"cpu", "2"}});
  };
  Apply(web("web").OnNode("n1").Owner("ReplicaSet", "web", "uid"));
  const test::PodBuilder large = test::MakePod().Req({{"cpu", "3"}});
  Apply(test::MakePod().Name("small").OnNode("n2").Req({{"cpu", "1"}}));
  EXPECT_THAT(Texts(large), Contains("50: cluster: move default/web from n1 to n2 -> n1"));
  // The cluster is as it was.
  EXPECT_EQ(simulation_->FindPod("default/web")->spec.node_name, "n1");
  EXPECT_EQ(simulation_->FindPod("default/web")->metadata.owner_references.size(), 1u);

  // Nothing makes a pod again that has no controller.
  Apply(web("web").OnNode("n1"));
  EXPECT_THAT(Texts(large), Not(Contains(HasSubstr("move"))));
}

TEST_F(FindFixesTest, NoPodMovesThatItsBudgetKeeps) {
  Apply(test::MakeNode("n1").Allocatable({{"cpu", "4"}}));
  Apply(test::MakeNode("n2").Allocatable({{"cpu", "2"}}));
  Apply(test::MakePod()
            .Name("web")
            .OnNode("n1")
            .Label("app", "web")
            .Req({{"cpu", "2"}})
            .Owner("ReplicaSet", "web", "uid"));
  api::PodDisruptionBudget budget;
  budget.metadata.name = "keep";
  budget.metadata.namespace_ = "default";
  budget.spec.selector = test::MakeSelector({{"app", "web"}});
  const auto put = [&](int32_t allowed) {
    budget.status.disruptions_allowed = allowed;
    simulation_->Apply(std::make_shared<const api::PodDisruptionBudget>(budget));
  };
  put(0);
  EXPECT_THAT(Texts(test::MakePod().Req({{"cpu", "3"}})), Not(Contains(HasSubstr("move"))));
  put(1);
  EXPECT_THAT(Texts(test::MakePod().Req({{"cpu", "3"}})), Contains(HasSubstr("move default/web")));
}

TEST_F(FindFixesTest, AClaimAsksForAnotherClass) {
  Apply(test::MakeNode("n1"));
  for (const char* mode : {"Immediate", "WaitForFirstConsumer"}) {
    api::StorageClass storage_class;
    storage_class.metadata.name = mode == std::string("Immediate") ? "now" : "later";
    storage_class.provisioner = "example.com";
    storage_class.volume_binding_mode = mode;
    simulation_->Apply(std::make_shared<const api::StorageClass>(storage_class));
  }
  api::PersistentVolumeClaim claim;
  claim.metadata.name = "data";
  claim.metadata.namespace_ = "default";
  claim.spec.storage_class_name = "now";
  simulation_->Apply(std::make_shared<const api::PersistentVolumeClaim>(claim));
  EXPECT_THAT(Texts(test::MakePod().ClaimVolume("data")),
              ElementsAre("45: claim default/data: storage class later instead of now -> n1"));
}

TEST_F(FindFixesTest, ChangesAreCombinedWhereNoneDoesAlone) {
  Apply(test::MakeNode("n1").Unschedulable().Label("disk", "hdd").Allocatable({{"cpu", "2"}}));
  EXPECT_THAT(Texts(test::MakePod().NodeSelector("disk", "ssd").Req({{"cpu", "4"}})),
              Contains("100: cluster: label n1 disk=ssd; cluster: uncordon n1; pod: request cpu 2 "
                       "instead of 4 -> n1"));
}

TEST_F(FindFixesTest, ACombinationHasNoMoreThanItNeeds) {
  Apply(test::MakeNode("n1").Taint("a", "", "NoSchedule").Taint("b", "", "NoExecute"));
  EXPECT_THAT(Texts(test::MakePod()),
              ElementsAre("40: pod: tolerate a:NoSchedule; pod: tolerate b:NoExecute -> n1"));
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

TEST_F(FindFixesTest, APodThatAsksForAThousandLabelsCostsNoMoreThanAnother) {
  Apply(test::MakeNode("n1"));
  test::PodBuilder pod;
  for (int i = 0; i < 1000; ++i) pod.NodeSelector("key-" + std::to_string(i), "value");
  const explain::Fixes fixes = Find(pod);
  EXPECT_THAT(fixes.fixes, IsEmpty());
  EXPECT_LE(fixes.tried, 1100u);
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
}  // namespace berth::questions
