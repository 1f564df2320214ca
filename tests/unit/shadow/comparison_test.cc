// SPDX-License-Identifier: Apache-2.0
#include "src/shadow/comparison.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tests/unit/scheduler/scheduler_fixture.h"

namespace berth::shadow {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Nodes of 4 CPUs; what the other scheduler does, the test does.
class ComparisonTest : public test::SchedulerFixture {
 protected:
  using PodPtr = std::shared_ptr<const api::Pod>;

  void SetUp() override {
    options_.shadow = &comparison_;
    options_.on_cycle = [this](const scheduler::CycleOutcome& outcome) {
      decided_[outcome.pod.metadata.name] = outcome.node_name;
      comparison_.Decided(outcome);
    };
    Restart();
    Synced();
  }

  void AddNodes(std::initializer_list<std::string_view> names) {
    for (const std::string_view name : names) {
      AddNode(test::MakeNode(name).Allocatable({{"cpu", "4"}, {"memory", "8Gi"}, {"pods", "110"}}));
    }
  }
  static test::PodBuilder Pod(std::string_view name, const char* cpu = "1") {
    return test::MakePod().Name(name).Uid(name).Req({{"cpu", cpu}});
  }
  void BindByOther(const PodPtr& pod, std::string_view node) {
    api::Pod bound = *pod;
    bound.spec.node_name = node;
    bound.metadata.resource_version += "0";
    UpdatePod(pod, std::make_shared<const api::Pod>(bound));
    Turn();
  }
  // The pod with what the other says of it.
  static PodPtr RefusedByOther(const PodPtr& pod) {
    api::Pod refused = *pod;
    refused.metadata.resource_version += "0";
    api::PodCondition& condition = refused.status.conditions.emplace_back();
    condition.type = "PodScheduled";
    condition.status = "False";
    condition.reason = "Unschedulable";
    return std::make_shared<const api::Pod>(refused);
  }
  uint64_t Pods(Agreement agreement) const {
    return comparison_.Summarize().pods[static_cast<size_t>(agreement)];
  }
  int64_t FreeCpu(std::string_view node) {
    const Snapshot& cluster = scheduler().cache();
    const NodeRow row = cluster.FindNode(node);
    return cluster.allocatable(kCpu)[row] - cluster.requested(kCpu)[row];
  }

  metrics::Registry registry_;
  Comparison comparison_{clock_, registry_};
  std::map<std::string, std::string> decided_;
};

TEST_F(ComparisonTest, NothingIsBoundOrWritten) {
  AddNodes({"n1"});
  AddPod(Pod("web"));
  AddPod(Pod("big", "8"));
  Turn();
  EXPECT_EQ(decided_["web"], "n1");
  EXPECT_EQ(decided_["big"], "");
  EXPECT_THAT(Bindings(), IsEmpty());
}

TEST_F(ComparisonTest, TheSameNodeIsAgreement) {
  AddNodes({"n1"});
  const PodPtr web = Pod("web").Ptr();
  AddPod(web);
  Turn();
  BindByOther(web, "n1");
  EXPECT_EQ(Pods(Agreement::kSameNode), 1u);
  EXPECT_EQ(FreeCpu("n1"), 3000);
}

TEST_F(ComparisonTest, AnotherNodeOfTheSameScoreIsATie) {
  AddNodes({"n1", "n2"});
  const PodPtr web = Pod("web").Ptr();
  AddPod(web);
  Turn();
  const std::string other = decided_["web"] == "n1" ? "n2" : "n1";
  EXPECT_EQ(FreeCpu(decided_["web"]), 4000) << "what Berth decides takes nothing";
  BindByOther(web, other);
  EXPECT_EQ(Pods(Agreement::kTie), 1u);
  EXPECT_EQ(FreeCpu(other), 3000);
}

TEST_F(ComparisonTest, ALowerScoreSaysWhichPluginsMakeTheDifference) {
  AddNodes({"n1", "n2"});
  AddPod(Pod("old", "3").OnNode("n1"));
  const PodPtr web = Pod("web").Ptr();
  AddPod(web);
  Turn();
  ASSERT_EQ(decided_["web"], "n2");
  BindByOther(web, "n1");
  const Summary summary = comparison_.Summarize();
  EXPECT_EQ(Pods(Agreement::kLowerThanBerth), 1u);
  ASSERT_EQ(summary.disagreements.size(), 1u);
  const Disagreement& found = summary.disagreements.front();
  EXPECT_EQ(found.pod, "default/web");
  EXPECT_EQ(found.berth_node, "n2");
  EXPECT_EQ(found.other_node, "n1");
  EXPECT_EQ(summary.other_gave_away, *found.berth_score - *found.other_score);
  EXPECT_GT(summary.other_gave_away, 0);
  EXPECT_EQ(summary.berth_gave_away, 0);
  EXPECT_THAT(found.why, HasSubstr("NodeResourcesFit 86 to 47"));
}

TEST_F(ComparisonTest, ANodeThatBerthRefusesIsNamedWithItsReason) {
  AddNodes({"n1", "n2"});
  const PodPtr web = Pod("web").NodeSelector("disk", "ssd").Ptr();
  AddPod(web);
  Turn();
  BindByOther(web, "n1");
  const Summary summary = comparison_.Summarize();
  EXPECT_EQ(Pods(Agreement::kRefusedByBerth), 1u);
  EXPECT_THAT(summary.disagreements.front().why,
              HasSubstr("NodeAffinity: node(s) didn't match Pod's node affinity/selector"));
}

TEST_F(ComparisonTest, BothChoicesAreOfTheMomentOfTheBind) {
  AddNodes({"n1", "n2"});
  AddPod(Pod("old", "2").OnNode("n2"));
  const PodPtr web = Pod("web", "2").Ptr();
  AddPod(web);
  Turn();
  ASSERT_EQ(decided_["web"], "n1");
  AddPod(Pod("intruder", "4").OnNode("n1"));
  BindByOther(web, "n2");
  EXPECT_EQ(Pods(Agreement::kSameNode), 1u) << "n1 is full by then";
}

TEST_F(ComparisonTest, APodThatOnlyTheOtherPlacedSaysWhatBerthSaid) {
  AddNodes({"n1"});
  const PodPtr big = Pod("big", "4").Ptr();
  AddPod(Pod("old", "1").OnNode("n1"));
  AddPod(big);
  Turn();
  DeletePod(Pod("old", "1").OnNode("n1").Ptr());
  BindByOther(big, "n1");
  const Summary summary = comparison_.Summarize();
  ASSERT_EQ(summary.num_only_other, 1u);
  EXPECT_EQ(summary.only_other.front().node, "n1");
  EXPECT_THAT(summary.only_other.front().why,
              HasSubstr("0/1 nodes are available: 1 Insufficient cpu"));
}

TEST_F(ComparisonTest, OnANodeThatIsFullTheOtherIsRefused) {
  AddNodes({"n1"});
  AddPod(Pod("old", "3").OnNode("n1"));
  const PodPtr big = Pod("big", "2").Ptr();
  AddPod(big);
  Turn();
  BindByOther(big, "n1");
  EXPECT_EQ(Pods(Agreement::kRefusedByBerth), 1u);
  const Disagreement found = comparison_.Summarize().disagreements.front();
  EXPECT_EQ(found.berth_node, "");
  EXPECT_THAT(found.why, HasSubstr("NodeResourcesFit: Insufficient cpu"));
}

TEST_F(ComparisonTest, APodThatOnlyBerthPlacesIsListedUntilTheOtherBindsIt) {
  AddNodes({"n1"});
  PodPtr web = Pod("web").Ptr();
  AddPod(web);
  Turn();
  const PodPtr refused = RefusedByOther(web);
  UpdatePod(web, refused);
  Turn();
  const Summary summary = comparison_.Summarize();
  ASSERT_EQ(summary.only_berth.size(), 1u);
  EXPECT_EQ(summary.only_berth.front().pod, "default/web");
  EXPECT_EQ(summary.only_berth.front().node, "n1");
  EXPECT_THAT(registry_.Exposition(), HasSubstr("berth_shadow_pods_only_berth_places 1"));
  BindByOther(refused, "n1");
  EXPECT_THAT(comparison_.Summarize().only_berth, IsEmpty());
  EXPECT_THAT(registry_.Exposition(), HasSubstr("berth_shadow_pods_only_berth_places 0"));
}

TEST_F(ComparisonTest, APodThatGoesIsForgotten) {
  AddNodes({"n1"});
  const PodPtr web = Pod("web").Ptr();
  AddPod(web);
  Turn();
  DeletePod(web);
  Turn();
  EXPECT_EQ(FreeCpu("n1"), 4000);
  EXPECT_EQ(comparison_.Summarize().compared(), 0u);
}

TEST_F(ComparisonTest, ANominationThatIsNotWrittenIsNone) {
  AddNodes({"n1"});
  AddPod(Pod("old", "4").OnNode("n1"));
  AddPod(Pod("urgent", "4").Priority(10));
  Turn();
  EXPECT_TRUE(scheduler().nominator().NominatedNode("urgent").empty());
}

TEST_F(ComparisonTest, TimesAreCountedFromWhenThePodWasSeen) {
  AddNodes({"n1"});
  const PodPtr web = Pod("web").Ptr();
  AddPod(web);
  Turn();
  Advance(milliseconds(800));
  BindByOther(web, "n1");
  const Summary summary = comparison_.Summarize();
  EXPECT_LT(summary.berth_took.Percentile(0.5), milliseconds(1));
  EXPECT_GE(summary.other_took.Percentile(0.5), milliseconds(800));
  EXPECT_LT(summary.other_took.Percentile(0.5), milliseconds(900));
}

TEST_F(ComparisonTest, TheSummaryIsForPeopleAndForMachines) {
  AddNodes({"n1", "n2"});
  AddPod(Pod("old", "3").OnNode("n1"));
  const PodPtr web = Pod("web").Ptr();
  AddPod(web);
  Turn();
  BindByOther(web, "n1");
  std::string table;
  AppendTable(comparison_.Summarize(), table);
  EXPECT_THAT(table, HasSubstr("1 pod bound by it"));
  EXPECT_THAT(table, HasSubstr("100.0 %"));
  EXPECT_THAT(table, HasSubstr("default/web"));
  std::string text;
  AppendJson(comparison_.Summarize(), text);
  const auto json = nlohmann::json::parse(text);
  EXPECT_EQ(json["compared"], 1);
  EXPECT_EQ(json["pods"]["lower_than_berth"], 1);
  EXPECT_EQ(json["disagreements"][0]["pod"], "default/web");
  EXPECT_EQ(json["disagreements"][0]["otherNode"], "n1");
}

TEST(DurationsTest, APercentileIsAtMostABucketTooHigh) {
  Durations durations;
  EXPECT_EQ(durations.Percentile(0.99), Duration::zero());
  for (int i = 1; i <= 1000; ++i) durations.Add(milliseconds(i));
  for (const auto& [share, exact] :
       {std::pair(0.5, 500), std::pair(0.99, 990), std::pair(1.0, 1000)}) {
    EXPECT_GE(durations.Percentile(share), milliseconds(exact));
    EXPECT_LE(durations.Percentile(share), milliseconds(exact * 110 / 100));
  }
  durations.Add(Duration::zero());
  durations.Add(std::chrono::hours(1000));
  EXPECT_EQ(durations.count(), 1002u);
}

}  // namespace
}  // namespace berth::shadow
