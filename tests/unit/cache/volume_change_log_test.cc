// SPDX-License-Identifier: Apache-2.0
#include "src/cache/volume_change_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "src/cache/object_tables.h"

namespace berth::cache {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

template <typename T>
std::shared_ptr<const T> Named(std::string name, std::string namespace_ = "") {
  auto object = std::make_shared<T>();
  object->metadata.name = std::move(name);
  object->metadata.namespace_ = std::move(namespace_);
  return object;
}

std::shared_ptr<const api::VolumeAttachment> Attachment(std::string name, std::string node) {
  auto attachment = std::make_shared<api::VolumeAttachment>();
  attachment->metadata.name = std::move(name);
  attachment->spec.node_name = std::move(node);
  return attachment;
}

std::string TextOf(const VolumeChange& change) {
  constexpr const char* kKinds[] = {"volume", "claim", "class", "csi-node", "attachment", "other"};
  return std::string(kKinds[static_cast<size_t>(change.kind)]) + " " + change.namespace_ + "/" +
         change.name;
}

std::vector<std::string> Since(const Listers& listers, uint64_t generation) {
  std::vector<std::string> changes;
  EXPECT_TRUE(listers.VolumesChangedSince(
      generation, [&](const VolumeChange& change) { changes.push_back(TextOf(change)); }));
  return changes;
}

TEST(VolumeChangeLogTest, TellsWhichObjectsCameWentAndChanged) {
  ObjectTables tables;
  EXPECT_THAT(Since(tables, 0), IsEmpty());
  tables.Set(Named<api::PersistentVolumeClaim>("c", "ns"));
  tables.Set(Named<api::PersistentVolume>("v"));
  tables.Set(Named<api::StorageClass>("s"));
  tables.Set(Named<api::CSINode>("n"));
  tables.Set(Named<api::CSIDriver>("d"));
  tables.Set(Named<api::Namespace>("ns"));
  EXPECT_THAT(Since(tables, 0), UnorderedElementsAre("claim ns/c", "volume /v", "class /s",
                                                     "csi-node /n", "other /d"));
  const uint64_t generation = tables.volumes_generation();
  EXPECT_EQ(generation, 5u);
  EXPECT_THAT(Since(tables, generation), IsEmpty());
  tables.Set(Named<api::PersistentVolume>("v"));  // nothing is different
  EXPECT_THAT(Since(tables, generation), IsEmpty());
  tables.Remove(Named<api::PersistentVolumeClaim>("c", "ns"));
  EXPECT_THAT(Since(tables, generation), ElementsAre("claim ns/c"));
}

TEST(VolumeChangeLogTest, AnAttachmentIsNamedByItsNodes) {
  ObjectTables tables;
  tables.Set(Attachment("a", "n1"));
  EXPECT_THAT(Since(tables, 0), ElementsAre("attachment /n1"));
  tables.Set(Attachment("a", "n2"));
  EXPECT_THAT(Since(tables, 1), UnorderedElementsAre("attachment /n1", "attachment /n2"));
  tables.Remove(Attachment("a", ""));
  EXPECT_THAT(Since(tables, 2), ElementsAre("attachment /n2"));
}

TEST(VolumeChangeLogTest, WhatIsForgottenIsSaid) {
  ObjectTables tables;
  for (size_t i = 0; i < VolumeChangeLog::kCapacity + 2; ++i) {
    tables.Set(Named<api::PersistentVolume>("v" + std::to_string(i)));
  }
  const auto told = [&](uint64_t generation) {
    return tables.VolumesChangedSince(generation, [](const VolumeChange&) {});
  };
  EXPECT_FALSE(told(0));
  EXPECT_FALSE(told(1));
  EXPECT_TRUE(told(2));
  EXPECT_EQ(Since(tables, 2).size(), VolumeChangeLog::kCapacity);
  EXPECT_FALSE(told(tables.volumes_generation() + 1));
}

}  // namespace
}  // namespace berth::cache
