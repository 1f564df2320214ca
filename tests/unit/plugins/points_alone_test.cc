// SPDX-License-Identifier: Apache-2.0
// Plugins whose PreFilter and PreScore a profile switches off, and whose Filter and Score it keeps.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "plugins/in_tree_registry.h"
#include "src/config/types.h"
#include "src/framework/runtime.h"
#include "tests/unit/plugins/plugin_fixture.h"

namespace berth::plugins {
namespace {

using namespace berth::test;

class PointsAloneTest : public testing::Test, public PluginFixture {
 protected:
  void SetUp() override {
    config::Profile config;
    config.plugins.multi_point.enabled = {{"PrioritySort"},      {"DefaultBinder"},
                                          {"PodTopologySpread"}, {"InterPodAffinity"},
                                          {"NodeAffinity"},      {"NodeResourcesFit"}};
    config.plugins.pre_filter.disabled = {{"*"}};
    config.plugins.pre_score.disabled = {{"*"}};
    auto made = framework::Profile::Make(config, InTreeRegistry(), handle);
    ASSERT_TRUE(made) << made.error().message;
    profile_ = std::move(*made);
  }

  std::unique_ptr<framework::Profile> profile_;
};

TEST_F(PointsAloneTest, FilterFailsOrDoesWithoutPreFilter) {
  const std::map<std::string, std::string, std::less<>> want = {
      {"PodTopologySpread",
       "running \"PodTopologySpread\" filter plugin: reading \"PreFilterPodTopologySpread\" from "
       "cycleState: not found"},
      {"InterPodAffinity",
       "running \"InterPodAffinity\" filter plugin: error reading \"PreFilterInterPodAffinity\" "
       "from cycleState: not found"},
      {"NodeAffinity", "node(s) didn't match Pod's node affinity/selector"},
      {"NodeResourcesFit", "Insufficient cpu"},
  };
  const PlainSnapshot snapshot = Cluster({MakeNode("a").Allocatable({{"pods", "9"}})});
  const PodInfoPtr pod = Info(MakePod().Req({{"cpu", "1"}}).NodeSelector("disk", "ssd"));
  std::map<std::string, std::string, std::less<>> got;
  for (const framework::FilterEntry& entry : profile_->plugins().filter) {
    got.emplace(entry.name,
                framework::RunFilterPlugin(entry, state, *pod, NodeView(snapshot, 0)).message());
    NodeSet nodes = snapshot.nodes();
    if (entry.column != nullptr) {
      EXPECT_TRUE(entry.column->FilterNodes(state, *pod, snapshot, nodes).ok());
    }
    EXPECT_EQ(nodes.Test(0), entry.column == nullptr) << entry.name;
  }
  EXPECT_EQ(got, want);
}

TEST_F(PointsAloneTest, ScoreFailsOrDoesWithoutPreScore) {
  const std::map<std::string, std::string, std::less<>> want = {
      {"PodTopologySpread",
       "error reading \"PreScorePodTopologySpread\" from cycleState: not found"},
      {"InterPodAffinity",
       "failed to read \"PreScoreInterPodAffinity\" from cycleState: not found"},
      {"NodeAffinity", ""},
      {"NodeResourcesFit", ""},
  };
  const PlainSnapshot snapshot = Cluster({MakeNode("a")});
  std::map<std::string, std::string, std::less<>> got;
  for (const framework::ScoreEntry& entry : profile_->plugins().score) {
    const ScoreResult result = entry.plugin->Score(state, *Info(MakePod()), NodeView(snapshot, 0));
    got.emplace(entry.name, result.status.message());
    EXPECT_EQ(entry.column == nullptr, !result.status.ok()) << entry.name;
  }
  EXPECT_EQ(got, want);
}

}  // namespace
}  // namespace berth::plugins
