// SPDX-License-Identifier: Apache-2.0
#include "src/questions/pending_pods.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "src/base/clock.h"
#include "src/ui/pod_verdict.h"
#include "tests/support/volume_builders.h"
#include "tests/unit/simulator/simulator_fixture.h"

namespace berth::ui {
namespace {

using nlohmann::json;
using questions::PendingPods;
using testing::ElementsAre;
using testing::HasSubstr;

// A second passes with each look at it.
class TickingClock final : public Clock {
 public:
  Time Now() const override { return now_ += std::chrono::seconds(1); }

 private:
  mutable Time now_{};
};

class PendingPodsTest : public test::SimulatorFixture {
 protected:
  void Fill() {
    Apply(test::MakeNode("n1").Allocatable({{"cpu", "4"}}));
    Apply(test::MakeNode("n2").Allocatable({{"cpu", "2"}}));
    Apply(test::MakeNode("n3").Allocatable({{"cpu", "64"}}).Taint("team", "blue", "NoSchedule"));
    Apply(test::MakePod().Name("low").OnNode("n1").Priority(-5).Req({{"cpu", "3"}}));
  }
  json Judged(Duration budget = std::chrono::minutes(5)) {
    simulation_->RunDue();
    PendingPods pending(*simulation_, clock_);
    pending.Judge(budget);
    std::string out;
    pending.Append(out);
    return json::parse(out);
  }

  base::RealClock clock_;
};

TEST_F(PendingPodsTest, APodThatAwaitsItsResizeIsAmongThem) {
  auto options = test::DefaultSimulationOptions();
  options.scheduler.features.in_place_pod_vertical_scaling_scheduler_preemption = true;
  Restart(std::move(options));
  Fill();
  Apply(test::MakePod()
            .Name("resized")
            .OnNode("n1")
            .Priority(-9)
            .Req({{"cpu", "2"}})
            .Condition("PodResizePending", "True", "Deferred"));
  const json document = Judged();
  EXPECT_EQ(document["pending"], 1);
  EXPECT_EQ(document["groups"][0]["result"], "unschedulable");
  const auto verdict = PodVerdict(*simulation_, "default/resized");
  ASSERT_TRUE(verdict);
  EXPECT_EQ(json::parse(*verdict)["verdict"]["resizeOn"], "n1");
}

TEST_F(PendingPodsTest, PodsWithTheSameReasonsAreOneGroup) {
  Fill();
  // On how many nodes does not matter: both are rejected by the two plugins for the same reasons.
  Apply(test::MakePod().Name("a").Req({{"cpu", "8"}}));
  Apply(test::MakePod().Name("b").Req({{"cpu", "7"}}));
  Apply(test::MakePod().Name("c").Req({{"cpu", "3"}}).Priority(-9));
  Apply(test::MakePod().Name("gated").Gate("wait"));
  Apply(test::MakePod().Name("fits").Req({{"cpu", "1"}}));
  const json document = Judged();
  EXPECT_EQ(document["complete"], true);
  EXPECT_EQ(document["pending"], 5);
  EXPECT_EQ(document["judged"], 5);
  ASSERT_EQ(document["groups"].size(), 3u);
  const json& first = document["groups"][0];
  EXPECT_EQ(first["pods"], json({"default/a", "default/b", "default/c"}));
  EXPECT_EQ(first["result"], "unschedulable");
  EXPECT_THAT(first["message"], HasSubstr("0/3 nodes are available"));
  EXPECT_EQ(first["reasons"][0]["plugin"], "NodeResourcesFit");
  EXPECT_EQ(first["reasons"][0]["nodes"], 2);
  EXPECT_EQ(first["reasons"][0]["reasons"], json({"Insufficient cpu"}));
  EXPECT_EQ(first["reasons"][1]["plugin"], "TaintToleration");
  EXPECT_EQ(document["groups"][1]["result"], "gated");
  EXPECT_THAT(document["groups"][1]["message"], HasSubstr("wait"));
  EXPECT_EQ(document["groups"][2]["pods"], json({"default/fits"}));
  EXPECT_EQ(document["groups"][2]["result"], "scheduled");
  EXPECT_FALSE(document["groups"][2].contains("reasons"));
}

TEST_F(PendingPodsTest, PodsThatPreFilterRejectsForDifferentReasonsAreNoGroup) {
  Fill();
  api::StorageClass local;
  local.metadata.name = "local";
  local.provisioner = "kubernetes.io/no-provisioner";
  local.volume_binding_mode = "Immediate";
  simulation_->Apply(std::make_shared<const api::StorageClass>(local));
  simulation_->Apply(test::MakeClaim("unbound", "local").Ptr());
  Apply(test::MakePod().Name("a").ClaimVolume("gone"));
  Apply(test::MakePod().Name("b").ClaimVolume("lost"));
  Apply(test::MakePod().Name("c").ClaimVolume("unbound"));
  const json document = Judged();
  ASSERT_EQ(document["groups"].size(), 2u);
  EXPECT_EQ(document["groups"][0]["pods"], json({"default/a", "default/b"}));
  EXPECT_THAT(document["groups"][0]["message"], HasSubstr("persistentvolumeclaim \"gone\" not"));
  const json& reason = document["groups"][0]["reasons"][0];
  EXPECT_EQ(reason["plugin"], "VolumeRestrictions");
  EXPECT_EQ(reason["reasons"], json({"persistentvolumeclaim \"gone\" not found"}));
  EXPECT_EQ(document["groups"][1]["pods"], json({"default/c"}));
  EXPECT_EQ(document["groups"][1]["reasons"][0]["plugin"], "VolumeBinding");
}

TEST_F(PendingPodsTest, AVerdictNamesThePluginByWhichPreFilterRulesNodesOut) {
  Fill();
  Apply(test::MakePod().Name("a").ClaimVolume("gone"));
  simulation_->RunDue();
  const json document = json::parse(*PodVerdict(*simulation_, "default/a"));
  const json& nearest = document["nearMisses"][0];
  EXPECT_EQ(nearest["plugin"], "VolumeRestrictions");
  EXPECT_EQ(nearest["reasons"], json({"persistentvolumeclaim \"gone\" not found"}));
  EXPECT_FALSE(document["verdict"]["nodes"]["n1"].contains("plugin"));
}

TEST_F(PendingPodsTest, ATableHasALineForEachGroup) {
  Fill();
  Apply(test::MakePod().Name("a").Req({{"cpu", "8"}}));
  Apply(test::MakePod().Name("b").Req({{"cpu", "7"}}));
  Apply(test::MakePod().Name("fits").Req({{"cpu", "1"}}));
  simulation_->RunDue();
  PendingPods pending(*simulation_, clock_);
  std::string early;
  pending.AppendTable(early);
  EXPECT_EQ(early, "There was no time for all: 0 of 3 pending pods.\n");
  pending.Judge(std::chrono::minutes(5));
  std::string table;
  pending.AppendTable(table);
  EXPECT_THAT(table, HasSubstr("   2  unschedulable  default/a     0/3 nodes are available: "));
  EXPECT_THAT(table, HasSubstr("   1  scheduled      default/fits  -\n"));
}

TEST_F(PendingPodsTest, ATableOfNothingSaysSo) {
  Fill();
  simulation_->RunDue();
  std::string table;
  PendingPods(*simulation_, clock_).AppendTable(table);
  EXPECT_EQ(table, "No pod is pending.\n");
}

TEST_F(PendingPodsTest, EachPodIsInTheGroupThatItsOwnVerdictSays) {
  Fill();
  // Replicas that are alike, and one between them by name that is not.
  for (int i = 0; i < 30; ++i) {
    auto pod = test::MakePod().Name("web-" + std::to_string(i)).Owner("ReplicaSet", "web", "uid");
    Apply(pod.Req({{"cpu", i == 15 ? "1" : "8"}}));
  }
  const json document = Judged();
  size_t pods = 0;
  for (const json& group : document["groups"]) {
    for (const std::string key : group["pods"]) {
      ++pods;
      const auto verdict = PodVerdict(*simulation_, key);
      ASSERT_TRUE(verdict);
      EXPECT_EQ(json::parse(*verdict)["verdict"]["result"], group["result"]) << key;
    }
  }
  EXPECT_EQ(pods, 30u);
  EXPECT_EQ(document["groups"].size(), 2u);
}

TEST_F(PendingPodsTest, JudgingGoesOnWhereItStopped) {
  Fill();
  for (const char* name : {"a", "b", "c"}) {
    Apply(test::MakePod().Name(name).Req({{"cpu", "8"}}).Label("app", name));
  }
  simulation_->RunDue();
  const TickingClock clock;
  PendingPods pending(*simulation_, clock);
  std::vector<size_t> judged;
  while (!pending.complete()) {
    pending.Judge(std::chrono::milliseconds(1500));
    std::string out;
    pending.Append(out);
    judged.push_back(json::parse(out)["judged"]);
  }
  EXPECT_THAT(judged, ElementsAre(1u, 2u, 3u));
}

TEST_F(PendingPodsTest, AVerdictTellsNearMissesAndPreemption) {
  Fill();
  Apply(test::MakePod().Name("a").Priority(5).Req({{"cpu", "3"}}));
  simulation_->RunDue();
  const auto text = PodVerdict(*simulation_, "default/a");
  ASSERT_TRUE(text);
  const json document = json::parse(*text);
  EXPECT_EQ(document["pod"], "default/a");
  const json& nearest = document["nearMisses"][0];
  EXPECT_EQ(nearest["code"], "Unschedulable");
  EXPECT_EQ(nearest["examples"], json({"n1"}));
  EXPECT_EQ(nearest["nodes"], 1);
  EXPECT_EQ(nearest["plugin"], "NodeResourcesFit");
  EXPECT_EQ(document["verdict"]["preemption"]["best"], json({"n1"}));
  EXPECT_EQ(document["verdict"]["nodes"].size(), 3u);
  EXPECT_FALSE(document.contains("node"));
  EXPECT_FALSE(PodVerdict(*simulation_, "default/none"));
}

TEST_F(PendingPodsTest, APodOnANodeIsJudgedAsIfItWaitedAndStaysThere) {
  Fill();
  Apply(test::MakePod().Name("beside").OnNode("n1").Req({{"cpu", "1"}}));
  simulation_->RunDue();
  for (int i = 0; i < 2; ++i) {
    const json document = json::parse(*PodVerdict(*simulation_, "default/low"));
    EXPECT_EQ(document["node"], "n1");
    EXPECT_EQ(document["verdict"]["placedOn"], "n1");
    // Its own room does not count.
    EXPECT_EQ(document["verdict"]["best"], json({"n1"}));
  }
  EXPECT_EQ(simulation_->FindPod("default/low")->spec.node_name, "n1");
  EXPECT_EQ(Judged()["pending"], 0);
  Apply(test::MakePod().Name("more").Req({{"cpu", "1"}}));
  simulation_->RunDue();
  EXPECT_EQ(json::parse(*PodVerdict(*simulation_, "default/more"))["verdict"]["best"],
            json({"n2"}));
}

TEST_F(PendingPodsTest, FixesComeAsTextWithTheNodesThatTakeThePodThen) {
  Fill();
  Apply(test::MakePod().Name("a").Req({{"cpu", "8"}}));
  simulation_->RunDue();
  const auto text = PodFixes(*simulation_, "default/a", clock_, nullptr);
  ASSERT_TRUE(text);
  const json fixes = json::parse(*text)["fixes"];
  const auto tolerate = std::ranges::find_if(fixes, [](const json& fix) {
    return fix["changes"] == json({"pod: tolerate team=blue:NoSchedule"});
  });
  ASSERT_NE(tolerate, fixes.end()) << fixes;
  EXPECT_EQ((*tolerate)["nodes"], json({"n3"}));
  EXPECT_THAT(
      (*tolerate)["commands"][0].get<std::string>(),
      testing::StartsWith("kubectl patch pod a -n default -p '{\"spec\":{\"tolerations\":"));
  EXPECT_EQ(json::parse(*PodFixes(*simulation_, "default/low", clock_, nullptr))["fixes"],
            json::array());
  EXPECT_FALSE(PodFixes(*simulation_, "default/none", clock_, nullptr));
}

}  // namespace
}  // namespace berth::ui
