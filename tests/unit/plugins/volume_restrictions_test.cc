// SPDX-License-Identifier: Apache-2.0
#include "plugins/volume_restrictions/volume_restrictions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/plugins/plugin_fixture.h"
#include "tests/unit/plugins/volume_objects.h"

namespace berth::plugins {
namespace {

using namespace berth::test;

constexpr std::string_view kClaimReason =
    "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already "
    "in-use by another pod";

api::Volume Gce(const char* name, bool read_only = false) {
  api::Volume volume;
  volume.gce_persistent_disk = api::GCEPersistentDiskVolumeSource{name, 0, read_only};
  return volume;
}
api::Volume Ebs(const char* id, bool read_only = false) {
  api::Volume volume;
  volume.aws_elastic_block_store = api::AWSElasticBlockStoreVolumeSource{id, 0, read_only};
  return volume;
}
api::Volume Iscsi(const char* portal, const char* iqn, int lun, bool read_only = false) {
  api::Volume volume;
  volume.iscsi = api::ISCSIVolumeSource{portal, iqn, lun, read_only};
  return volume;
}
api::Volume Rbd(std::vector<std::string> monitors, const char* pool, const char* image,
                bool read_only = false) {
  api::Volume volume;
  volume.rbd = api::RBDVolumeSource{std::move(monitors), image, pool, read_only};
  return volume;
}

class VolumeRestrictionsTest : public testing::Test, public PluginFixture {
 public:
  VolumeRestrictionsTest() {
    handle.plain_listers.Set(ClaimWithModes("alone", {"ReadWriteOncePod"}));
    handle.plain_listers.Set(ClaimWithModes("alone-too", {"ReadWriteOncePod"}));
    handle.plain_listers.Set(ClaimWithModes("shared", {"ReadWriteMany"}));
  }

  VolumeRestrictions plugin_{handle};
};

TEST_F(VolumeRestrictionsTest, APodWithoutDisksAndClaimsIsSkipped) {
  const PlainSnapshot snapshot = Cluster({MakeNode("n")}, {MakePod().OnNode("n").Volume(Gce("d"))});
  EXPECT_TRUE(plugin_.PreFilter(state, *Info(MakePod()), snapshot).status.skip());
  EXPECT_TRUE(
      plugin_.PreFilter(state, *Info(MakePod().EphemeralVolume("e")), snapshot).status.skip());
  EXPECT_TRUE(
      plugin_
          .PreFilter(state, *Info(MakePod().ClaimVolume("shared").ClaimVolume("alone")), snapshot)
          .status.skip());
}

TEST_F(VolumeRestrictionsTest, OneDiskIsForOnePodUnlessBothRead) {
  const struct {
    const char* name;
    api::Volume wanted;
    api::Volume placed;
    bool conflict;
  } cases[] = {
      {"gce, the same", Gce("d"), Gce("d"), true},
      {"gce, another", Gce("d"), Gce("e"), false},
      {"gce, both read", Gce("d", true), Gce("d", true), false},
      {"gce, one reads", Gce("d", true), Gce("d"), true},
      {"gce, the other reads", Gce("d"), Gce("d", true), true},
      {"ebs, the same", Ebs("v"), Ebs("v"), true},
      {"ebs, another", Ebs("v"), Ebs("w"), false},
      {"ebs, both read", Ebs("v", true), Ebs("v", true), true},
      {"iscsi, the same", Iscsi("p", "iqn", 0), Iscsi("p", "iqn", 0), true},
      {"iscsi, another portal and lun", Iscsi("p", "iqn", 0), Iscsi("q", "iqn", 1), true},
      {"iscsi, another", Iscsi("p", "iqn", 0), Iscsi("p", "iqn-2", 0), false},
      {"iscsi, both read", Iscsi("p", "iqn", 0, true), Iscsi("p", "iqn", 0, true), false},
      {"rbd, one monitor in common", Rbd({"a", "b"}, "p", "i"), Rbd({"b", "c"}, "p", "i"), true},
      {"rbd, no monitor in common", Rbd({"a"}, "p", "i"), Rbd({"b"}, "p", "i"), false},
      {"rbd, another pool", Rbd({"a"}, "p", "i"), Rbd({"a"}, "q", "i"), false},
      {"rbd, another image", Rbd({"a"}, "p", "i"), Rbd({"a"}, "p", "j"), false},
      {"rbd, both read", Rbd({"a"}, "p", "i", true), Rbd({"a"}, "p", "i", true), false},
      {"of two kinds", Gce("d"), Ebs("d"), false},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    const Status status = Filter(plugin_, MakePod().Volume({}).Volume(c.wanted), MakeNode("n"),
                                 {MakePod().Name("other").OnNode("n").Volume({}).Volume(c.placed)});
    EXPECT_EQ(status.code(), c.conflict ? Code::kUnschedulable : Code::kSuccess);
    EXPECT_EQ(status.message(), c.conflict ? "node(s) had no available disk" : "");
  }
}

TEST_F(VolumeRestrictionsTest, AnImaginedPodHasItsDisk) {
  const PlainSnapshot snapshot =
      Cluster({MakeNode("n")}, {MakePod().Name("placed").OnNode("n").Volume(Gce("d"))});
  const PodInfoPtr pod = Info(MakePod().Volume(Gce("d")));
  ASSERT_TRUE(plugin_.PreFilter(state, *pod, snapshot).status.ok());
  Overlay overlay;
  overlay.RemovePod(snapshot.pod("placed"));
  EXPECT_TRUE(plugin_.Filter(state, *pod, NodeView(snapshot, 0, &overlay)).ok());
  const PodInfoPtr added = Info(MakePod().Name("added").Volume(Gce("d", true)));
  overlay.AddPod(*added);
  EXPECT_FALSE(plugin_.Filter(state, *pod, NodeView(snapshot, 0, &overlay)).ok());
}

TEST_F(VolumeRestrictionsTest, AReadWriteOncePodClaimInUseRejectsEveryNode) {
  const PlainSnapshot snapshot = Cluster({MakeNode("a"), MakeNode("b")},
                                         {MakePod().Name("user").OnNode("a").ClaimVolume("alone")});
  const PodInfoPtr pod = Info(MakePod().ClaimVolume("alone"));
  ASSERT_TRUE(plugin_.PreFilter(state, *pod, snapshot).status.ok());
  for (NodeRow row = 0; row < 2; ++row) {
    const Status status = plugin_.Filter(state, *pod, NodeView(snapshot, row));
    EXPECT_EQ(status.code(), Code::kUnschedulable);
    EXPECT_EQ(status.message(), kClaimReason);
  }
  const auto skipped = [&](const api::Pod& other) {
    return plugin_.PreFilter(state, *Info(other), snapshot).status.skip();
  };
  EXPECT_TRUE(skipped(MakePod().ClaimVolume("alone-too")));
  EXPECT_TRUE(skipped(MakePod().ClaimVolume("shared")));
  auto elsewhere = Named<api::PersistentVolumeClaim>("alone", "other");
  elsewhere.spec.access_modes = {"ReadWriteOncePod"};
  handle.plain_listers.Set(elsewhere);
  EXPECT_TRUE(skipped(MakePod().Namespace("other").ClaimVolume("alone")));
}

TEST_F(VolumeRestrictionsTest, RemovedAndAddedPodsChangeHowOftenAClaimIsUsed) {
  const PlainSnapshot snapshot =
      Cluster({MakeNode("a"), MakeNode("b")},
              {MakePod().Name("user").OnNode("a").ClaimVolume("alone"),
               MakePod().Name("user-too").OnNode("b").ClaimVolume("alone-too"),
               MakePod().Name("other").OnNode("a").ClaimVolume("shared")});
  const PodInfoPtr pod = Info(MakePod().ClaimVolume("alone").ClaimVolume("alone-too"));
  ASSERT_TRUE(plugin_.PreFilter(state, *pod, snapshot).status.ok());
  const NodeView a = snapshot.view("a");
  const auto passes = [&](const CycleState& cycle) { return plugin_.Filter(cycle, *pod, a).ok(); };
  EXPECT_TRUE(plugin_.RemovePod(state, *pod, snapshot.pod("other"), a).ok());
  EXPECT_TRUE(plugin_.RemovePod(state, *pod, snapshot.pod("user"), a).ok());
  EXPECT_FALSE(passes(state));
  CycleState copy = state.Clone();
  EXPECT_TRUE(plugin_.RemovePod(copy, *pod, snapshot.pod("user-too"), snapshot.view("b")).ok());
  EXPECT_TRUE(passes(copy));
  EXPECT_FALSE(passes(state));
  EXPECT_TRUE(plugin_.AddPod(copy, *pod, snapshot.pod("user"), a).ok());
  EXPECT_FALSE(passes(copy));
}

TEST_F(VolumeRestrictionsTest, AClaimThatDoesNotExistRejectsThePod) {
  const PlainSnapshot snapshot = Cluster({MakeNode("n")});
  for (const api::Pod& pod : {MakePod().ClaimVolume("gone").Obj(),
                              MakePod().Volume(Gce("d")).ClaimVolume("gone").Obj()}) {
    const Status status = plugin_.PreFilter(state, *Info(pod), snapshot).status;
    EXPECT_EQ(status.code(), Code::kUnschedulableAndUnresolvable);
    EXPECT_EQ(status.message(), "persistentvolumeclaim \"gone\" not found");
  }
  // It must be of the pod's namespace.
  EXPECT_FALSE(
      plugin_.PreFilter(state, *Info(MakePod().Namespace("other").ClaimVolume("alone")), snapshot)
          .status.ok());
}

TEST_F(VolumeRestrictionsTest, QueuesWhenADiskOrAClaimIsFreed) {
  const api::Pod pod = MakePod().Volume(Gce("d")).ClaimVolume("alone");
  const struct {
    const char* name;
    api::Pod deleted;
    const char* want;
  } cases[] = {
      {"has the disk", MakePod().OnNode("n").Volume(Gce("d")), "queue"},
      {"has another disk", MakePod().OnNode("n").Volume(Gce("e")), "skip"},
      {"has the disk in another namespace",
       MakePod().Namespace("other").OnNode("n").Volume(Gce("d")), "skip"},
      {"uses the claim", MakePod().OnNode("n").ClaimVolume("alone"), "queue"},
      {"uses another claim", MakePod().OnNode("n").ClaimVolume("shared"), "skip"},
      {"uses its namesake", MakePod().Namespace("other").OnNode("n").ClaimVolume("alone"), "skip"},
      {"has nothing", MakePod().OnNode("n"), "skip"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(Hint(plugin_, kAssignedPodDelete, pod, Object(c.deleted), {}), c.want);
  }
  EXPECT_EQ(Hint(plugin_, kAssignedPodDelete, pod, Object(MakeNode().Obj()), {}), "error");
}

TEST_F(VolumeRestrictionsTest, QueuesWhenItsClaimOrANodeComes) {
  const api::Pod pod = MakePod().ClaimVolume("data");
  const ClusterEvent claim_add{EventResource::kPersistentVolumeClaim, action::kAdd};
  EXPECT_EQ(Hint(plugin_, claim_add, pod, {}, AnyObject(Claim("data"))), "queue");
  EXPECT_EQ(Hint(plugin_, claim_add, pod, {}, AnyObject(Claim("other"))), "skip");
  EXPECT_EQ(Hint(plugin_, claim_add, pod, {},
                 AnyObject(Named<api::PersistentVolumeClaim>("data", "other"))),
            "skip");
  EXPECT_EQ(Hint(plugin_, claim_add, pod, {}, Object(MakePod().Obj())), "error");
  const ClusterEvent claim_update{EventResource::kPersistentVolumeClaim, action::kUpdate};
  EXPECT_EQ(Hint(plugin_, claim_update, pod, {}, AnyObject(Claim("data"))), "");
  EXPECT_EQ(Hint(plugin_, kNodeAdd, pod, {}, Object(MakeNode().Obj())), "queue");
}

}  // namespace
}  // namespace berth::plugins
