// SPDX-License-Identifier: Apache-2.0
#include "src/questions/commands.h"

#include <gmock/gmock.h>

#include "tests/unit/simulator/simulator_fixture.h"

namespace berth::questions {
namespace {

using explain::Application;
using explain::Change;
using testing::ElementsAre;

class CommandsTest : public test::SimulatorFixture {
 protected:
  CommandsTest() {
    api::ReplicaSet set;
    set.metadata.name = "web-1";
    set.metadata.namespace_ = "default";
    set.metadata.owner_references.push_back({"apps/v1", "Deployment", "web", "u", true});
    simulation_->Apply(std::make_shared<const api::ReplicaSet>(set));
    pod_ = test::MakePod().Owner("ReplicaSet", "web-1", "uid").Req({{"cpu", "2"}});
    pod_.spec.containers[0].name = "app";
  }
  std::vector<Application> All(const std::vector<Change>& changes) {
    explain::Fixes fixes;
    fixes.fixes.emplace_back().changes = changes;
    SetApplications(pod_, simulation_->api(), fixes);
    return fixes.fixes[0].applications;
  }
  Application One(const Change& change) { return All({change}).front(); }
  // Of a patch of the Deployment, what it says of its pods' spec.
  std::string SpecOf(const Change& change) {
    const Application application = One(change);
    EXPECT_EQ(application.kind + " " + application.name, "Deployment web");
    const std::string head = R"({"spec":{"template":{"spec":)";
    EXPECT_THAT(application.patch, testing::StartsWith(head));
    EXPECT_THAT(application.commands, ElementsAre("kubectl patch deployment web -n default -p '" +
                                                  application.patch + "'"));
    return application.patch.substr(head.size(), application.patch.size() - head.size() - 3);
  }

  api::Pod pod_;
};

TEST_F(CommandsTest, AChangeOfAPodPatchesTheTemplateOfItsDeployment) {
  EXPECT_EQ(SpecOf(explain::LowerRequest{"cpu", api::Quantity::FromUnits(2),
                                         api::Quantity::FromMilli(500)}),
            R"({"containers":[{"name":"app","resources":{"requests":{"cpu":"500m"}}}]})");
  pod_.spec.tolerations = {{"a", "Exists", "", "", {}},
                           {"node.kubernetes.io/not-ready", "Exists", "", "NoExecute", 300}};
  EXPECT_EQ(SpecOf(explain::Tolerate{{"team", "blue", "NoSchedule"}}),
            R"({"tolerations":[{"key":"a","operator":"Exists"},)"
            R"({"effect":"NoSchedule","key":"team","operator":"Equal","value":"blue"}]})");
  pod_.spec.node_selector = {{"disk", "ssd"}, {"zone", "a"}};
  EXPECT_EQ(SpecOf(explain::DropNodeSelector{"disk", "ssd"}), R"({"nodeSelector":{"disk":null}})");
  pod_.spec.containers[0].ports.push_back({80, 8080, "", "1.2.3.4"});
  EXPECT_EQ(SpecOf(explain::DropHostPort{80, ""}),
            R"({"containers":[{"name":"app","ports":[)"
            R"({"containerPort":8080,"hostIP":null,"hostPort":null,"protocol":"TCP"}]}]})");
}

TEST_F(CommandsTest, AffinityAndSpreadingAreWhole) {
  const auto zone = test::MakeRequirement("zone", "In", {"a"});
  pod_ = test::MakePod()
             .Owner("ReplicaSet", "web-1", "uid")
             .RequireNode({zone, test::MakeRequirement("disk", "Exists", {})})
             .PodAntiAffinity("zone", {{"app", "web"}})
             .Spread(1, "zone", "DoNotSchedule", {{"app", "web"}});
  auto& constraint = pod_.spec.topology_spread_constraints[0];
  constraint.match_label_keys = {"pod-template-hash"};
  constraint.label_selector->match_expressions.push_back({"pod-template-hash", "In", {"x"}});
  constexpr const char* kRequired = R"({"affinity":{"nodeAffinity":{)"
                                    R"("requiredDuringSchedulingIgnoredDuringExecution":)";
  EXPECT_EQ(
      SpecOf(explain::DropNodeAffinity{zone, false}),
      std::string(kRequired) +
          R"({"nodeSelectorTerms":[{"matchExpressions":[{"key":"disk","operator":"Exists"}]}]}}}})");
  EXPECT_EQ(
      SpecOf(explain::DropPodAffinity{pod_.spec.affinity->pod_anti_affinity
                                          ->required_during_scheduling_ignored_during_execution[0],
                                      true}),
      R"({"affinity":{"podAntiAffinity":{)"
      R"("requiredDuringSchedulingIgnoredDuringExecution":[]}}})");
  EXPECT_EQ(SpecOf(explain::RelaxSpread{"zone", 1, 2}),
            R"({"topologySpreadConstraints":[{"labelSelector":{"matchLabels":{"app":"web"}},)"
            R"("matchLabelKeys":["pod-template-hash"],"maxSkew":2,"topologyKey":"zone",)"
            R"("whenUnsatisfiable":"DoNotSchedule"},{"$patch":"replace"}]})");
}

TEST_F(CommandsTest, ChangesAreMadeOneAfterTheOther) {
  const auto all =
      All({explain::Tolerate{{"a", "", "NoSchedule"}}, explain::Tolerate{{"b", "", "NoExecute"}}});
  EXPECT_THAT(all[1].patch, testing::AllOf(testing::HasSubstr(R"("key":"a")"),
                                           testing::HasSubstr(R"("key":"b")")));
}

TEST_F(CommandsTest, APodThatNothingMadeIsMadeAgain) {
  pod_ = test::MakePod().NodeSelector("disk", "ssd");
  const Application application = One(explain::DropNodeSelector{"disk", "ssd"});
  EXPECT_TRUE(application.recreate);
  EXPECT_THAT(
      application.commands,
      ElementsAre(
          "kubectl patch pod pod -n default -p '{\"spec\":{\"nodeSelector\":{\"disk\":null}}}' "
          "--dry-run=client -o json | kubectl replace --force -f -"));
}

TEST_F(CommandsTest, WhatCannotBeChangedIsAComment) {
  pod_.metadata.owner_references[0].kind = "Job";
  EXPECT_THAT(
      One(explain::LowerRequest{"cpu", api::Quantity::FromUnits(2), api::Quantity::FromUnits(1)})
          .commands,
      ElementsAre(testing::StartsWith("# make Job default/web-1 again, with this")));
  EXPECT_THAT(
      One(explain::AddNode{"n1", "n2", {{"zone", "c"}}}).commands,
      ElementsAre(
          "# no command of kubectl: add one more node like n1 with the shape of n2 with zone=c"));
}

TEST_F(CommandsTest, NodesAreChangedByTheirCommands) {
  Apply(test::MakeNode("n1").Taint("a", "x", "NoSchedule").Taint("b", "", "NoExecute"));
  EXPECT_THAT(One(explain::Uncordon{"n1"}).commands, ElementsAre("kubectl uncordon n1"));
  const Application untaint = One(explain::RemoveTaint{"n1", {"a", "x", "NoSchedule"}});
  EXPECT_EQ(untaint.patch, R"({"spec":{"taints":[{"effect":"NoExecute","key":"b"}]}})");
  EXPECT_THAT(untaint.commands, ElementsAre("kubectl taint node n1 a=x:NoSchedule-"));
  EXPECT_THAT(One(explain::SetLabel{"n1", "disk", "ssd"}).commands,
              ElementsAre("kubectl label node n1 disk=ssd --overwrite"));
  EXPECT_THAT(
      One(explain::EvictPods{"n1", {"a/x", "b/y", "a/z"}, {{"a/keep", 2, 1}, {"b/keep", 1, 1}}})
          .commands,
      ElementsAre("# breaks budget a/keep", "kubectl delete pod -n a x z",
                  "kubectl delete pod -n b y"));
}

TEST_F(CommandsTest, MovesAreThoseOfAPlanThatIsMadeThen) {
  const Application moves = One(explain::MovePods{"n1", {{"a/x", "n1", "n2"}}});
  EXPECT_THAT(moves.commands,
              ElementsAre("kubectl berth plan --goal fit=default/pod -o yaml > plan.yaml",
                          "kubectl berth plan --apply plan.yaml"));
  EXPECT_EQ(moves.kind, "");
}

TEST_F(CommandsTest, ClaimsAndClassesAreMadeAgain) {
  const Application claim = One(explain::UseStorageClass{"shop/data", "slow", "fast"});
  EXPECT_TRUE(claim.recreate);
  EXPECT_THAT(claim.commands,
              ElementsAre("kubectl patch persistentvolumeclaim data -n shop -p "
                          "'{\"spec\":{\"storageClassName\":\"fast\"}}' --dry-run=client -o json | "
                          "kubectl replace --force -f -"));
  EXPECT_THAT(One(explain::AllowAnyTopology{"fast"}).patch, R"({"allowedTopologies":null})");
}

}  // namespace
}  // namespace berth::questions
