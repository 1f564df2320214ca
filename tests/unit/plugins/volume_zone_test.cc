// SPDX-License-Identifier: Apache-2.0
#include "plugins/volume_zone/volume_zone.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/plugins/plugin_fixture.h"
#include "tests/unit/plugins/volume_objects.h"

namespace berth::plugins {
namespace {

using namespace berth::test;
using testing::ElementsAre;

constexpr const char* kZone = "topology.kubernetes.io/zone";
constexpr const char* kRegion = "topology.kubernetes.io/region";
constexpr const char* kBetaZone = "failure-domain.beta.kubernetes.io/zone";
constexpr const char* kBetaRegion = "failure-domain.beta.kubernetes.io/region";

class VolumeZoneTest : public testing::Test, public PluginFixture {
 public:
  // A pod whose claim leads to a volume with these labels.
  api::Pod PodWithVolume(LabelText labels) {
    handle.plain_listers.Set(Claim("data", "volume"));
    handle.plain_listers.Set(PlainVolume("volume", MakeLabels(labels)));
    return MakePod().ClaimVolume("data");
  }
  Status PreFilter(const api::Pod& pod) {
    state = CycleState();
    return plugin_.PreFilter(state, *Info(pod), Cluster({MakeNode()})).status;
  }

  VolumeZone plugin_{handle};
};

TEST_F(VolumeZoneTest, ANodeMustBeWhereTheVolumeIs) {
  const struct {
    const char* name;
    LabelText volume;
    api::Node node;
    bool passes;
  } cases[] = {
      {"the same zone", {{kZone, "a"}}, MakeNode().Label(kZone, "a"), true},
      {"another zone", {{kZone, "a"}}, MakeNode().Label(kZone, "b"), false},
      {"one of several", {{kZone, "a__b"}}, MakeNode().Label(kZone, "b"), true},
      {"with blanks", {{kZone, " a __ b"}}, MakeNode().Label(kZone, "a"), true},
      {"none of several", {{kZone, "a__b"}}, MakeNode().Label(kZone, "c"), false},
      {"a node without zone and region", {{kZone, "a"}}, MakeNode().Label("zone", "b"), true},
      {"a node with a region only", {{kZone, "a"}}, MakeNode().Label(kRegion, "eu"), false},
      {"region and zone",
       {{kZone, "a"}, {kRegion, "eu"}},
       MakeNode().Label(kZone, "a").Label(kRegion, "eu"),
       true},
      {"another region",
       {{kZone, "a"}, {kRegion, "eu"}},
       MakeNode().Label(kZone, "a").Label(kRegion, "us"),
       false},
      {"an old label of both", {{kBetaZone, "a"}}, MakeNode().Label(kBetaZone, "a"), true},
      {"an old label of the volume", {{kBetaZone, "a"}}, MakeNode().Label(kZone, "a"), true},
      {"the same, another zone", {{kBetaZone, "a"}}, MakeNode().Label(kZone, "b"), false},
      {"the node's old label goes first",
       {{kBetaZone, "a"}},
       MakeNode().Label(kBetaZone, "b").Label(kZone, "a"),
       false},
      {"an old label of the node", {{kZone, "a"}}, MakeNode().Label(kBetaZone, "a"), false},
      {"old region", {{kBetaRegion, "eu"}}, MakeNode().Label(kRegion, "eu"), true},
      {"an empty zone next to a region",
       {{kZone, "a__"}, {kRegion, "eu"}},
       MakeNode().Label(kZone, "z").Label(kRegion, "eu"),
       true},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    const Status status = Filter(plugin_, PodWithVolume(c.volume), c.node);
    EXPECT_EQ(status.code(), c.passes ? Code::kSuccess : Code::kUnschedulableAndUnresolvable);
    EXPECT_EQ(status.message(), c.passes ? "" : "node(s) had no available volume zone");
    // Without what PreFilter prepares, and by column.
    const PlainSnapshot snapshot = Cluster({c.node});
    const PodInfoPtr pod = Info(MakePod().ClaimVolume("data"));
    EXPECT_EQ(plugin_.Filter(CycleState(), *pod, NodeView(snapshot, 0)).ok(), c.passes);
    NodeSet nodes = snapshot.nodes();
    EXPECT_TRUE(plugin_.FilterNodes(CycleState(), *pod, snapshot, nodes).ok());
    EXPECT_EQ(nodes.Test(0), c.passes);
  }
}

TEST_F(VolumeZoneTest, EveryVolumeOfThePodCounts) {
  handle.plain_listers.Set(Claim("x", "x"));
  handle.plain_listers.Set(PlainVolume("x", MakeLabels({{kZone, "a__b"}})));
  handle.plain_listers.Set(Claim("y", "y"));
  handle.plain_listers.Set(PlainVolume("y", MakeLabels({{kZone, "b__c"}})));
  const api::Pod pod = MakePod().ClaimVolume("x").ClaimVolume("y");
  EXPECT_FALSE(Filter(plugin_, pod, MakeNode().Label(kZone, "a")).ok());
  EXPECT_TRUE(Filter(plugin_, pod, MakeNode().Label(kZone, "b")).ok());
  EXPECT_FALSE(Filter(plugin_, pod, MakeNode().Label(kZone, "c")).ok());
}

TEST_F(VolumeZoneTest, PodsWithNothingToSayAreSkipped) {
  EXPECT_TRUE(PreFilter(MakePod()).skip());
  EXPECT_TRUE(PreFilter(MakePod().EphemeralVolume("e")).skip());
  EXPECT_TRUE(PreFilter(PodWithVolume({{"zone", "a"}})).skip());
  EXPECT_TRUE(PreFilter(PodWithVolume({{kZone, "__"}})).skip());
  handle.plain_listers.Set(Class("late", "p"));
  handle.plain_listers.Set(ClaimOfClass("late", "late"));
  EXPECT_TRUE(PreFilter(MakePod().ClaimVolume("late")).skip());
}

TEST_F(VolumeZoneTest, ClaimsThatLeadNowhereRejectThePod) {
  handle.plain_listers.Set(Class("at-once", "p", "Immediate"));
  handle.plain_listers.Set(Class("unsaid", "p", std::nullopt));
  handle.plain_listers.Set(ClaimOfClass("at-once", "at-once"));
  handle.plain_listers.Set(ClaimOfClass("unsaid", "unsaid"));
  handle.plain_listers.Set(ClaimOfClass("of-no-class", "gone"));
  handle.plain_listers.Set(Claim("without-class"));
  handle.plain_listers.Set(Claim("without-volume", "gone"));
  api::PersistentVolumeClaim annotated = ClaimOfClass("annotated", "at-once");
  annotated.metadata.annotations = {{"volume.beta.kubernetes.io/storage-class", "old"}};
  handle.plain_listers.Set(annotated);
  const struct {
    const char* claim;
    const char* want;
  } cases[] = {
      {"", "PersistentVolumeClaim had no name"},
      {"gone", "persistentvolumeclaim \"gone\" not found"},
      {"without-class", "PersistentVolumeClaim had no pv name and storageClass name"},
      {"of-no-class", "storageclass.storage.k8s.io \"gone\" not found"},
      {"annotated", "storageclass.storage.k8s.io \"old\" not found"},
      {"unsaid", "VolumeBindingMode not set for StorageClass \"unsaid\""},
      {"at-once", "PersistentVolume had no name"},
      {"without-volume", "persistentvolume \"gone\" not found"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.claim);
    const api::Pod pod = MakePod().ClaimVolume(c.claim);
    const Status status = PreFilter(pod);
    EXPECT_EQ(status.code(), Code::kUnschedulableAndUnresolvable);
    EXPECT_EQ(status.message(), c.want);
    const PlainSnapshot snapshot = Cluster({MakeNode()});
    EXPECT_EQ(plugin_.Filter(CycleState(), *Info(pod), NodeView(snapshot, 0)).code(),
              Code::kUnschedulableAndUnresolvable);
  }
}

TEST_F(VolumeZoneTest, ColumnsAgreeWithNodesOnRandomClusters) {
  Random random(7);
  const char* const keys[] = {kZone, kRegion, kBetaZone, kBetaRegion};
  const char* const values[] = {"a", "b", "c"};
  const char* const lists[] = {"a", "b", "a__b", "c__a", "b__", ""};
  size_t kept = 0;
  size_t dropped = 0;
  for (int round = 0; round < 200; ++round) {
    std::vector<api::Node> nodes;
    for (int i = 0; i < 70; ++i) {
      auto node = MakeNode("node-" + std::to_string(i));
      for (const char* key : keys) {
        if (random.Below(2) == 0) node.Label(key, values[random.Below(3)]);
      }
      nodes.push_back(node);
    }
    api::StringMap labels;
    for (const char* key : {kBetaRegion, kBetaZone, kRegion, kZone}) {
      if (random.Below(3) == 0) labels.emplace_back(key, lists[random.Below(6)]);
    }
    const auto topologies = TopologiesOf(PlainVolume("v", labels));
    const PlainSnapshot snapshot = Cluster(nodes);
    NodeSet want = snapshot.nodes();
    want.Filter([&](NodeRow row) { return IsWithin(topologies, snapshot.node(row)); });
    NodeSet got = snapshot.nodes();
    KeepWithin(topologies, snapshot, got);
    ASSERT_EQ(got, want);
    kept += want.Count();
    dropped += snapshot.num_nodes() - want.Count();
  }
  EXPECT_GT(kept, 1000u);
  EXPECT_GT(dropped, 1000u);
}

TEST_F(VolumeZoneTest, QueuesOnWhatMayLeadToAVolume) {
  const api::Pod pod = MakePod().ClaimVolume("data");
  const ClusterEvent class_add{EventResource::kStorageClass, action::kAdd};
  EXPECT_EQ(Hint(plugin_, class_add, pod, {}, AnyObject(Class("c", "p"))), "queue");
  EXPECT_EQ(Hint(plugin_, class_add, pod, {}, AnyObject(Class("c", "p", "Immediate"))), "skip");
  EXPECT_EQ(Hint(plugin_, class_add, pod, {}, AnyObject(Class("c", "p", std::nullopt))), "skip");
  EXPECT_EQ(Hint(plugin_, class_add, pod, {}, AnyObject(Claim("data"))), "error");

  for (const ActionType what : {action::kAdd, action::kUpdate}) {
    const ClusterEvent claim{EventResource::kPersistentVolumeClaim, what};
    EXPECT_EQ(Hint(plugin_, claim, pod, {}, AnyObject(Claim("data"))), "queue");
    EXPECT_EQ(Hint(plugin_, claim, pod, {}, AnyObject(Claim("other"))), "skip");
  }
  const ClusterEvent volume_add{EventResource::kPersistentVolume, action::kAdd};
  const ClusterEvent volume_update{EventResource::kPersistentVolume, action::kUpdate};
  const auto volume = [](LabelText labels) {
    return AnyObject(PlainVolume("v", MakeLabels(labels)));
  };
  EXPECT_EQ(Hint(plugin_, volume_add, pod, {}, volume({})), "queue");
  EXPECT_EQ(Hint(plugin_, volume_update, pod, volume({{kZone, "a"}}), volume({{kZone, "b"}})),
            "queue");
  EXPECT_EQ(Hint(plugin_, volume_update, pod, volume({{kZone, "a__b"}}), volume({{kZone, "b__a"}})),
            "skip");
  EXPECT_EQ(Hint(plugin_, volume_update, pod, volume({{"x", "1"}}), volume({{"x", "2"}})), "skip");
  EXPECT_EQ(Hint(plugin_, kNodeAdd, pod, {}, Object(MakeNode().Obj())), "queue");
  EXPECT_EQ(Hint(plugin_, kNodeLabel, pod, {}, Object(MakeNode().Obj())), "queue");
  EXPECT_EQ(Hint(plugin_, kNodeTaint, pod, {}, Object(MakeNode().Obj())), "");
}

}  // namespace
}  // namespace berth::plugins
