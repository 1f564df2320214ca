// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "berth/random.h"
#include "berth/volumes.h"
#include "src/cache/object_tables.h"
#include "tests/unit/cache/plain_rows.h"

namespace berth::cache {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAreArray;

api::PersistentVolume Volume(std::string name, std::string storage_class) {
  api::PersistentVolume volume;
  volume.metadata.name = std::move(name);
  volume.spec.storage_class_name = std::move(storage_class);
  return volume;
}

api::CSIStorageCapacity Capacity(std::string namespace_, std::string name,
                                 std::string storage_class) {
  api::CSIStorageCapacity capacity;
  capacity.metadata.namespace_ = std::move(namespace_);
  capacity.metadata.name = std::move(name);
  capacity.storage_class_name = std::move(storage_class);
  return capacity;
}

api::VolumeAttachment Attachment(std::string name, std::string node) {
  api::VolumeAttachment attachment;
  attachment.metadata.name = std::move(name);
  attachment.spec.node_name = std::move(node);
  return attachment;
}

template <typename T>
auto Into(std::vector<std::string>& names) {
  return [&names](const T& object) { names.push_back(Shown(object.metadata)); };
}

std::vector<std::string> VolumesOf(const Listers& listers, std::string_view storage_class) {
  std::vector<std::string> names;
  listers.ForEachBy<api::PersistentVolume>(storage_class, Into<api::PersistentVolume>(names));
  return names;
}

std::vector<std::string> CapacitiesOf(const Listers& listers, std::string_view storage_class) {
  std::vector<std::string> names;
  listers.ForEachBy<api::CSIStorageCapacity>(storage_class, Into<api::CSIStorageCapacity>(names));
  return names;
}

std::vector<std::string> AttachmentsOf(const Listers& listers, std::string_view node) {
  std::vector<std::string> names;
  listers.ForEachBy<api::VolumeAttachment>(node, Into<api::VolumeAttachment>(names));
  return names;
}

template <typename T>
void Set(ObjectTables& tables, const T& object) {
  tables.Set(std::make_shared<const T>(object));
}

TEST(StorageClassOfTest, TheOldAnnotationGoesBeforeTheField) {
  api::PersistentVolume volume = Volume("a", "fast");
  EXPECT_EQ(StorageClassOf(volume), "fast");
  volume.metadata.annotations = {{std::string(kStorageClassAnnotation), ""}};
  EXPECT_EQ(StorageClassOf(volume), "");
  api::PersistentVolumeClaim claim;
  EXPECT_EQ(StorageClassOf(claim), "");
  claim.spec.storage_class_name = "fast";
  EXPECT_EQ(StorageClassOf(claim), "fast");
  claim.metadata.annotations = {{std::string(kStorageClassAnnotation), "slow"}};
  EXPECT_EQ(StorageClassOf(claim), "slow");
}

TEST(VolumeTablesTest, EachKindIsFoundByItsName) {
  ObjectTables tables;
  Set(tables, Volume("a", ""));
  api::PersistentVolumeClaim claim;
  claim.metadata.namespace_ = "shop";
  claim.metadata.name = "a";
  Set(tables, claim);
  const auto named = []<typename T>(T object) {
    object.metadata.name = "a";
    return object;
  };
  Set(tables, named(api::StorageClass()));
  Set(tables, named(api::CSINode()));
  Set(tables, named(api::CSIDriver()));
  Set(tables, named(api::VolumeAttributesClass()));
  EXPECT_NE(tables.Find<api::PersistentVolume>("a"), nullptr);
  EXPECT_NE(tables.Find<api::PersistentVolumeClaim>("shop", "a"), nullptr);
  EXPECT_EQ(tables.Find<api::PersistentVolumeClaim>("", "a"), nullptr);
  EXPECT_NE(tables.Find<api::StorageClass>("a"), nullptr);
  EXPECT_NE(tables.Find<api::CSINode>("a"), nullptr);
  EXPECT_NE(tables.Find<api::CSIDriver>("a"), nullptr);
  EXPECT_NE(tables.Find<api::VolumeAttributesClass>("a"), nullptr);
  EXPECT_EQ(tables.volumes_generation(), 6u);
  EXPECT_EQ(tables.generation(), 0u);
  EXPECT_EQ(tables.Find<api::StorageClass>("b"), nullptr);
}

TEST(VolumeTablesTest, AVolumeThatChangesItsClassIsFoundUnderTheNewOne) {
  ObjectTables tables;
  Set(tables, Volume("b", "fast"));
  Set(tables, Volume("a", "fast"));
  EXPECT_THAT(VolumesOf(tables, "fast"), ElementsAre("a@", "b@"));
  Set(tables, Volume("a", "slow"));
  EXPECT_THAT(VolumesOf(tables, "fast"), ElementsAre("b@"));
  EXPECT_THAT(VolumesOf(tables, "slow"), ElementsAre("a@"));
  // What is told of its end may be another version.
  tables.Remove(std::make_shared<const api::PersistentVolume>(Volume("a", "fast")));
  EXPECT_THAT(VolumesOf(tables, "slow"), IsEmpty());
  EXPECT_THAT(VolumesOf(tables, "fast"), ElementsAre("b@"));
}

template <typename T>
class VolumeKindsTest : public testing::Test {};
using VolumeKinds =
    testing::Types<api::PersistentVolume, api::PersistentVolumeClaim, api::StorageClass,
                   api::CSINode, api::CSIDriver, api::CSIStorageCapacity, api::VolumeAttachment,
                   api::VolumeAttributesClass>;
TYPED_TEST_SUITE(VolumeKindsTest, VolumeKinds);

TYPED_TEST(VolumeKindsTest, AWriteOfTheVersionAloneIsShownAndNotCounted) {
  ObjectTables tables;
  TypeParam object;
  const auto set = [&] {
    Set(tables, object);
    return tables.volumes_generation();
  };
  EXPECT_EQ(set(), 1u);
  object.metadata.resource_version = "2";
  object.metadata.generation = 2;
  EXPECT_EQ(set(), 1u);
  object.metadata.labels.emplace_back("zone", "a");
  EXPECT_EQ(set(), 2u);
  object.metadata.annotations.emplace_back("bind", "yes");
  EXPECT_EQ(set(), 3u);
  object.metadata.deletion_timestamp = Time();
  EXPECT_EQ(set(), 4u);
  object.metadata.uid = "another";
  EXPECT_EQ(set(), 5u);
  tables.Remove(std::make_shared<const TypeParam>(object));
  EXPECT_EQ(tables.volumes_generation(), 6u);
  tables.Remove(std::make_shared<const TypeParam>(object));
  EXPECT_EQ(tables.volumes_generation(), 6u);
  EXPECT_EQ(tables.generation(), 0u) << "others keep what they derived";
}

TEST(VolumeTablesTest, WhatTheStructsHoldBesidesMetadataIsCounted) {
  ObjectTables tables;
  uint64_t counted = 0;
  const auto counts = [&]<typename T>(const T& object) {
    Set(tables, object);
    return std::exchange(counted, tables.volumes_generation()) != counted;
  };
  api::PersistentVolume volume;
  EXPECT_TRUE(counts(volume));
  volume.status.phase = "Bound";
  EXPECT_TRUE(counts(volume));
  volume.spec.claim_ref.emplace().name = "data";
  EXPECT_TRUE(counts(volume));
  api::PersistentVolumeClaim claim;
  EXPECT_TRUE(counts(claim));
  claim.status.phase = "Lost";
  EXPECT_TRUE(counts(claim));
  api::StorageClass storage_class;
  EXPECT_TRUE(counts(storage_class));
  storage_class.volume_binding_mode = "Immediate";
  EXPECT_TRUE(counts(storage_class));
  api::CSIStorageCapacity capacity;
  EXPECT_TRUE(counts(capacity));
  capacity.capacity = api::Quantity::FromUnits(5);
  EXPECT_TRUE(counts(capacity));
  api::VolumeAttachment attachment;
  EXPECT_TRUE(counts(attachment));
  attachment.status.attached = true;
  EXPECT_TRUE(counts(attachment));
  EXPECT_FALSE(counts(attachment));
}

TEST(VolumeTablesTest, AfterAnyChangesTheIndicesShowWhatPlainListsShow) {
  Random random(7);
  ObjectTables tables;
  PlainRows volumes;
  PlainRows capacities;
  PlainRows attachments;
  const auto letter = [&](uint64_t count) {
    return std::string(1, static_cast<char>('a' + random.Below(count)));
  };
  for (int i = 0; i < 3000; ++i) {
    SCOPED_TRACE(i);
    const bool remove = random.Below(3) == 0;
    const auto change = [&]<typename T>(T object, const std::string& value, PlainRows& rows) {
      object.metadata.resource_version = std::to_string(i);
      if (remove) {
        tables.Remove(std::make_shared<const T>(object));
        rows.Remove(object.metadata);
      } else {
        tables.Set(std::make_shared<const T>(object));
        rows.Set(object.metadata, value);
      }
    };
    const std::string name = letter(5);
    const std::string value = letter(2);
    switch (random.Below(3)) {
      case 0:
        change(Volume(name, value), value, volumes);
        break;
      case 1:
        change(Capacity(letter(2), name, value), value, capacities);
        break;
      default:
        change(Attachment(name, value), value, attachments);
        break;
    }
    std::vector<std::string> all;
    for (const char* of : {"a", "b"}) {
      ASSERT_EQ(VolumesOf(tables, of), volumes.Of(of));
      ASSERT_EQ(CapacitiesOf(tables, of), capacities.Of(of));
      ASSERT_EQ(AttachmentsOf(tables, of), attachments.Of(of));
      std::ranges::move(volumes.Of(of), std::back_inserter(all));
    }
    std::vector<std::string> visited;
    tables.ForEach<api::PersistentVolume>(Into<api::PersistentVolume>(visited));
    ASSERT_THAT(visited, UnorderedElementsAreArray(all));
  }
}

}  // namespace
}  // namespace berth::cache
