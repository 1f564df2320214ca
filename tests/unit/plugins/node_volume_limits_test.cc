// SPDX-License-Identifier: Apache-2.0
#include "plugins/node_volume_limits/node_volume_limits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/plugins/plugin_fixture.h"
#include "tests/unit/plugins/volume_objects.h"

namespace berth::plugins {
namespace {

using namespace berth::test;

constexpr const char* kDriver = "disks.example.com";
constexpr const char* kOther = "files.example.com";
constexpr const char* kEbs = "ebs.csi.aws.com";
constexpr const char* kGce = "pd.csi.storage.gke.io";

api::Volume Ebs(const char* id) {
  api::Volume volume;
  volume.name = "disk";
  volume.aws_elastic_block_store.emplace().volume_id = id;
  return volume;
}
api::Volume Gce(const char* name) {
  api::Volume volume;
  volume.name = "disk";
  volume.gce_persistent_disk.emplace().pd_name = name;
  return volume;
}
PodBuilder Placed(const char* name) { return MakePod().Name(name).OnNode("n"); }

// Claims c0 to c4 are bound to volumes of one driver, o0 and o1 to such of another.
class NodeVolumeLimitsTest : public testing::Test, public PluginFixture {
 public:
  NodeVolumeLimitsTest() {
    for (int i = 0; i < 5; ++i) AddVolume("c" + std::to_string(i), kDriver);
    for (int i = 0; i < 2; ++i) AddVolume("o" + std::to_string(i), kOther);
  }

  void AddVolume(const std::string& name, const char* driver) {
    handle.plain_listers.Set(CsiVolume(name, driver, "handle-" + name));
    handle.plain_listers.Set(Claim(name, name));
  }
  void SetLimits(const std::vector<DriverLimit>& drivers) {
    handle.plain_listers.Set(NodeDrivers("n", drivers));
  }
  // What is said of the pod on node n: a reason, "ok" or "skip".
  std::string Judge(const api::Pod& pod, const std::vector<api::Pod>& placed = {}) {
    const Status status = Filter(plugin_, pod, MakeNode("n"), placed);
    if (status.ok()) return "ok";
    if (status.skip()) return "skip";
    return status.message();
  }

  static constexpr const char* kFull = "node(s) exceed max volume count";
  NodeVolumeLimits plugin_{handle};
};

TEST_F(NodeVolumeLimitsTest, PodsWithNothingToAttachAreSkipped) {
  SetLimits({{kDriver, 0}});
  EXPECT_EQ(Judge(MakePod()), "skip");
  EXPECT_EQ(Judge(MakePod().ImageVolume("image").Volume({})), "skip");
  api::Volume rbd;
  rbd.rbd.emplace();
  EXPECT_EQ(Judge(MakePod().Volume(rbd)), "skip");
}

TEST_F(NodeVolumeLimitsTest, VolumesOfADriverAreCounted) {
  const struct {
    const char* name;
    std::vector<DriverLimit> limits;
    api::Pod pod;
    std::vector<api::Pod> placed;
    const char* want;
  } cases[] = {
      {"below the limit",
       {{kDriver, 2}},
       MakePod().ClaimVolume("c0"),
       {Placed("a").ClaimVolume("c1")},
       "ok"},
      {"at the limit",
       {{kDriver, 1}},
       MakePod().ClaimVolume("c0"),
       {Placed("a").ClaimVolume("c1")},
       kFull},
      {"all at once",
       {{kDriver, 2}},
       MakePod().ClaimVolume("c0").ClaimVolume("c1").ClaimVolume("c2"),
       {},
       kFull},
      {"a limit of none", {{kDriver, 0}}, MakePod().ClaimVolume("c0"), {}, kFull},
      {"no limit",
       {{kDriver, std::nullopt}},
       MakePod().ClaimVolume("c0"),
       {Placed("a").ClaimVolume("c1")},
       "ok"},
      {"a limit of another driver", {{kOther, 0}}, MakePod().ClaimVolume("c0"), {}, "ok"},
      {"volumes of another driver",
       {{kDriver, 1}, {kOther, 1}},
       MakePod().ClaimVolume("c0"),
       {Placed("a").ClaimVolume("o0")},
       "ok"},
      {"one of two drivers is full",
       {{kDriver, 9}, {kOther, 1}},
       MakePod().ClaimVolume("c0").ClaimVolume("o1"),
       {Placed("a").ClaimVolume("o0")},
       kFull},
      {"a volume that is there already",
       {{kDriver, 1}},
       MakePod().ClaimVolume("c0"),
       {Placed("a").ClaimVolume("c0")},
       "ok"},
      {"the same, more than the limit",
       {{kDriver, 1}},
       MakePod().ClaimVolume("c0"),
       {Placed("a").ClaimVolume("c0"), Placed("b").ClaimVolume("c1")},
       "ok"},
      {"one is there, the other is not",
       {{kDriver, 2}},
       MakePod().ClaimVolume("c0").ClaimVolume("c1"),
       {Placed("a").ClaimVolume("c0"), Placed("b").ClaimVolume("c2")},
       kFull},
      {"a volume that several have counts once",
       {{kDriver, 2}},
       MakePod().ClaimVolume("c1"),
       {Placed("a").ClaimVolume("c0"), Placed("b").ClaimVolume("c0")},
       "ok"},
      {"a volume that the pod names twice counts once",
       {{kDriver, 1}},
       MakePod().ClaimVolume("c0").ClaimVolume("c0"),
       {},
       "ok"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    SetLimits(c.limits);
    EXPECT_EQ(Judge(c.pod, c.placed), c.want);
  }
}

TEST_F(NodeVolumeLimitsTest, TheRejectionIsOneThatEvictionsHelp) {
  SetLimits({{kDriver, 0}});
  EXPECT_EQ(Filter(plugin_, MakePod().ClaimVolume("c0"), MakeNode("n")).code(),
            Code::kUnschedulable);
}

TEST_F(NodeVolumeLimitsTest, ItNamesTheVolumesInTheWay) {
  SetLimits({{kDriver, 3}, {kOther, 9}});
  api::PersistentVolumeClaim to_be_made = Claim("new");
  to_be_made.spec.storage_class_name = "made-by-driver";
  handle.plain_listers.Set(to_be_made);
  api::StorageClass made;
  made.metadata.name = "made-by-driver";
  made.provisioner = kDriver;
  handle.plain_listers.Set(made);
  handle.plain_listers.Set(Attachment("left-over", kDriver, "n", "c2"));
  const api::Pod pod = MakePod().ClaimVolume("c0").ClaimVolume("c3").ClaimVolume("o0");
  const auto said = [&](const std::vector<api::Pod>& placed) {
    const PlainSnapshot snapshot = Cluster({MakeNode("n")}, placed);
    return plugin_.InTheWayOf(pod, NodeView(snapshot, 0));
  };
  // What the pod shares with another is not added.
  EXPECT_EQ(said({Placed("a").ClaimVolume("c0"), Placed("b").ClaimVolume("new")}),
            "the limit of disks.example.com is 3, the pod adds 1 to 3: claim default/new (pod "
            "default/b), handle-c0 (pod default/a), handle-c2 (VolumeAttachment left-over)");
  EXPECT_EQ(said({Placed("a").ClaimVolume("c0").ClaimVolume("o0").ClaimVolume("o1")}), "");
}

TEST_F(NodeVolumeLimitsTest, WithoutACsiNodeThereIsNoLimit) {
  EXPECT_EQ(Judge(MakePod().ClaimVolume("c0"), {Placed("a").ClaimVolume("c1")}), "ok");
  handle.plain_listers.Set(NodeDrivers("other", {{kDriver, 0}}));
  EXPECT_EQ(Judge(MakePod().ClaimVolume("c0")), "ok");
}

TEST_F(NodeVolumeLimitsTest, AnImaginedPodHasItsVolumes) {
  SetLimits({{kDriver, 1}});
  const PlainSnapshot snapshot = Cluster({MakeNode("n")}, {Placed("a").ClaimVolume("c1")});
  const PodInfoPtr pod = Info(MakePod().ClaimVolume("c0"));
  ASSERT_TRUE(plugin_.PreFilter(state, *pod, snapshot).status.ok());
  EXPECT_FALSE(plugin_.Filter(state, *pod, NodeView(snapshot, 0)).ok());
  Overlay overlay;
  overlay.RemovePod(snapshot.pod("a"));
  EXPECT_TRUE(plugin_.Filter(state, *pod, NodeView(snapshot, 0, &overlay)).ok());
  const PodInfoPtr added = Info(MakePod().Name("added").ClaimVolume("c2"));
  overlay.AddPod(*added);
  EXPECT_FALSE(plugin_.Filter(state, *pod, NodeView(snapshot, 0, &overlay)).ok());
  // And without what PreFilter prepares.
  EXPECT_FALSE(plugin_.Filter(CycleState(), *pod, NodeView(snapshot, 0)).ok());
}

TEST_F(NodeVolumeLimitsTest, AVolumeToBeMadeCountsForItsClass) {
  handle.plain_listers.Set(Class("late", kDriver));
  handle.plain_listers.Set(Class("in-tree", "kubernetes.io/aws-ebs"));
  handle.plain_listers.Set(ClaimOfClass("unbound", "late"));
  handle.plain_listers.Set(ClaimOfClass("unbound-too", "late"));
  handle.plain_listers.Set(ClaimOfClass("unbound-ebs", "in-tree"));
  handle.plain_listers.Set(ClaimOfClass("of-no-class", "gone"));
  handle.plain_listers.Set(Claim("without-class"));
  api::PersistentVolumeClaim lost = ClaimOfClass("lost", "late");
  lost.spec.volume_name = "gone";
  handle.plain_listers.Set(lost);
  SetLimits({{kDriver, 1}, {kEbs, 0}});
  EXPECT_EQ(Judge(MakePod().ClaimVolume("unbound")), "ok");
  EXPECT_EQ(Judge(MakePod().ClaimVolume("unbound"), {Placed("a").ClaimVolume("c0")}), kFull);
  EXPECT_EQ(Judge(MakePod().ClaimVolume("unbound"), {Placed("a").ClaimVolume("unbound")}), "ok");
  EXPECT_EQ(Judge(MakePod().ClaimVolume("unbound"), {Placed("a").ClaimVolume("unbound-too")}),
            kFull);
  EXPECT_EQ(Judge(MakePod().ClaimVolume("lost"), {Placed("a").ClaimVolume("unbound")}), kFull);
  EXPECT_EQ(Judge(MakePod().ClaimVolume("unbound-ebs")), kFull);
  EXPECT_EQ(Judge(MakePod().ClaimVolume("of-no-class"), {Placed("a").ClaimVolume("c0")}), "ok");
  EXPECT_EQ(Judge(MakePod().ClaimVolume("without-class"), {Placed("a").ClaimVolume("c0")}), "ok");
}

TEST_F(NodeVolumeLimitsTest, DisksOfBuiltInPluginsCountForTheirDrivers) {
  api::PersistentVolume ebs = PlainVolume("ebs");
  ebs.spec.aws_elastic_block_store.emplace().volume_id = "aws:///vol-1";
  handle.plain_listers.Set(ebs);
  handle.plain_listers.Set(Claim("ebs", "ebs"));
  api::PersistentVolume bad = PlainVolume("bad");
  bad.spec.aws_elastic_block_store.emplace().volume_id = "aws://bad";
  handle.plain_listers.Set(bad);
  handle.plain_listers.Set(Claim("bad", "bad"));
  api::PersistentVolume file = PlainVolume("file");
  file.spec.azure_file.emplace();
  handle.plain_listers.Set(file);
  handle.plain_listers.Set(Claim("file", "file"));
  api::PersistentVolume path = PlainVolume("path");
  path.spec.host_path.emplace();
  handle.plain_listers.Set(path);
  handle.plain_listers.Set(Claim("path", "path"));

  // Without a CSINode nothing is migrated.
  EXPECT_EQ(Judge(MakePod().Volume(Ebs("vol-1"))), "ok");
  SetLimits({{kEbs, 1}, {kGce, 0}, {"file.csi.azure.com", 0}});
  EXPECT_EQ(Judge(MakePod().Volume(Ebs("vol-1"))), "ok");
  EXPECT_EQ(Judge(MakePod().Volume(Ebs("vol-1")), {Placed("a").Volume(Ebs("vol-2"))}), kFull);
  EXPECT_EQ(Judge(MakePod().Volume(Ebs("vol-1")), {Placed("a").ClaimVolume("ebs")}), "ok");
  EXPECT_EQ(Judge(MakePod().ClaimVolume("ebs"), {Placed("a").Volume(Ebs("vol-1"))}), "ok");
  EXPECT_EQ(Judge(MakePod().ClaimVolume("ebs"), {Placed("a").Volume(Ebs("vol-2"))}), kFull);
  EXPECT_EQ(Judge(MakePod().Volume(Gce("d"))), kFull);
  // What cannot be served, or is not counted, makes no difference.
  EXPECT_EQ(Judge(MakePod().ClaimVolume("bad"), {Placed("a").ClaimVolume("ebs")}), "ok");
  EXPECT_EQ(Judge(MakePod().ClaimVolume("file")), "ok");
  EXPECT_EQ(Judge(MakePod().ClaimVolume("path")), "ok");
  const Status status = Filter(plugin_, MakePod().Volume(Ebs("aws://bad")), MakeNode("n"));
  EXPECT_EQ(status.code(), Code::kError);
  EXPECT_THAT(status.message(),
              testing::StartsWith("converting volume(disk) from inline to csi: "));
}

TEST_F(NodeVolumeLimitsTest, ADiskThatItsDriverCannotServeFailsThePodByColumnToo) {
  const auto by_column = [&](const api::Pod& pod, const std::vector<api::Pod>& placed) {
    const PlainSnapshot snapshot = Cluster({MakeNode("n")}, placed);
    state = CycleState();
    const PodInfoPtr info = Info(pod);
    EXPECT_TRUE(plugin_.PreFilter(state, *info, snapshot).status.ok());
    NodeSet nodes = snapshot.nodes();
    const Status status = plugin_.FilterNodes(state, *info, snapshot, nodes);
    EXPECT_EQ(status, plugin_.Filter(state, *info, NodeView(snapshot, 0)));
    return status.code();
  };
  SetLimits({{kEbs, 9}});
  EXPECT_EQ(by_column(MakePod().Volume(Ebs("vol-1")), {}), Code::kSuccess);
  EXPECT_EQ(by_column(MakePod().Volume(Ebs("aws://bad")), {}), Code::kError);
  EXPECT_EQ(by_column(MakePod().Volume(Ebs("vol-1")), {Placed("a").Volume(Ebs("aws://bad"))}),
            Code::kError);
}

TEST_F(NodeVolumeLimitsTest, ClaimsThatDoNotExist) {
  SetLimits({{kDriver, 1}});
  const Status status = Filter(plugin_, MakePod().ClaimVolume("gone"), MakeNode("n"));
  EXPECT_EQ(status.code(), Code::kUnschedulableAndUnresolvable);
  EXPECT_EQ(status.message(),
            "looking up PVC default/gone: persistentvolumeclaim \"gone\" not found");
  // Those of placed pods count for nothing.
  EXPECT_EQ(Judge(MakePod().ClaimVolume("c0"), {Placed("a").ClaimVolume("gone")}), "ok");
}

TEST_F(NodeVolumeLimitsTest, EphemeralVolumesHaveClaimsOfTheirPod) {
  handle.plain_listers.Set(Class("late", kDriver));
  api::PersistentVolumeClaim claim = ClaimOfClass("web-data", "late");
  handle.plain_listers.Set(claim);
  SetLimits({{kDriver, 0}});
  const api::Pod pod = MakePod().Name("web").Uid("u-1").EphemeralVolume("data");
  const Status not_owned = Filter(plugin_, pod, MakeNode("n"));
  EXPECT_EQ(not_owned.code(), Code::kError);
  EXPECT_EQ(not_owned.message(),
            "PVC default/web-data was not created for pod default/web (pod is not owner)");
  claim.metadata.owner_references = {{"v1", "Pod", "web", "u-1", true}};
  handle.plain_listers.Set(claim);
  EXPECT_EQ(Judge(pod), kFull);
  EXPECT_EQ(Judge(MakePod().Name("other").EphemeralVolume("data")),
            "looking up PVC default/other-data: persistentvolumeclaim \"other-data\" not found");
  // It counts where it is placed, too.
  SetLimits({{kDriver, 1}});
  const api::Pod placed = MakePod().Name("web").Uid("u-1").EphemeralVolume("data").OnNode("n");
  EXPECT_EQ(Judge(MakePod().ClaimVolume("c0"), {placed}), kFull);
}

TEST_F(NodeVolumeLimitsTest, WhatIsStillAttachedCounts) {
  SetLimits({{kDriver, 2}});
  const auto attach = [&](const char* volume, const char* node, const char* attacher = kDriver) {
    handle.plain_listers.Set(Attachment(std::string("at-") + volume, attacher, node, volume));
  };
  const api::Pod pod = MakePod().ClaimVolume("c0");
  const std::vector<api::Pod> placed = {Placed("a").ClaimVolume("c1")};
  EXPECT_EQ(Judge(pod, placed), "ok");
  attach("c2", "other-node");
  EXPECT_EQ(Judge(pod, placed), "ok");
  attach("c1", "n");  // that of the placed pod
  EXPECT_EQ(Judge(pod, placed), "ok");
  attach("o0", "n", kOther);  // of another driver
  EXPECT_EQ(Judge(pod, placed), "ok");
  attach("gone", "n");  // of a volume that is gone
  EXPECT_EQ(Judge(pod, placed), "ok");
  handle.plain_listers.Set(PlainVolume("plain"));
  attach("plain", "n");  // of one that no driver serves
  EXPECT_EQ(Judge(pod, placed), "ok");
  auto nameless = Attachment("nameless", kDriver, "n", "c3");
  nameless.spec.source.persistent_volume_name = std::nullopt;
  handle.plain_listers.Set(nameless);
  EXPECT_EQ(Judge(pod, placed), "ok");
  attach("c3", "n");
  EXPECT_EQ(Judge(pod, placed), kFull);
  // The pod's own volume, attached for no pod, counts twice, as in kube-scheduler.
  handle.plain_listers.Remove<api::VolumeAttachment>("", "at-c3");
  attach("c0", "n");
  EXPECT_EQ(Judge(pod, placed), kFull);
}

TEST_F(NodeVolumeLimitsTest, ADriverMayAskToBeThere) {
  auto driver = Named<api::CSIDriver>(kDriver);
  driver.spec.prevent_pod_scheduling_if_missing = true;
  handle.plain_listers.Set(driver);
  const char* const missing = "disks.example.com CSI driver is not installed on the node";
  const api::Pod pod = MakePod().ClaimVolume("c0");
  EXPECT_EQ(Judge(pod), missing);
  EXPECT_EQ(Filter(plugin_, pod, MakeNode("n")).code(), Code::kUnschedulable);
  SetLimits({{kOther, std::nullopt}});
  EXPECT_EQ(Judge(pod), missing);
  EXPECT_EQ(Judge(MakePod().ClaimVolume("o0")), "ok");
  SetLimits({{kDriver, std::nullopt}});
  EXPECT_EQ(Judge(pod), "ok");

  SetLimits({});
  handle.gates.volume_limit_scaling = false;
  EXPECT_EQ(Judge(pod), "ok");
  handle.gates.volume_limit_scaling = true;
  driver.spec.prevent_pod_scheduling_if_missing = false;
  handle.plain_listers.Set(driver);
  EXPECT_EQ(Judge(pod), "ok");
}

TEST_F(NodeVolumeLimitsTest, QueuesWhenADriverTakesMore) {
  const ClusterEvent add{EventResource::kCsiNode, action::kAdd};
  const ClusterEvent update{EventResource::kCsiNode, action::kUpdate};
  const auto node = [](const std::vector<DriverLimit>& drivers) {
    return AnyObject(NodeDrivers("n", drivers));
  };
  const api::Pod pod = MakePod().ClaimVolume("c0");
  EXPECT_EQ(Hint(plugin_, add, pod, {}, node({})), "queue");
  const struct {
    const char* name;
    std::vector<DriverLimit> before;
    std::vector<DriverLimit> after;
    const char* want;
  } cases[] = {
      {"grows", {{kDriver, 1}}, {{kDriver, 2}}, "queue"},
      {"stays", {{kDriver, 1}}, {{kDriver, 1}}, "skip"},
      {"shrinks", {{kDriver, 2}}, {{kDriver, 1}}, "skip"},
      {"comes", {}, {{kDriver, 1}}, "queue"},
      {"comes without a limit", {}, {{kDriver, std::nullopt}}, "skip"},
      {"gets a limit", {{kDriver, std::nullopt}}, {{kDriver, 1}}, "queue"},
      {"goes", {{kDriver, 1}}, {}, "skip"},
      {"another grows", {{kDriver, 2}, {kOther, 1}}, {{kDriver, 1}, {kOther, 2}}, "queue"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(Hint(plugin_, update, pod, node(c.before), node(c.after)), c.want);
  }
  EXPECT_EQ(Hint(plugin_, update, pod, {}, AnyObject(Claim("c0"))), "error");
}

TEST_F(NodeVolumeLimitsTest, QueuesWhenVolumesAreFreedOrAClaimComes) {
  const api::Pod pod = MakePod().ClaimVolume("c0");
  EXPECT_EQ(Hint(plugin_, kAssignedPodDelete, pod, Object(Placed("a").ClaimVolume("c1").Obj()), {}),
            "queue");
  EXPECT_EQ(
      Hint(plugin_, kAssignedPodDelete, pod, Object(Placed("a").EphemeralVolume("e").Obj()), {}),
      "queue");
  EXPECT_EQ(Hint(plugin_, kAssignedPodDelete, pod, Object(Placed("a").Volume(Ebs("v")).Obj()), {}),
            "queue");
  EXPECT_EQ(Hint(plugin_, kAssignedPodDelete, pod, Object(Placed("a").ImageVolume("i").Obj()), {}),
            "skip");
  EXPECT_EQ(Hint(plugin_, kAssignedPodDelete, pod, Object(MakePod().ClaimVolume("c1").Obj()), {}),
            "skip");
  EXPECT_EQ(Hint(plugin_, kAssignedPodDelete, pod,
                 Object(MakePod().NominatedNode("n").ClaimVolume("c1").Obj()), {}),
            "queue");

  const ClusterEvent claim_add{EventResource::kPersistentVolumeClaim, action::kAdd};
  const api::Pod with_both = MakePod().Name("web").ClaimVolume("c0").EphemeralVolume("data");
  EXPECT_EQ(Hint(plugin_, claim_add, with_both, {}, AnyObject(Claim("c0"))), "queue");
  EXPECT_EQ(Hint(plugin_, claim_add, with_both, {}, AnyObject(Claim("web-data"))), "queue");
  EXPECT_EQ(Hint(plugin_, claim_add, with_both, {}, AnyObject(Claim("data"))), "skip");
  EXPECT_EQ(Hint(plugin_, claim_add, with_both, {},
                 AnyObject(Named<api::PersistentVolumeClaim>("c0", "other"))),
            "skip");
}

TEST_F(NodeVolumeLimitsTest, QueuesWhenAClaimOfThePodGetsItsVolume) {
  const ClusterEvent change{EventResource::kPersistentVolumeClaim, action::kUpdate};
  const api::Pod pod = MakePod().Name("web").ClaimVolume("c0");
  api::PersistentVolumeClaim bound = Claim("c0");
  bound.spec.volume_name = "v0";
  EXPECT_EQ(Hint(plugin_, change, pod, AnyObject(Claim("c0")), AnyObject(bound)), "queue");
  EXPECT_EQ(Hint(plugin_, change, pod, AnyObject(bound), AnyObject(bound)), "skip");
  EXPECT_EQ(Hint(plugin_, change, MakePod().Name("web").ClaimVolume("c1"), AnyObject(Claim("c0")),
                 AnyObject(bound)),
            "skip");
}

TEST_F(NodeVolumeLimitsTest, QueuesWhenAVolumeIsDetached) {
  const ClusterEvent detach{EventResource::kVolumeAttachment, action::kDelete};
  const api::ObjectPtr of_driver = AnyObject(Attachment("a", kDriver, "n", "c1"));
  const api::ObjectPtr of_ebs = AnyObject(Attachment("a", kEbs, "n", "c1"));
  EXPECT_EQ(Hint(plugin_, detach, MakePod().ClaimVolume("c0"), of_driver, {}), "queue");
  EXPECT_EQ(Hint(plugin_, detach, MakePod().EphemeralVolume("e"), of_driver, {}), "skip");
  EXPECT_EQ(Hint(plugin_, detach, MakePod().Volume(Ebs("v")), of_driver, {}), "skip");
  EXPECT_EQ(Hint(plugin_, detach, MakePod().Volume(Ebs("v")), of_ebs, {}), "queue");
  EXPECT_EQ(Hint(plugin_, detach, MakePod().Volume(Ebs("aws://bad")), of_ebs, {}), "error");
  EXPECT_EQ(Hint(plugin_, detach, MakePod(), of_driver, {}), "skip");
}

}  // namespace
}  // namespace berth::plugins
