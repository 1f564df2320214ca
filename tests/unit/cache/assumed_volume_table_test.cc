// SPDX-License-Identifier: Apache-2.0
#include "src/cache/assumed_volume_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/support/volume_builders.h"

namespace berth::cache {
namespace {

using namespace berth::test;
using testing::ElementsAre;

class AssumedVolumeTableTest : public testing::Test {
 protected:
  // As the event handlers do.
  void Show(const api::ObjectPtr& object) {
    shown_.Set(object);
    table_.Expire(object);
  }
  void Remove(const api::ObjectPtr& object) {
    shown_.Remove(object);
    table_.Expire(object);
  }
  // The claim that the volume is bound to, or "".
  std::string ClaimOf(std::string_view volume) {
    const auto* found = table_.FindVolume(volume);
    return found == nullptr || !found->spec.claim_ref ? "" : found->spec.claim_ref->name;
  }
  std::string NodeOf(std::string_view claim) {
    const auto* found = table_.FindClaim("default", claim);
    const auto* node = found == nullptr
                           ? nullptr
                           : api::Find(found->metadata.annotations, kSelectedNodeAnnotation);
    return node == nullptr ? "" : *node;
  }

  ObjectTables shown_;
  AssumedVolumeTable table_{shown_};
};

TEST_F(AssumedVolumeTableTest, WhatIsAssumedHoldsUntilItIsRestored) {
  Show(MakeVolume("v", "fast").Ptr());
  Show(MakeClaim("c", "fast").Ptr());
  EXPECT_EQ(ClaimOf("v"), "");
  const auto volume = MakeVolume("v", "fast").Claim("c").Ptr();
  const auto claim = MakeClaim("c", "fast").SelectedNode("n").Ptr();
  ASSERT_TRUE(table_.Assume(volume));
  ASSERT_TRUE(table_.Assume(claim));
  EXPECT_EQ(ClaimOf("v"), "c");
  EXPECT_EQ(NodeOf("c"), "n");
  EXPECT_EQ(shown_.Find<api::PersistentVolume>("v")->spec.claim_ref, std::nullopt)
      << "others see what the API server shows";
  table_.Restore(*volume);
  table_.Restore(*claim);
  table_.Restore(*claim);
  EXPECT_EQ(ClaimOf("v"), "");
  EXPECT_EQ(NodeOf("c"), "");
  EXPECT_EQ(table_.size(), 0u);
}

TEST_F(AssumedVolumeTableTest, ANewerVersionEndsWhatIsAssumedAndTheSameDoesNot) {
  Show(MakeVolume("v", "fast").Ptr());
  ASSERT_TRUE(table_.Assume(MakeVolume("v", "fast").Claim("c").Ptr()));
  Show(MakeVolume("v", "fast").Ptr());  // a relist
  EXPECT_EQ(ClaimOf("v"), "c");
  Show(MakeVolume("v", "fast").Version("2").Ptr());
  EXPECT_EQ(ClaimOf("v"), "");
  EXPECT_EQ(table_.size(), 0u);
}

TEST_F(AssumedVolumeTableTest, ADeletionEndsWhatIsAssumed) {
  Show(MakeVolume("v", "fast").Ptr());
  ASSERT_TRUE(table_.Assume(MakeVolume("v", "fast").Claim("c").Ptr()));
  Remove(MakeVolume("v", "fast").Ptr());
  EXPECT_EQ(table_.FindVolume("v"), nullptr);
  EXPECT_EQ(table_.size(), 0u);
}

TEST_F(AssumedVolumeTableTest, OnlyTheVersionThatIsShownCanBeAssumed) {
  EXPECT_EQ(table_.Assume(MakeVolume("v", "fast").Ptr()).error().message,
            "persistentvolumes \"v\" not found");
  Show(MakeVolume("v", "fast").Version("7").Ptr());
  EXPECT_EQ(table_.Assume(MakeVolume("v", "fast").Ptr()).error().message,
            "\"v\" is out of sync (stored: 7, assume: 1)");
  EXPECT_EQ(table_.Assume(MakeClaim("c", "fast").Ptr()).error().message,
            "persistentvolumeclaims \"default/c\" not found");
}

// The one that assumed it first fails late: what the second one assumed stays.
TEST_F(AssumedVolumeTableTest, OneThatWasAssumedTwiceIsRestoredOnlyByTheSecond) {
  Show(MakeVolume("v", "fast").Ptr());
  const auto first = MakeVolume("v", "fast").Claim("a").Ptr();
  const auto second = MakeVolume("v", "fast").Claim("b").Ptr();
  ASSERT_TRUE(table_.Assume(first));
  ASSERT_TRUE(table_.Assume(second));
  table_.Restore(*first);
  EXPECT_EQ(ClaimOf("v"), "b");
  table_.Restore(*second);
  EXPECT_EQ(ClaimOf("v"), "");
}

TEST_F(AssumedVolumeTableTest, WhatIsWrittenStaysUntilAnotherVersionIsShown) {
  Show(MakeVolume("v", "fast").Ptr());
  Show(MakeClaim("c", "fast").Ptr());
  const auto volume = MakeVolume("v", "fast").Claim("c").Ptr();
  const auto claim = MakeClaim("c", "fast").SelectedNode("n").Ptr();
  ASSERT_TRUE(table_.Assume(volume));
  ASSERT_TRUE(table_.Assume(claim));
  table_.NoteWritten({VolumeWritten::Kind::kVolume, "v", "1"});
  table_.NoteWritten({VolumeWritten::Kind::kVolume, "w", "1"});
  table_.NoteWritten({VolumeWritten::Kind::kClaim, "default/c", "0"});
  table_.Restore(*volume);
  table_.Restore(*claim);
  EXPECT_EQ(ClaimOf("v"), "c");
  EXPECT_EQ(NodeOf("c"), "") << "what was written is of another version";
  Show(MakeVolume("v", "fast").Version("2").Ptr());
  EXPECT_EQ(table_.size(), 0u);

  ASSERT_TRUE(table_.Assume(claim));
  table_.NoteWritten({VolumeWritten::Kind::kClaim, "default/c", "1"});
  table_.Restore(*claim);
  EXPECT_EQ(NodeOf("c"), "n");
}

TEST_F(AssumedVolumeTableTest, WhatIsKeptStaysWhereItIsRestoredOrAssumedAgain) {
  Show(MakeVolume("v", "fast").Ptr());
  Show(MakeClaim("c", "fast").Ptr());
  EXPECT_FALSE(table_.Keep(*table_.FindVolume("v"))) << "it is as it is shown";
  EXPECT_FALSE(table_.Keep(*table_.FindClaim("default", "c")));
  auto volume = MakeVolume("v", "fast").Claim("c").Ptr();
  auto claim = MakeClaim("c", "fast").SelectedNode("n").Ptr();
  const std::weak_ptr<const api::PersistentVolume> volume_lives = volume;
  const std::weak_ptr<const api::PersistentVolumeClaim> claim_lives = claim;
  ASSERT_TRUE(table_.Assume(volume));
  ASSERT_TRUE(table_.Assume(claim));
  auto kept_volume = table_.Keep(*table_.FindVolume("v"));
  auto kept_claim = table_.Keep(*table_.FindClaim("default", "c"));
  table_.Restore(*volume);
  ASSERT_TRUE(table_.Assume(MakeClaim("c", "fast").SelectedNode("m").Ptr()));
  EXPECT_FALSE(table_.Keep(*claim)) << "it is another one by now";
  volume.reset();
  claim.reset();
  EXPECT_FALSE(volume_lives.expired());
  EXPECT_FALSE(claim_lives.expired());
  kept_volume.reset();
  kept_claim.reset();
  EXPECT_TRUE(volume_lives.expired());
  EXPECT_TRUE(claim_lives.expired());
}

TEST_F(AssumedVolumeTableTest, TheVolumesOfAClassComeByNameAndAsAssumed) {
  for (const char* name : {"b", "a", "c"}) Show(MakeVolume(name, "fast").Ptr());
  Show(MakeVolume("d", "slow").Ptr());
  ASSERT_TRUE(table_.Assume(MakeVolume("b", "fast").Claim("c").Ptr()));
  std::vector<std::string> seen;
  table_.ForEachVolumeOfClass("fast", [&](const api::PersistentVolume& volume) {
    seen.push_back(volume.metadata.name + (volume.spec.claim_ref ? " taken" : ""));
  });
  EXPECT_THAT(seen, ElementsAre("a", "b taken", "c"));
}

}  // namespace
}  // namespace berth::cache
