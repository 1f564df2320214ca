// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/shipped.h"
#include "tests/unit/plugins/plugin_fixture.h"
#include "tests/unit/plugins/volume_objects.h"

namespace berth::plugins {
namespace {

using namespace berth::test;

constexpr const char* kFull = "node(s) exceed max volume count";

api::Volume Ebs(const std::string& id) {
  api::Volume volume;
  volume.aws_elastic_block_store.emplace().volume_id = id;
  return volume;
}
api::Volume Gce(const std::string& name) {
  api::Volume volume;
  volume.gce_persistent_disk.emplace().pd_name = name;
  return volume;
}
api::Volume Azure(const std::string& name) {
  api::Volume volume;
  volume.azure_disk.emplace().disk_name = name;
  return volume;
}
api::Volume Cinder(const std::string& id) {
  api::Volume volume;
  volume.cinder.emplace().volume_id = id;
  return volume;
}

class DiskLimitsTest : public testing::Test, public PluginFixture {
 public:
  // A pod on node n with that many disks.
  template <typename MakeVolume>
  static api::Pod WithDisks(int count, MakeVolume make) {
    auto pod = MakePod().Name("placed").OnNode("n");
    for (int i = 0; i < count; ++i) pod.Volume(make("disk-" + std::to_string(i)));
    return pod;
  }
  std::string Judge(Shipped& plugin, const api::Pod& pod, const std::vector<api::Pod>& placed,
                    const api::Node& node = MakeNode("n")) {
    const Status status = Filter(plugin, pod, node, placed);
    if (status.ok()) return "ok";
    if (status.skip()) return "skip";
    EXPECT_EQ(status.code(), Code::kUnschedulable);
    return status.message();
  }
  // How many disks fit on the node besides each other.
  template <typename MakeVolume>
  int LimitOf(std::string_view name, MakeVolume make, const api::Node& node = MakeNode("n")) {
    Shipped plugin(name, handle);
    for (int count = 0; count < 300; ++count) {
      if (Judge(plugin, MakePod().Volume(make("new")), {WithDisks(count, make)}, node) != "ok") {
        return count;
      }
    }
    return -1;
  }
};

TEST_F(DiskLimitsTest, EachKindHasItsDefault) {
  EXPECT_EQ(LimitOf("EBSLimits", Ebs), 39);
  EXPECT_EQ(LimitOf("GCEPDLimits", Gce), 16);
  EXPECT_EQ(LimitOf("AzureDiskLimits", Azure), 16);
  EXPECT_EQ(LimitOf("CinderLimits", Cinder), 256);
}

TEST_F(DiskLimitsTest, SomeInstanceTypesTakeFewerEbsVolumes) {
  const struct {
    const char* label;
    const char* type;
    int want;
  } cases[] = {
      {"node.kubernetes.io/instance-type", "m5.large", 25},
      {"node.kubernetes.io/instance-type", "c5d.large", 25},
      {"node.kubernetes.io/instance-type", "r5.large", 25},
      {"node.kubernetes.io/instance-type", "t3.micro", 25},
      {"node.kubernetes.io/instance-type", "z1d.large", 25},
      {"beta.kubernetes.io/instance-type", "m5.large", 25},
      {"node.kubernetes.io/instance-type", "m4.large", 39},
      {"node.kubernetes.io/instance-type", "xm5.large", 39},
      {"instance-type", "m5.large", 39},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.type);
    EXPECT_EQ(LimitOf("EBSLimits", Ebs, MakeNode("n").Label(c.label, c.type)), c.want);
  }
}

TEST_F(DiskLimitsTest, TheEnvironmentGoesBeforeTheDefaultAndTheNodeBeforeBoth) {
  handle.gates.max_pd_volumes = 3;
  EXPECT_EQ(LimitOf("EBSLimits", Ebs), 3);
  EXPECT_EQ(LimitOf("GCEPDLimits", Gce), 3);
  EXPECT_EQ(LimitOf("CinderLimits", Cinder), 3);
  EXPECT_EQ(LimitOf("EBSLimits", Ebs,
                    MakeNode("n").Label("node.kubernetes.io/instance-type", "m5.large")),
            3);
  EXPECT_EQ(
      LimitOf("EBSLimits", Ebs, MakeNode("n").Allocatable({{"attachable-volumes-aws-ebs", "5"}})),
      5);
  EXPECT_EQ(
      LimitOf("GCEPDLimits", Gce, MakeNode("n").Allocatable({{"attachable-volumes-gce-pd", "1"}})),
      1);
  EXPECT_EQ(LimitOf("AzureDiskLimits", Azure,
                    MakeNode("n").Allocatable({{"attachable-volumes-azure-disk", "2"}})),
            2);
  EXPECT_EQ(LimitOf("CinderLimits", Cinder,
                    MakeNode("n").Allocatable({{"attachable-volumes-cinder", "0"}})),
            0);
}

TEST_F(DiskLimitsTest, OneDiskCountsOnceHoweverItIsNamed) {
  handle.gates.max_pd_volumes = 2;
  Shipped plugin("GCEPDLimits", handle);
  api::PersistentVolume volume = PlainVolume("v");
  volume.spec.gce_persistent_disk.emplace().pd_name = "disk-0";
  handle.plain_listers.Set(volume);
  handle.plain_listers.Set(Claim("v", "v"));
  handle.plain_listers.Set(PlainVolume("other"));
  handle.plain_listers.Set(Claim("other", "other"));
  const std::vector<api::Pod> full = {WithDisks(2, Gce)};
  EXPECT_EQ(Judge(plugin, MakePod().ClaimVolume("v"), full), "ok");
  EXPECT_EQ(Judge(plugin, MakePod().Volume(Gce("disk-1")).ClaimVolume("v"), full), "ok");
  EXPECT_EQ(Judge(plugin, MakePod().Volume(Gce("new")), full), kFull);
  EXPECT_EQ(Judge(plugin, MakePod().ClaimVolume("v").Volume(Gce("new")), full), kFull);
  // Volumes of other kinds are no matter.
  EXPECT_EQ(Judge(plugin, MakePod().ClaimVolume("other"), full), "skip");
  EXPECT_EQ(Judge(plugin, MakePod().Volume(Ebs("v")), full), "skip");
  EXPECT_EQ(Judge(plugin, MakePod(), full), "skip");
}

TEST_F(DiskLimitsTest, ClaimsWithoutAVolumeCountForTheirClass) {
  handle.gates.max_pd_volumes = 1;
  handle.plain_listers.Set(Class("ebs", "kubernetes.io/aws-ebs"));
  handle.plain_listers.Set(Class("csi", "ebs.csi.aws.com"));
  handle.plain_listers.Set(ClaimOfClass("ebs", "ebs"));
  handle.plain_listers.Set(ClaimOfClass("csi", "csi"));
  api::PersistentVolumeClaim lost = ClaimOfClass("lost", "ebs");
  lost.spec.volume_name = "gone";
  handle.plain_listers.Set(lost);
  Shipped plugin("EBSLimits", handle);
  const std::vector<api::Pod> full = {WithDisks(1, Ebs)};
  EXPECT_EQ(Judge(plugin, MakePod().ClaimVolume("ebs"), full), kFull);
  EXPECT_EQ(Judge(plugin, MakePod().ClaimVolume("lost"), full), kFull);
  EXPECT_EQ(Judge(plugin, MakePod().ClaimVolume("csi"), full), "skip");
  EXPECT_EQ(Judge(plugin, MakePod().ClaimVolume("ebs"),
                  {MakePod().Name("placed").OnNode("n").ClaimVolume("ebs")}),
            "ok");
}

TEST_F(DiskLimitsTest, AClaimThatDoesNotExistRejectsANewPodOnly) {
  Shipped plugin("EBSLimits", handle);
  const Status status = Filter(plugin, MakePod().ClaimVolume("gone"), MakeNode("n"));
  EXPECT_EQ(status.code(), Code::kUnschedulableAndUnresolvable);
  EXPECT_EQ(status.message(),
            "looking up PVC default/gone: persistentvolumeclaim \"gone\" not found");
  EXPECT_EQ(Judge(plugin, MakePod().Volume(Ebs("v")),
                  {MakePod().Name("placed").OnNode("n").ClaimVolume("gone")}),
            "ok");
}

TEST_F(DiskLimitsTest, WhereTheDriverServesTheDisksNothingIsChecked) {
  handle.gates.max_pd_volumes = 1;
  Shipped plugin("EBSLimits", handle);
  const std::vector<api::Pod> full = {WithDisks(1, Ebs)};
  api::CSINode node = NodeDrivers("n", {});
  handle.plain_listers.Set(node);
  EXPECT_EQ(Judge(plugin, MakePod().Volume(Ebs("new")), full), kFull);
  node.metadata.annotations = {
      {"storage.alpha.kubernetes.io/migrated-plugins", "kubernetes.io/gce-pd"}};
  handle.plain_listers.Set(node);
  EXPECT_EQ(Judge(plugin, MakePod().Volume(Ebs("new")), full), kFull);
  node.metadata.annotations = {{"storage.alpha.kubernetes.io/migrated-plugins",
                                "kubernetes.io/gce-pd,kubernetes.io/aws-ebs"}};
  handle.plain_listers.Set(node);
  EXPECT_EQ(Judge(plugin, MakePod().Volume(Ebs("new")), full), "ok");
}

TEST_F(DiskLimitsTest, TwoKindsInOneProfileKeepTheirDisksApart) {
  handle.gates.max_pd_volumes = 1;
  Shipped ebs("EBSLimits", handle);
  Shipped gce("GCEPDLimits", handle);
  const PlainSnapshot snapshot = Cluster({MakeNode("n")}, {WithDisks(1, Ebs)});
  const PodInfoPtr pod = Info(MakePod().Volume(Ebs("new")).Volume(Gce("new")));
  ASSERT_TRUE(ebs.PreFilter(state, *pod, snapshot).status.ok());
  ASSERT_TRUE(gce.PreFilter(state, *pod, snapshot).status.ok());
  EXPECT_FALSE(ebs.Filter(state, *pod, NodeView(snapshot, 0)).ok());
  EXPECT_TRUE(gce.Filter(state, *pod, NodeView(snapshot, 0)).ok());
  // And without what PreFilter prepares.
  EXPECT_FALSE(ebs.Filter(CycleState(), *pod, NodeView(snapshot, 0)).ok());
  EXPECT_TRUE(gce.Filter(CycleState(), *pod, NodeView(snapshot, 0)).ok());
}

TEST_F(DiskLimitsTest, QueuesOnNodesThatComeAndPodsThatGo) {
  const Shipped plugin("CinderLimits", handle);
  EXPECT_EQ(Hint(plugin, kNodeAdd, MakePod(), {}, Object(MakeNode().Obj())), "queue");
  EXPECT_EQ(Hint(plugin, kAssignedPodDelete, MakePod(), Object(MakePod().Obj()), {}), "queue");
  EXPECT_EQ(Hint(plugin, kNodeAllocatable, MakePod(), {}, Object(MakeNode().Obj())), "");
}

}  // namespace
}  // namespace berth::plugins
