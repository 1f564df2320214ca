// SPDX-License-Identifier: Apache-2.0
#include "plugins/shared/csi_migration.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "berth/volumes.h"
#include "tests/support/builders.h"

namespace berth::plugins {
namespace {

using namespace berth::test;

std::string Text(const Result<std::string>& result) {
  return result ? *result : "error: " + result.error().message;
}

TEST(CsiMigrationTest, EachDiskHasItsPluginAndItsDriver) {
  const auto plugin_of = [](auto member) {
    api::Volume volume;
    (volume.*member).emplace();
    return InTreePluginOf(volume);
  };
  EXPECT_EQ(plugin_of(&api::Volume::aws_elastic_block_store), "kubernetes.io/aws-ebs");
  EXPECT_EQ(plugin_of(&api::Volume::azure_disk), "kubernetes.io/azure-disk");
  EXPECT_EQ(plugin_of(&api::Volume::azure_file), "kubernetes.io/azure-file");
  EXPECT_EQ(plugin_of(&api::Volume::cinder), "kubernetes.io/cinder");
  EXPECT_EQ(plugin_of(&api::Volume::gce_persistent_disk), "kubernetes.io/gce-pd");
  EXPECT_EQ(plugin_of(&api::Volume::portworx_volume), "kubernetes.io/portworx-volume");
  EXPECT_EQ(plugin_of(&api::Volume::vsphere_volume), "kubernetes.io/vsphere-volume");
  EXPECT_EQ(plugin_of(&api::Volume::rbd), "");
  EXPECT_EQ(plugin_of(&api::Volume::iscsi), "");
  EXPECT_EQ(plugin_of(&api::Volume::csi), "");
  api::PersistentVolume volume;
  EXPECT_EQ(InTreePluginOf(volume), "");
  volume.spec.cinder.emplace();
  EXPECT_EQ(InTreePluginOf(volume), "kubernetes.io/cinder");

  EXPECT_EQ(CsiDriverOf("kubernetes.io/aws-ebs"), "ebs.csi.aws.com");
  EXPECT_EQ(CsiDriverOf("kubernetes.io/azure-disk"), "disk.csi.azure.com");
  EXPECT_EQ(CsiDriverOf("kubernetes.io/azure-file"), "file.csi.azure.com");
  EXPECT_EQ(CsiDriverOf("kubernetes.io/cinder"), "cinder.csi.openstack.org");
  EXPECT_EQ(CsiDriverOf("kubernetes.io/gce-pd"), "pd.csi.storage.gke.io");
  EXPECT_EQ(CsiDriverOf("kubernetes.io/portworx-volume"), "pxd.portworx.com");
  EXPECT_EQ(CsiDriverOf("kubernetes.io/vsphere-volume"), "csi.vsphere.vmware.com");
  EXPECT_EQ(CsiDriverOf("kubernetes.io/rbd"), "");
  EXPECT_EQ(CsiDriverOf(""), "");

  EXPECT_TRUE(IsMigrated("kubernetes.io/aws-ebs"));
  EXPECT_TRUE(IsMigrated("kubernetes.io/portworx-volume"));
  EXPECT_FALSE(IsMigrated("kubernetes.io/azure-file"));
  EXPECT_FALSE(IsMigrated("kubernetes.io/vsphere-volume"));
  EXPECT_FALSE(IsMigrated("kubernetes.io/rbd"));
  EXPECT_FALSE(IsMigrated(""));
}

TEST(CsiMigrationTest, AnEbsVolumeLosesItsZone) {
  const auto handle_of = [](const char* id) {
    api::Volume volume;
    volume.aws_elastic_block_store.emplace().volume_id = id;
    return Text(CsiHandleOf(volume));
  };
  EXPECT_EQ(handle_of("vol-1"), "vol-1");
  EXPECT_EQ(handle_of("anything"), "anything");
  EXPECT_EQ(handle_of("aws://us-east-1a/vol-1"), "vol-1");
  EXPECT_EQ(handle_of("aws:///vol-1"), "vol-1");
  EXPECT_EQ(handle_of("aws:///vol-1/"), "vol-1");
  EXPECT_EQ(
      handle_of("aws://us-east-1a/x/vol-1"),
      "error: failed to translate Kubernetes ID to EBS Volume ID Invalid format for AWS volume "
      "(aws://us-east-1a/x/vol-1)");
  EXPECT_THAT(handle_of("aws://us-east-1a/disk-1"), testing::StartsWith("error: "));
  EXPECT_THAT(handle_of("aws://vol-1"), testing::StartsWith("error: "));
}

TEST(CsiMigrationTest, AGceDiskIsNamedWithItsZoneOrRegion) {
  const auto handle_of = [](LabelText labels) {
    api::PersistentVolume volume;
    volume.metadata.labels = MakeLabels(labels);
    volume.spec.gce_persistent_disk.emplace().pd_name = "d";
    return Text(CsiHandleOf(volume));
  };
  constexpr const char* kZone = "topology.kubernetes.io/zone";
  constexpr const char* kBetaZone = "failure-domain.beta.kubernetes.io/zone";
  EXPECT_EQ(handle_of({}), "projects/UNSPECIFIED/zones/UNSPECIFIED/disks/d");
  EXPECT_EQ(handle_of({{kZone, "us-east1-a"}}), "projects/UNSPECIFIED/zones/us-east1-a/disks/d");
  EXPECT_EQ(handle_of({{kBetaZone, "us-east1-b"}, {kZone, "us-east1-a"}}),
            "projects/UNSPECIFIED/zones/us-east1-b/disks/d");
  EXPECT_EQ(handle_of({{kZone, "us-east1-a__us-east1-b"}}),
            "projects/UNSPECIFIED/regions/us-east1/disks/d");
  EXPECT_EQ(
      handle_of({{kZone, "us-east1-a__us-west1-b"}}),
      "error: failed to get region from zones: multiple or no regions gotten from zones, got: "
      "map[us-east1:{} us-west1:{}]");
  EXPECT_EQ(handle_of({{kZone, "us-east1-a__b"}}),
            "error: failed to get region from zones: zone in unexpected format, expected: "
            "{locale}-{region}-{zone}, got: b");
  api::Volume inline_volume;
  inline_volume.gce_persistent_disk.emplace().pd_name = "d";
  EXPECT_EQ(Text(CsiHandleOf(inline_volume)), "projects/UNSPECIFIED/zones/UNSPECIFIED/disks/d");
}

TEST(CsiMigrationTest, OfAzureOnlyManagedDisksAreServed) {
  api::Volume volume;
  volume.azure_disk.emplace().disk_uri = "/subscriptions/1/disks/d";
  volume.azure_disk->disk_name = "d";
  EXPECT_EQ(Text(CsiHandleOf(volume)), "/subscriptions/1/disks/d");
  volume.azure_disk->kind = "Managed";
  EXPECT_EQ(Text(CsiHandleOf(volume)), "/subscriptions/1/disks/d");
  volume.azure_disk->kind = "managed";
  EXPECT_EQ(Text(CsiHandleOf(volume)), "/subscriptions/1/disks/d");
  volume.azure_disk->kind = "Dedicated";
  EXPECT_EQ(Text(CsiHandleOf(volume)), "error: kind(Dedicated) is not supported in csi migration");
}

TEST(CsiMigrationTest, OtherDisksKeepTheirNames) {
  api::Volume cinder;
  cinder.cinder.emplace().volume_id = "c";
  EXPECT_EQ(Text(CsiHandleOf(cinder)), "c");
  api::PersistentVolume portworx;
  portworx.spec.portworx_volume.emplace().volume_id = "p";
  EXPECT_EQ(Text(CsiHandleOf(portworx)), "p");
}

}  // namespace
}  // namespace berth::plugins
