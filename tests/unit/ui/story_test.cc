// SPDX-License-Identifier: Apache-2.0
#include "src/ui/story.h"

#include <gmock/gmock.h>

#include <map>
#include <nlohmann/json.hpp>

#include "src/informers/kinds.h"
#include "src/questions/replicas.h"
#include "tests/unit/recording/recording_fixture.h"
#include "tests/unit/simulator/simulator_fixture.h"

namespace berth::ui {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::Pair;
using testing::UnorderedElementsAre;

class StoryTest : public testing::Test {
 protected:
  simulator::Simulation& simulation() { return recorded_.simulation(); }
  void Apply(const test::NodeBuilder& node) { simulation().Apply(node.Ptr()); }
  void Apply(const test::PodBuilder& pod) { simulation().Apply(pod.Ptr()); }
  static test::NodeBuilder Node(std::string_view name) {
    return test::MakeNode(name).Allocatable({{"cpu", "2"}});
  }
  static test::PodBuilder Pod(std::string_view name, std::string_view cpu = "2") {
    return test::MakePod().Name(name).Req({{"cpu", cpu}});
  }

  void Tell(const Story::Limits& limits = {}) {
    auto reader = recording::RecordingReader::OpenBytes("bytes", recorded_.Finish());
    ASSERT_TRUE(reader) << reader.error().message;
    story_.emplace(*reader, limits);
    std::string out;
    base::JsonObject document(out);
    story_->map().AppendMembers(document);
    document.Close();
    map_ = json::parse(out);
    out.clear();
    story_->AppendDecisions(out);
    decisions_ = json::parse(out);
  }
  // Pods and the nodes they are on after so many decisions; "-": none.
  std::map<std::string, std::string> At(size_t step) const {
    const json& pods = map_["pods"];
    const json& nodes = map_["nodes"];
    const auto holds = [step](const json& rows, size_t row) {
      return rows["from"][row] <= step &&
             (rows["until"][row].is_null() || rows["until"][row] > step);
    };
    std::map<std::string, std::string> places;
    for (size_t row = 0; row < pods["name"].size(); ++row) {
      if (!holds(pods, row)) continue;
      const int number = pods["node"][row];
      const auto node = static_cast<size_t>(number);
      EXPECT_TRUE(number < 0 || holds(nodes, node)) << "on a node that is gone";
      const bool is_new =
          places.emplace(pods["name"][row], number < 0 ? "-" : nodes["name"][node]).second;
      EXPECT_TRUE(is_new) << "a pod is in two places";
    }
    return places;
  }

  test::RecordedSimulation recorded_{test::DefaultSimulationOptions()};
  std::optional<Story> story_;
  json map_;
  json decisions_;
};

TEST_F(StoryTest, PodsAreOnTheirNodesFromTheDecisionOn) {
  Apply(Node("n1"));
  Apply(Pod("a"));
  questions::Settle(simulation());
  Apply(Node("n2"));
  Apply(Pod("b"));
  Apply(Pod("large", "9"));
  questions::Settle(simulation());
  simulation().Delete(informers::Kind::kPod, "default/a");
  simulation().Delete(informers::Kind::kNode, "n1");
  simulation().RunDue();
  Tell();
  ASSERT_GE(story_->num_decisions(), 3u);
  EXPECT_THAT(At(0), ElementsAre(Pair("a", "-")));
  EXPECT_EQ(decisions_["pod"][0], "default/a");
  EXPECT_EQ(decisions_["nodes"][decisions_["node"][0].get<size_t>()], "n1");
  EXPECT_EQ(At(1)["a"], "n1");
  EXPECT_EQ(At(1)["b"], "-");
  EXPECT_THAT(At(story_->num_decisions()), ElementsAre(Pair("b", "n2"), Pair("large", "-")));
  // Why there is no node is told.
  for (size_t i = 0; i < story_->num_decisions(); ++i) {
    const bool placed = decisions_["node"][i] >= 0;
    EXPECT_EQ(placed, decisions_["pod"][i] != "default/large");
    EXPECT_EQ(decisions_["code"][i], placed ? "Success" : "Unschedulable");
    if (!placed) {
      EXPECT_THAT(std::string(decisions_["messages"][decisions_["message"][i].get<size_t>()]),
                  testing::HasSubstr("Insufficient cpu"));
    }
    EXPECT_GE(decisions_["time"][i], 1767225600000) << "2026";
  }
}

TEST_F(StoryTest, TheEndIsWhatTheApiServerHasThen) {
  for (const char* name : {"n1", "n2", "n3"}) Apply(Node(name));
  for (const char* name : {"a", "b", "c", "d"}) Apply(Pod(name));
  questions::Settle(simulation());
  // A node that changes looks different, and keeps its pods; one that goes leaves them behind.
  Apply(Node("n1").Unschedulable());
  simulation().Delete(informers::Kind::kPod, "default/a");
  questions::Settle(simulation());
  std::map<std::string, std::string> places;
  simulation().api().ForEach(informers::Kind::kPod, [&](const api::ObjectPtr& object) {
    const auto* pod = api::As<api::Pod>(object);
    places[pod->metadata.name] = pod->spec.node_name.empty() ? "-" : pod->spec.node_name;
  });
  ASSERT_EQ(places.size(), 3u);
  Tell();
  EXPECT_EQ(At(story_->num_decisions()), places);
  std::vector<std::string> keys;
  std::vector<std::string> nodes;
  for (const api::ObjectPtr& object : story_->Objects()) {
    keys.push_back(api::MetaOf(object)->Key());
    if (const auto* pod = api::As<api::Pod>(object)) nodes.push_back(pod->spec.node_name);
  }
  EXPECT_THAT(keys, ElementsAre("n1", "n2", "n3", "default/b", "default/c", "default/d"));
  EXPECT_THAT(nodes, UnorderedElementsAre("n1", "n2", "n3"));
  EXPECT_EQ(map_["nodes"]["cordoned"].size(), 1u);
}

TEST_F(StoryTest, APodWhoseBindFailsWaitsAgain) {
  simulation().api().set_fault(
      [refused =
           false](const client::Request& request) mutable -> std::optional<client::ResponseResult> {
        if (refused || !request.path.ends_with("/binding")) return std::nullopt;
        refused = true;
        client::ApiError error;
        error.code = 403;
        return tl::unexpected(error);
      });
  Apply(Node("n1"));
  Apply(Pod("a"));
  questions::Settle(simulation());
  Tell();
  ASSERT_EQ(story_->num_decisions(), 2u);
  EXPECT_EQ(At(2)["a"], "n1");
  // On the node with the first decision, and off it again before the second.
  const json& pods = map_["pods"];
  EXPECT_EQ(pods["node"], json({-1, 0, -1, 0}));
  EXPECT_EQ(pods["from"], json({0, 1, 1, 2}));
  EXPECT_EQ(At(1)["a"], "-");
}

TEST_F(StoryTest, AStoryEndsAtItsLimit) {
  Apply(test::MakeNode("n1").Allocatable({{"cpu", "99"}}));
  for (int i = 0; i < 20; ++i) Apply(Pod("p" + std::to_string(i), "1"));
  questions::Settle(simulation());
  Tell({.decisions = 7});
  EXPECT_TRUE(story_->cut_short());
  EXPECT_EQ(story_->num_decisions(), 7u);
  EXPECT_EQ(decisions_["pod"].size(), 7u);
}

TEST_F(StoryTest, AWholeStoryIsNotCutShort) {
  Apply(Node("n1"));
  Apply(Pod("a"));
  questions::Settle(simulation());
  Tell();
  EXPECT_FALSE(story_->cut_short());
}

}  // namespace
}  // namespace berth::ui
