// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/unit/plugins/volume_binding_fixture.h"

namespace berth::test {
namespace {

using testing::ElementsAre;

class VolumeBindingPreviewTest : public testing::Test, public VolumeBindingFixture {
 protected:
  // "claim=volume", "claim+provisioner" or "claim: problem" for each claim, by node.
  std::vector<std::string> Preview(const api::Pod& pod, const api::Node& node) {
    snapshot.emplace(handle.names, std::vector<api::Node>{node}, std::vector<api::Pod>{});
    handle.current_snapshot = &*snapshot;
    std::vector<std::string> lines;
    const auto by_node = plugin().PreviewClaims(*Info(pod));
    for (const ClaimPreview& claim : by_node(NodeView(*snapshot, 0))) {
      std::string line = claim.claim;
      if (!claim.volume.empty()) line += "=" + claim.volume;
      if (!claim.provisioner.empty()) line += "+" + claim.provisioner;
      if (!claim.problem.empty()) line += ": " + claim.problem;
      lines.push_back(std::move(line));
    }
    return lines;
  }
};

TEST_F(VolumeBindingPreviewTest, APodWithoutClaimsHasNone) {
  EXPECT_EQ(plugin().PreviewClaims(*Info(MakePod())), nullptr);
}

TEST_F(VolumeBindingPreviewTest, EachClaimSaysWhatItWouldGet) {
  handle.plain_listers.Set(MakeVolume("mine", "local").On("a").Obj());
  handle.plain_listers.Set(MakeVolume("bound", "local").On("a").Claim("old", "default/old").Obj());
  handle.plain_listers.Set(MakeClaim("old", "local").BoundTo("bound").Obj());
  handle.plain_listers.Set(MakeClaim("new", "local").Obj());
  handle.plain_listers.Set(MakeClaim("made", "wait").Obj());
  const api::Pod pod = MakePod().ClaimVolume("old").ClaimVolume("new").ClaimVolume("made");
  EXPECT_THAT(Preview(pod, Node("a")),
              ElementsAre("default/old=bound", "default/new=mine", "default/made+csi.example.com"));
}

TEST_F(VolumeBindingPreviewTest, EachClaimSaysWhyItKeepsThePodOut) {
  handle.plain_listers.Set(MakeVolume("bound", "local").On("a").Claim("old", "default/old").Obj());
  handle.plain_listers.Set(MakeClaim("old", "local").BoundTo("bound").Obj());
  handle.plain_listers.Set(MakeClaim("new", "local").Obj());
  handle.plain_listers.Set(MakeClaim("made", "wait").Obj());
  const api::Pod pod = MakePod().ClaimVolume("old").ClaimVolume("new").ClaimVolume("made");
  EXPECT_THAT(
      Preview(pod, Node("b")),
      ElementsAre("default/old: " + std::string(kNodeConflict) +
                      ": volume \"bound\" is in kubernetes.io/hostname=a",
                  "default/new: " + std::string(kBindConflict), "default/made+csi.example.com"));
}

TEST_F(VolumeBindingPreviewTest, AClaimThatKeepsThePodOffEveryNodeHidesNoOther) {
  handle.plain_listers.Set(MakeClaim("now", "now").Obj());
  handle.plain_listers.Set(MakeClaim("made", "wait").Obj());
  const api::Pod pod = MakePod().ClaimVolume("lost").ClaimVolume("now").ClaimVolume("made");
  EXPECT_THAT(
      Preview(pod, Node("a")),
      ElementsAre("default/lost: persistentvolumeclaim \"lost\" not found",
                  "default/now: not bound, and its storage class does not wait for a consumer",
                  "default/made+csi.example.com"));
}

TEST_F(VolumeBindingPreviewTest, AClaimThatNamesItsVolumeWaitsForThatOne) {
  api::PersistentVolumeClaim claim = MakeClaim("own", "wait").Obj();
  claim.spec.volume_name = "mine";
  handle.plain_listers.Set(claim);
  EXPECT_THAT(Preview(MakePod().ClaimVolume("own"), Node("a")),
              ElementsAre("default/own: not bound yet to volume \"mine\", which it names"));
}

TEST_F(VolumeBindingPreviewTest, AClassThatDoesNotExistIsNamed) {
  handle.plain_listers.Set(MakeClaim("lost", "missing").Obj());
  handle.plain_listers.Set(MakeClaim("bare", "").Obj());
  EXPECT_THAT(Preview(MakePod().ClaimVolume("lost").ClaimVolume("bare"), Node("a")),
              ElementsAre("default/lost: not bound, and storage class \"missing\" does not exist",
                          "default/bare: not bound, and it has no storage class"));
}

TEST_F(VolumeBindingPreviewTest, WhatAStorageCapacityLacksIsNamed) {
  api::CSIDriver driver;
  driver.metadata.name = "csi.example.com";
  driver.spec.storage_capacity = true;
  handle.plain_listers.Set(driver);
  handle.plain_listers.Set(MakeClaim("made", "wait").Request("5Gi").Obj());
  const api::Pod pod = MakePod().ClaimVolume("made");
  const auto problem = [&] { return Preview(pod, Node("a")).at(0); };
  const std::string no_space = "default/made: " + std::string(kNoSpace);
  EXPECT_EQ(problem(), no_space + ": class \"wait\" has no CSIStorageCapacity");
  api::CSIStorageCapacity capacity;
  capacity.metadata.namespace_ = "disks";
  capacity.metadata.name = "c";
  capacity.storage_class_name = "wait";
  capacity.node_topology = MakeSelector({{"zone", "elsewhere"}});
  capacity.capacity = MakeResources({{"storage", "3Gi"}})[0].second;
  handle.plain_listers.Set(capacity);
  EXPECT_EQ(problem(),
            no_space + ": no CSIStorageCapacity of class \"wait\" selects the node's labels");
  capacity.node_topology = api::LabelSelector();
  handle.plain_listers.Set(capacity);
  EXPECT_EQ(problem(), no_space + ": CSIStorageCapacity disks/c has 3Gi");
  capacity.maximum_volume_size = MakeResources({{"storage", "1Gi"}})[0].second;
  handle.plain_listers.Set(capacity);
  EXPECT_EQ(problem(), no_space + ": CSIStorageCapacity disks/c has volumes up to 1Gi");
}

TEST_F(VolumeBindingPreviewTest, OneVolumeIsNotGivenToTwoClaims) {
  handle.plain_listers.Set(MakeClaim("one", "local").Obj());
  handle.plain_listers.Set(MakeClaim("two", "local").Obj());
  handle.plain_listers.Set(MakeVolume("v", "local").On("a").Obj());
  const api::Pod pod = MakePod().ClaimVolume("one").ClaimVolume("two");
  EXPECT_THAT(Preview(pod, Node("a")),
              ElementsAre("default/one=v",
                          "default/two: only volume \"v\" would do, which another claim takes"));
  handle.plain_listers.Set(MakeVolume("w", "local").On("a").Obj());
  EXPECT_THAT(Preview(pod, Node("a")), ElementsAre("default/one=v", "default/two=w"));
}

}  // namespace
}  // namespace berth::test
