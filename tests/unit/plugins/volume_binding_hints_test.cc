// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "tests/unit/plugins/volume_binding_fixture.h"

namespace berth::plugins {
namespace {

using namespace berth::test;

template <typename T>
api::ObjectPtr Shared(const T& object) {
  return std::make_shared<const T>(object);
}

class VolumeBindingHintsTest : public testing::Test, public VolumeBindingFixture {
 protected:
  std::string HintOf(EventResource resource, ActionType action, const api::Pod& pod,
                     const api::ObjectPtr& before, const api::ObjectPtr& after) {
    return Hint(plugin(), {resource, action}, pod, before, after);
  }
};

TEST_F(VolumeBindingHintsTest, AStorageClassHelpsWhenItComesOrAllowsOtherTopologies) {
  const auto resource = EventResource::kStorageClass;
  const api::StorageClass plain = MakeWaitingClass("wait", "p");
  api::StorageClass zonal = plain;
  zonal.allowed_topologies = {{.match_label_expressions = {{"zone", {"east"}}}}};
  api::StorageClass labelled = plain;
  labelled.metadata.labels = MakeLabels({{"a", "b"}});
  EXPECT_EQ(HintOf(resource, action::kAdd, MakePod(), {}, Shared(plain)), "queue");
  EXPECT_EQ(HintOf(resource, action::kUpdate, MakePod(), Shared(plain), Shared(zonal)), "queue");
  EXPECT_EQ(HintOf(resource, action::kUpdate, MakePod(), Shared(plain), Shared(labelled)), "skip");
  EXPECT_EQ(HintOf(resource, action::kDelete, MakePod(), Shared(plain), {}), "");
  EXPECT_EQ(HintOf(resource, action::kAdd, MakePod(), {}, Object(MakeNode("n"))), "error");
}

TEST_F(VolumeBindingHintsTest, AClaimHelpsThePodsThatNameIt) {
  const auto resource = EventResource::kPersistentVolumeClaim;
  const api::Pod pod = MakePod().Name("web").ClaimVolume("a").EphemeralVolume("scratch");
  const auto hint = [&](const ClaimBuilder& claim) {
    return HintOf(resource, action::kAdd, pod, {}, Shared(claim.Obj()));
  };
  EXPECT_EQ(hint(MakeClaim("a", "wait")), "queue");
  EXPECT_EQ(hint(MakeClaim("web-scratch", "wait")), "queue");
  EXPECT_EQ(hint(MakeClaim("scratch", "wait")), "skip");
  ClaimBuilder elsewhere = MakeClaim("a", "wait");
  elsewhere->metadata.namespace_ = "other";
  EXPECT_EQ(hint(elsewhere), "skip");
  EXPECT_EQ(HintOf(resource, action::kUpdate, pod, Shared(MakeClaim("a", "wait").Obj()),
                   Shared(MakeClaim("a", "wait").BoundTo("v").Obj())),
            "queue");
}

TEST_F(VolumeBindingHintsTest, AnyVolumeAndAnyNodesLabelsHelp) {
  EXPECT_EQ(HintOf(EventResource::kPersistentVolume, action::kAdd, MakePod(), {},
                   Shared(MakeVolume("v", "").Obj())),
            "queue");
  EXPECT_EQ(HintOf(EventResource::kPersistentVolume, action::kDelete, MakePod(),
                   Shared(MakeVolume("v", "").Obj()), {}),
            "");
  EXPECT_EQ(Hint(plugin(), kNodeAdd, MakePod(), {}, Object(MakeNode("n"))), "queue");
  EXPECT_EQ(Hint(plugin(), kNodeLabel, MakePod(), Object(MakeNode("n")), Object(MakeNode("n"))),
            "queue");
  EXPECT_EQ(Hint(plugin(), kNodeTaint, MakePod(), Object(MakeNode("n")), Object(MakeNode("n"))),
            "");
}

TEST_F(VolumeBindingHintsTest, ACsiNodeHelpsWhenItComesOrPluginsAreMigrated) {
  api::CSINode before;
  api::CSINode after;
  after.metadata.annotations = {
      {"storage.alpha.kubernetes.io/migrated-plugins", "kubernetes.io/aws-ebs"}};
  const auto resource = EventResource::kCsiNode;
  EXPECT_EQ(HintOf(resource, action::kAdd, MakePod(), {}, Shared(before)), "queue");
  EXPECT_EQ(HintOf(resource, action::kUpdate, MakePod(), Shared(before), Shared(after)), "queue");
  EXPECT_EQ(HintOf(resource, action::kUpdate, MakePod(), Shared(after), Shared(after)), "skip");
}

TEST_F(VolumeBindingHintsTest, ACsiDriverHelpsPodsWithItsInlineVolumesWhenItStopsTellingOfRoom) {
  api::CSIDriver tells;
  tells.metadata.name = "csi.example.com";
  tells.spec.storage_capacity = true;
  api::CSIDriver silent = tells;
  silent.spec.storage_capacity = false;
  api::Volume volume;
  volume.csi.emplace().driver = "csi.example.com";
  const api::Pod pod = MakePod().Volume(volume);
  const auto resource = EventResource::kCsiDriver;
  EXPECT_EQ(HintOf(resource, action::kUpdate, pod, Shared(tells), Shared(silent)), "queue");
  EXPECT_EQ(HintOf(resource, action::kUpdate, MakePod(), Shared(tells), Shared(silent)), "skip");
  EXPECT_EQ(HintOf(resource, action::kUpdate, pod, Shared(silent), Shared(tells)), "skip");
  EXPECT_EQ(HintOf(resource, action::kUpdate, pod, Shared(tells), Shared(tells)), "skip");
  EXPECT_EQ(HintOf(resource, action::kAdd, pod, {}, Shared(silent)), "");
}

TEST_F(VolumeBindingHintsTest, ACapacityHelpsWhenItComesOrLargerVolumesFit) {
  const auto capacity = [](std::optional<int64_t> size, std::optional<int64_t> largest) {
    api::CSIStorageCapacity made;
    if (size) made.capacity = api::Quantity::FromUnits(*size);
    if (largest) made.maximum_volume_size = api::Quantity::FromUnits(*largest);
    return Shared(made);
  };
  const auto none = std::nullopt;
  const auto hint = [&](const api::ObjectPtr& before, const api::ObjectPtr& after) {
    return HintOf(EventResource::kCsiStorageCapacity, action::kUpdate, MakePod(), before, after);
  };
  EXPECT_EQ(
      HintOf(EventResource::kCsiStorageCapacity, action::kAdd, MakePod(), {}, capacity(none, none)),
      "queue");
  EXPECT_EQ(hint(capacity(5, none), capacity(6, none)), "queue");
  EXPECT_EQ(hint(capacity(6, none), capacity(6, none)), "skip");
  EXPECT_EQ(hint(capacity(6, none), capacity(5, none)), "skip");
  EXPECT_EQ(hint(capacity(none, none), capacity(0, none)), "queue");
  EXPECT_EQ(hint(capacity(6, none), capacity(none, none)), "skip");
  EXPECT_EQ(hint(capacity(5, 4), capacity(9, 4)), "skip") << "the largest volume counts";
  EXPECT_EQ(hint(capacity(5, 4), capacity(5, 5)), "queue");
}

}  // namespace
}  // namespace berth::plugins
