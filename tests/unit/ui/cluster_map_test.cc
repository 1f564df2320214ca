// SPDX-License-Identifier: Apache-2.0
#include "src/ui/cluster_map.h"

#include <gmock/gmock.h>

#include <chrono>
#include <nlohmann/json.hpp>

#include "src/questions/pending_pods.h"
#include "tests/support/builders.h"

namespace berth::ui {
namespace {

using nlohmann::json;
using test::MakeNode;
using test::MakePod;

json DocumentOf(const ClusterMap& map) {
  std::string out;
  base::JsonObject document(out);
  map.AppendMembers(document);
  document.Close();
  return json::parse(out);
}

TEST(ClusterMapTest, NodesHaveZonePoolAndWhatTheyOffer) {
  ClusterMap map;
  map.AddNode(MakeNode("n1")
                  .Label("topology.kubernetes.io/zone", "a")
                  .Label("eks.amazonaws.com/nodegroup", "small")
                  .Label("node.kubernetes.io/instance-type", "m5.large")
                  .Allocatable({{"cpu", "1500m"}, {"memory", "1Gi"}, {"pods", "20"}}));
  map.AddNode(MakeNode("n2")
                  .Label("node.kubernetes.io/instance-type", "m5.large")
                  .Unschedulable()
                  .Allocatable({{"cpu", "4"}, {"example.com/gpu", "2"}}));
  const json document = DocumentOf(map);
  EXPECT_EQ(document["zones"], json({"a", ""}));
  EXPECT_EQ(document["pools"], json({"small", "m5.large"}));
  const json& nodes = document["nodes"];
  EXPECT_EQ(nodes["name"], json({"n1", "n2"}));
  EXPECT_EQ(nodes["zone"], json({0, 1}));
  EXPECT_EQ(nodes["pool"], json({0, 1}));
  EXPECT_EQ(nodes["cordoned"], json({1}));
  EXPECT_EQ(nodes["allowedPods"][0], 20);
  // Milli-cores; of what not all nodes have, those that do.
  EXPECT_EQ(nodes["allocatable"]["cpu"], json({1500, 4000}));
  EXPECT_EQ(nodes["allocatable"]["memory"], json({{"rows", {0}}, {"values", {1 << 30}}}));
  EXPECT_EQ(nodes["allocatable"]["example.com/gpu"], json({{"rows", {1}}, {"values", {2}}}));
  EXPECT_EQ(nodes["until"], json({nullptr, nullptr}));
}

TEST(ClusterMapTest, PodsHaveNodeOwnerPriorityAndRequests) {
  ClusterMap map;
  const auto node = map.AddNode(MakeNode("n1").Allocatable({{"cpu", "4"}}));
  map.AddPod(MakePod()
                 .Namespace("shop")
                 .Name("web-abc12-1")
                 .Label("pod-template-hash", "abc12")
                 .Owner("ReplicaSet", "web-abc12", "uid")
                 .Priority(7)
                 .CreatedAt(Time(std::chrono::seconds(1'700'000'000)))
                 .Req({{"cpu", "1"}})
                 .InitReq({{"cpu", "3"}}),
             node);
  map.AddPod(MakePod().Namespace("shop").Name("bare"), ClusterMap::kNone);
  const json document = DocumentOf(map);
  EXPECT_EQ(document["namespaces"], json({"shop"}));
  EXPECT_EQ(document["owners"], json({"shop/Deployment/web", ""}));
  const json& pods = document["pods"];
  EXPECT_EQ(pods["name"], json({"web-abc12-1", "bare"}));
  EXPECT_EQ(pods["node"], json({0, -1}));
  EXPECT_EQ(pods["owner"], json({0, 1}));
  EXPECT_EQ(pods["priority"], json({7, 0}));
  EXPECT_EQ(pods["created"], json({1'700'000'000, 0}));
  EXPECT_EQ(pods["requests"]["cpu"], json({{"rows", {0}}, {"values", {3000}}}));
}

TEST(ClusterMapTest, OwnersAreNamedAsScaleNamesThem) {
  EXPECT_EQ(questions::OwnerOf(MakePod().Owner("StatefulSet", "db", "uid")),
            "default/StatefulSet/db");
  // A ReplicaSet that no Deployment made.
  EXPECT_EQ(questions::OwnerOf(MakePod().Owner("ReplicaSet", "web", "uid")),
            "default/ReplicaSet/web");
  EXPECT_EQ(questions::OwnerOf(
                MakePod().Label("pod-template-hash", "x1").Owner("ReplicaSet", "web", "uid")),
            "default/ReplicaSet/web");
  EXPECT_EQ(questions::OwnerOf(MakePod()), "");
}

TEST(ClusterMapTest, RowsEndAtAStep) {
  ClusterMap map;
  const auto node = map.AddNode(MakeNode("n1"), 2);
  const auto pod = map.AddPod(MakePod(), node, 3);
  map.EndPod(pod, 5);
  map.EndNode(node, 6);
  const json document = DocumentOf(map);
  EXPECT_EQ(document["nodes"]["from"], json({2}));
  EXPECT_EQ(document["nodes"]["until"], json({6}));
  EXPECT_EQ(document["pods"]["from"], json({3}));
  EXPECT_EQ(document["pods"]["until"], json({5}));
}

}  // namespace
}  // namespace berth::ui
