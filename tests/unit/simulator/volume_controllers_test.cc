// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "berth/volumes.h"
#include "src/simulator/controllers.h"
#include "tests/support/builders.h"
#include "tests/unit/simulator/controller_fixture.h"

namespace berth::simulator {
namespace {

using informers::Kind;
using test::MakeNode;
using test::MakePod;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::string_view kDriver = "disks.example.com";

class VolumeControllersTest : public test::ControllerFixture<VolumeControllers> {
 protected:
  api::PersistentVolume Volume(std::string_view name) {
    return Get<api::PersistentVolume>(Kind::kPersistentVolume, name);
  }
  api::PersistentVolumeClaim Claim(const std::string& name) {
    return Get<api::PersistentVolumeClaim>(Kind::kPersistentVolumeClaim, "default/" + name);
  }
  std::vector<std::string> VolumeNames() {
    return Names<api::PersistentVolume>(Kind::kPersistentVolume);
  }

  static api::PersistentVolume NewVolume(std::string_view name, int64_t size,
                                         std::string_view storage_class = "static") {
    api::PersistentVolume volume;
    volume.metadata.name = name;
    volume.spec.capacity = {{"storage", api::Quantity::FromUnits(size)}};
    volume.spec.access_modes = {"ReadWriteOnce"};
    volume.spec.storage_class_name = storage_class;
    return volume;
  }
  static api::PersistentVolumeClaim NewClaim(std::string_view name, int64_t size,
                                             std::string_view storage_class = "static") {
    api::PersistentVolumeClaim claim;
    claim.metadata.namespace_ = "default";
    claim.metadata.name = name;
    claim.metadata.uid = "uid-" + std::string(name);
    claim.spec.access_modes = {"ReadWriteOnce"};
    claim.spec.resources.requests = {{"storage", api::Quantity::FromUnits(size)}};
    claim.spec.storage_class_name = storage_class;
    return claim;
  }
  static api::StorageClass NewClass(std::string_view name, std::string_view provisioner,
                                    std::string_view mode) {
    api::StorageClass storage_class;
    storage_class.metadata.name = name;
    storage_class.provisioner = provisioner;
    storage_class.volume_binding_mode = mode;
    return storage_class;
  }
  // Nodes a and b in zones of their names, both with the driver.
  void ApplyZones() {
    for (const char* name : {"a", "b"}) {
      Apply(MakeNode(name).Label("zone", name).Obj());
      api::CSINode node;
      node.metadata.name = name;
      node.spec.drivers = {{std::string(kDriver), name, {"zone"}, {}}};
      Apply(node);
    }
  }
  static api::PersistentVolumeClaim Selected(api::PersistentVolumeClaim claim,
                                             std::string_view node) {
    api::Put(kSelectedNodeAnnotation, node, claim.metadata.annotations);
    return claim;
  }
  std::string SelectedNode(const std::string& claim) {
    const api::PersistentVolumeClaim found = Claim(claim);
    const std::string* node = api::Find(found.metadata.annotations, kSelectedNodeAnnotation);
    return node == nullptr ? "" : *node;
  }
};

TEST_F(VolumeControllersTest, AnImmediateClaimIsBoundToTheSmallestVolumeThatDoes) {
  Apply(NewVolume("large", 9));
  Apply(NewVolume("b", 5));
  Apply(NewVolume("a", 5));
  Apply(NewVolume("small", 3));
  Apply(NewVolume("other", 5, "other"));
  Apply(NewClaim("data", 4));
  Run();
  EXPECT_EQ(Claim("data").spec.volume_name, "a");
  EXPECT_EQ(Claim("data").status.phase, "Bound");
  EXPECT_TRUE(IsFullyBound(Claim("data")));
  EXPECT_EQ(Claim("data").status.capacity, Volume("a").spec.capacity);
  EXPECT_EQ(Volume("a").status.phase, "Bound");
  EXPECT_EQ(Volume("a").spec.claim_ref->uid, "uid-data");
  EXPECT_NE(api::Find(Volume("a").metadata.annotations, kBoundByControllerAnnotation), nullptr);
  EXPECT_EQ(Volume("b").status.phase, "Available");
  EXPECT_EQ(Volume("b").spec.claim_ref, std::nullopt);
}

TEST_F(VolumeControllersTest, AVolumeDoesOnlyWithModesSelectorAndAttributesOfTheClaim) {
  api::PersistentVolume block = NewVolume("block", 5);
  block.spec.volume_mode = "Block";
  Apply(block);
  api::PersistentVolume many = NewVolume("many", 5);
  many.spec.access_modes = {"ReadWriteMany"};
  Apply(many);
  api::PersistentVolume gold = NewVolume("gold", 5);
  gold.spec.volume_attributes_class_name = "gold";
  Apply(gold);
  api::PersistentVolumeClaim claim = NewClaim("data", 5);
  claim.spec.selector.emplace().match_labels = {{"tier", "front"}};
  Apply(NewVolume("unlabelled", 5));
  Apply(claim);
  Run();
  EXPECT_EQ(Claim("data").spec.volume_name, "");
  api::PersistentVolume labelled = NewVolume("labelled", 5);
  labelled.metadata.labels = {{"tier", "front"}};
  Apply(labelled);
  Run();
  EXPECT_EQ(Claim("data").spec.volume_name, "labelled");
}

TEST_F(VolumeControllersTest, AClaimThatWaitsIsBoundOnceAVolumeNamesIt) {
  Apply(NewClass("static", kNoProvisioner, api::kBindWaitForFirstConsumer));
  Apply(NewVolume("v", 5));
  Apply(NewClaim("data", 5));
  Run();
  EXPECT_EQ(Claim("data").spec.volume_name, "");
  EXPECT_EQ(Volume("v").status.phase, "Available");
  api::PersistentVolume taken = Volume("v");
  taken.spec.claim_ref = {"PersistentVolumeClaim", "default", "data", "uid-data", "v1", ""};
  Apply(taken);
  Run();
  EXPECT_EQ(Claim("data").spec.volume_name, "v");
  EXPECT_EQ(Volume("v").status.phase, "Bound");
  EXPECT_TRUE(IsFullyBound(Claim("data")));
}

TEST_F(VolumeControllersTest, AVolumeOfAnotherClaimOfThatNameIsNotTaken) {
  api::PersistentVolume volume = NewVolume("v", 5);
  volume.spec.claim_ref = {"PersistentVolumeClaim", "default", "data", "uid-before", "v1", ""};
  volume.status.phase = "Bound";
  Apply(volume);
  api::PersistentVolumeClaim claim = NewClaim("data", 5);
  claim.spec.volume_name = "v";
  Apply(claim);
  Run();
  EXPECT_FALSE(IsFullyBound(Claim("data")));
  EXPECT_EQ(Volume("v").status.phase, "Released");
}

TEST_F(VolumeControllersTest, AnImmediateClassMakesAVolumeWhereItsDriverIs) {
  ApplyZones();
  Apply(NewClass("made", kDriver, api::kBindImmediate));
  Apply(NewClaim("data", 5, "made"));
  Run();
  const api::PersistentVolume volume = Volume("pvc-uid-data");
  EXPECT_EQ(volume.status.phase, "Bound");
  EXPECT_EQ(volume.spec.csi->driver, kDriver);
  EXPECT_EQ(volume.spec.capacity, Claim("data").spec.resources.requests);
  EXPECT_EQ(volume.spec.persistent_volume_reclaim_policy, "Delete");
  EXPECT_EQ(volume.spec.node_affinity->required->node_selector_terms.at(0).match_expressions,
            (std::vector<api::NodeSelectorRequirement>{{"zone", "In", {"a"}}}));
  EXPECT_EQ(Claim("data").spec.volume_name, "pvc-uid-data");
  EXPECT_TRUE(IsFullyBound(Claim("data")));
}

TEST_F(VolumeControllersTest, AClaimThatWaitsGetsAVolumeForItsSelectedNode) {
  ApplyZones();
  Apply(NewClass("made", kDriver, api::kBindWaitForFirstConsumer));
  Apply(NewClaim("data", 5, "made"));
  Run();
  EXPECT_THAT(VolumeNames(), IsEmpty());
  Apply(Selected(Claim("data"), "b"));
  Run();
  EXPECT_EQ(Volume("pvc-uid-data")
                .spec.node_affinity->required->node_selector_terms.at(0)
                .match_expressions,
            (std::vector<api::NodeSelectorRequirement>{{"zone", "In", {"b"}}}));
  EXPECT_TRUE(IsFullyBound(Claim("data")));
}

TEST_F(VolumeControllersTest, ASelectedNodeGetsANewVolumeThoughOneIsFree) {
  ApplyZones();
  Apply(NewClass("made", kDriver, api::kBindWaitForFirstConsumer));
  Apply(NewVolume("free", 5, "made"));
  Apply(Selected(NewClaim("data", 1, "made"), "b"));
  Run();
  EXPECT_EQ(Claim("data").spec.volume_name, "pvc-uid-data");
  EXPECT_FALSE(Volume("free").spec.claim_ref);
}

TEST_F(VolumeControllersTest, WithoutTopologyKeysTheClassSaysWhereAVolumeIsReached) {
  Apply(MakeNode("a").Label("zone", "a").Obj());
  api::StorageClass anywhere = NewClass("anywhere", kDriver, api::kBindImmediate);
  Apply(anywhere);
  api::StorageClass zonal = NewClass("zonal", kDriver, api::kBindImmediate);
  zonal.allowed_topologies = {{{{"zone", {"a", "b"}}}}};
  Apply(zonal);
  Apply(NewClaim("one", 5, "anywhere"));
  Apply(NewClaim("two", 5, "zonal"));
  Run();
  EXPECT_EQ(Volume("pvc-uid-one").spec.node_affinity, std::nullopt);
  EXPECT_EQ(Volume("pvc-uid-two")
                .spec.node_affinity->required->node_selector_terms.at(0)
                .match_expressions,
            (std::vector<api::NodeSelectorRequirement>{{"zone", "In", {"a", "b"}}}));
}

TEST_F(VolumeControllersTest, AClassOfAnInTreePluginGetsAVolumeOfThatPlugin) {
  Apply(NewClass("ebs", "kubernetes.io/aws-ebs", "WaitForFirstConsumer"));
  constexpr std::string_view kZone = "topology.kubernetes.io/zone";
  constexpr std::string_view kEbsZone = "topology.ebs.csi.aws.com/zone";
  Apply(MakeNode("a").Label(kZone, "za").Label(kEbsZone, "za").Obj());
  Apply(MakeNode("b").Label(kZone, "zb").Obj());
  Apply(Selected(NewClaim("c1", 5, "ebs"), "a"));
  Apply(Selected(NewClaim("c2", 5, "ebs"), "b"));
  Run();
  const api::PersistentVolume zoned = Volume("pvc-uid-c1");
  ASSERT_TRUE(zoned.spec.aws_elastic_block_store);
  EXPECT_EQ(zoned.spec.aws_elastic_block_store->volume_id, "pvc-uid-c1");
  EXPECT_FALSE(zoned.spec.csi);
  EXPECT_EQ(zoned.metadata.labels, test::MakeLabels({{kZone, "za"}}));
  ASSERT_TRUE(zoned.spec.node_affinity);
  const auto& terms = zoned.spec.node_affinity->required->node_selector_terms;
  ASSERT_EQ(terms.size(), 1u);
  EXPECT_THAT(terms[0].match_expressions,
              ElementsAre(api::NodeSelectorRequirement{std::string(kZone), "In", {"za"}}));
  EXPECT_EQ(Claim("c1").status.phase, api::kClaimBound);
  // The driver does not know the zone.
  EXPECT_TRUE(Volume("pvc-uid-c2").spec.aws_elastic_block_store);
  EXPECT_FALSE(Volume("pvc-uid-c2").spec.node_affinity);
}

TEST_F(VolumeControllersTest, AVolumeTakesRoomAndWithoutRoomTheNodeIsGivenUp) {
  ApplyZones();
  Apply(NewClass("made", kDriver, api::kBindWaitForFirstConsumer));
  api::CSIDriver driver;
  driver.metadata.name = kDriver;
  driver.spec.storage_capacity = true;
  Apply(driver);
  api::CSIStorageCapacity capacity;
  capacity.metadata.namespace_ = "disks";
  capacity.metadata.name = "b";
  capacity.storage_class_name = "made";
  capacity.node_topology.emplace().match_labels = {{"zone", "b"}};
  capacity.capacity = api::Quantity::FromUnits(8);
  Apply(capacity);
  Apply(Selected(NewClaim("first", 5, "made"), "b"));
  Run();
  EXPECT_TRUE(IsFullyBound(Claim("first")));
  EXPECT_EQ(FindIn<api::CSIStorageCapacity>(api_, Kind::kCsiStorageCapacity, "disks/b")
                ->capacity->Value(),
            3);
  Apply(Selected(NewClaim("second", 5, "made"), "b"));
  Apply(Selected(NewClaim("third", 5, "made"), "nowhere"));
  Run();
  EXPECT_FALSE(IsFullyBound(Claim("second")));
  EXPECT_EQ(SelectedNode("second"), "");
  EXPECT_EQ(SelectedNode("third"), "");
  EXPECT_THAT(VolumeNames(), ElementsAre("pvc-uid-first"));
  // As the scheduler compares them: in whole bytes, rounded up.
  capacity.metadata.name = "fraction";
  capacity.capacity = api::Quantity::FromMilli(9500);
  Apply(capacity);
  api::PersistentVolumeClaim fraction = NewClaim("fraction", 0, "made");
  fraction.spec.resources.requests = {{"storage", api::Quantity::FromMilli(9800)}};
  Apply(Selected(fraction, "b"));
  Run();
  EXPECT_TRUE(IsFullyBound(Claim("fraction")));
}

TEST_F(VolumeControllersTest, AClaimWithoutAClassGetsTheDefaultOneOnceThereIsOne) {
  api::PersistentVolumeClaim claim = NewClaim("data", 5);
  claim.spec.storage_class_name.reset();
  Apply(claim);
  Run();
  EXPECT_FALSE(IsFullyBound(Claim("data")));
  api::StorageClass storage_class = NewClass("made", kDriver, api::kBindImmediate);
  storage_class.metadata.annotations = {{"storageclass.kubernetes.io/is-default-class", "true"}};
  Apply(storage_class);
  Run();
  EXPECT_EQ(Claim("data").spec.storage_class_name, "made");
  EXPECT_TRUE(IsFullyBound(Claim("data")));
}

TEST_F(VolumeControllersTest, AnEphemeralVolumeGetsAClaimOfThePod) {
  api::Volume volume;
  volume.name = "scratch";
  volume.ephemeral.emplace().volume_claim_template.emplace().spec = NewClaim("x", 5).spec;
  const api::Pod pod = MakePod().Name("web").Uid("u").Volume(volume);
  Apply(pod);
  Run();
  EXPECT_TRUE(IsMadeFor(Claim("web-scratch"), pod));
  EXPECT_EQ(Claim("web-scratch").spec, NewClaim("x", 5).spec);
  // What is there stays.
  api::PersistentVolumeClaim changed = Claim("web-scratch");
  changed.metadata.labels = {{"mine", "yes"}};
  Apply(changed);
  Apply(pod);
  Run();
  EXPECT_EQ(Claim("web-scratch").metadata.labels, changed.metadata.labels);
}

TEST_F(VolumeControllersTest, AVolumeThatForgotItsClaimIsBoundToItAgain) {
  Apply(NewVolume("disk", 5));
  Apply(NewClaim("data", 5));
  Run();
  api::PersistentVolume forgetful = Volume("disk");
  forgetful.spec.claim_ref.reset();
  Apply(forgetful);
  Run();
  EXPECT_EQ(Volume("disk").spec.claim_ref->uid, "uid-data");
  EXPECT_EQ(Volume("disk").status.phase, "Bound");
  EXPECT_EQ(Claim("data").status.phase, "Bound");
}

TEST_F(VolumeControllersTest, WhatLosesItsOtherHalfIsLostReleasedOrDeleted) {
  Apply(NewClass("made", kDriver, api::kBindImmediate));
  Apply(NewVolume("kept", 5));
  Apply(NewClaim("kept", 5));
  Apply(NewClaim("made", 5, "made"));
  Apply(NewVolume("gone", 9));
  Apply(NewClaim("lost", 9));
  Run();
  ASSERT_EQ(Claim("lost").spec.volume_name, "gone");
  api_.Delete(Kind::kPersistentVolumeClaim, "default/kept");
  api_.Delete(Kind::kPersistentVolumeClaim, "default/made");
  api_.Delete(Kind::kPersistentVolume, "gone");
  Run();
  EXPECT_EQ(Volume("kept").status.phase, "Released");
  EXPECT_EQ(Claim("lost").status.phase, "Lost");
  EXPECT_THAT(VolumeNames(), ElementsAre("kept"));
}

}  // namespace
}  // namespace berth::simulator
