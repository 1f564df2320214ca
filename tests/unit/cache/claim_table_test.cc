// SPDX-License-Identifier: Apache-2.0
#include "src/cache/claim_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "berth/random.h"
#include "src/cache/object_tables.h"
#include "tests/support/builders.h"
#include "tests/support/device_builders.h"

namespace berth::cache {
namespace {

using test::MakeDeviceClaim;
using testing::ElementsAre;
using testing::IsEmpty;
using Existence = ClaimTracker::Existence;
using Sharers = ClaimTracker::Sharers;

class ClaimTableTest : public testing::Test {
 protected:
  // As the event handlers do.
  void Show(ClaimPtr claim) {
    shown_.Set(claim);
    table_.Show(std::move(claim));
  }
  void Remove(const ClaimPtr& claim) {
    shown_.Remove(claim);
    table_.Remove(*claim);
  }
  // Which devices are held now, as the changes since the last call tell it.
  std::vector<std::string> Held() {
    const auto of = [](const ClaimPtr& claim) {
      std::vector<std::string> devices;
      if (claim == nullptr) return devices;
      for (const auto& result : claim->status.allocation->devices.results) {
        devices.push_back(result.pool + "/" + result.device);
      }
      return devices;
    };
    EXPECT_TRUE(table_.ChangedSince(seen_, [&](const ClaimPtr& before, const ClaimPtr& after) {
      for (const auto& device : of(before)) held_.erase(held_.find(device));
      for (const auto& device : of(after)) held_.insert(device);
    }));
    seen_ = table_.generation();
    std::multiset<std::string> holders;
    table_.ForEachHolder([&](const ClaimPtr& claim) {
      for (const auto& device : of(claim)) holders.insert(device);
    });
    EXPECT_EQ(holders, held_);
    return {held_.begin(), held_.end()};
  }
  std::string VersionOf(std::string_view name) const {
    const ClaimPtr claim = table_.Find("default", name);
    return claim == nullptr ? "" : claim->metadata.resource_version;
  }

  ObjectTables shown_;
  ClaimTable table_{shown_};
  uint64_t seen_ = 0;
  std::multiset<std::string> held_;
};

TEST_F(ClaimTableTest, AnAnswerToAWriteCountsUntilSomethingAsNewIsShown) {
  EXPECT_FALSE(table_.Assume(MakeDeviceClaim("c").Version("2").Ptr())) << "never shown";
  Show(MakeDeviceClaim("c").Ptr());
  ASSERT_TRUE(table_.Assume(MakeDeviceClaim("c").Version("10").Allocated("n", "gpu-0").Ptr()));
  EXPECT_EQ(VersionOf("c"), "10");
  EXPECT_THAT(Held(), ElementsAre("n/gpu-0"));
  // What was on its way before the write is older, though it sorts after as text.
  Show(MakeDeviceClaim("c").Version("9").Ptr());
  EXPECT_EQ(VersionOf("c"), "10");
  EXPECT_THAT(Held(), ElementsAre("n/gpu-0"));
  EXPECT_FALSE(table_.Assume(MakeDeviceClaim("c").Version("9").Ptr()));
  Show(MakeDeviceClaim("c").Version("10").Allocated("n", "gpu-0").Ptr());
  EXPECT_EQ(table_.assumed(), 0u);
  const uint64_t quiet = table_.generation();
  EXPECT_THAT(Held(), ElementsAre("n/gpu-0"));
  EXPECT_EQ(table_.generation(), quiet);
  Show(MakeDeviceClaim("c").Version("11").Ptr());
  EXPECT_THAT(Held(), IsEmpty());
}

TEST_F(ClaimTableTest, WhatIsPendingHoldsDevicesUntilTheLastPodLetsGo) {
  Show(MakeDeviceClaim("c").Ptr());
  const auto allocated = MakeDeviceClaim("c").Allocated("n", "gpu-0").Ptr();
  ASSERT_TRUE(table_.AddPending(allocated, Existence::kExists));
  ASSERT_TRUE(
      table_.AddPending(MakeDeviceClaim("c").Allocated("n", "gpu-1").Ptr(), Existence::kExists));
  ASSERT_NE(table_.FindPending("default/c"), nullptr);
  EXPECT_EQ(*table_.FindPending("default/c"), *allocated->status.allocation);
  EXPECT_EQ(VersionOf("c"), "1");
  EXPECT_THAT(Held(), ElementsAre("n/gpu-0"));
  EXPECT_FALSE(table_.RemovePending("default/c", Sharers::kOne));
  EXPECT_THAT(Held(), ElementsAre("n/gpu-0"));
  EXPECT_TRUE(table_.RemovePending("default/c", Sharers::kOne));
  EXPECT_FALSE(table_.RemovePending("default/c", Sharers::kOne));
  EXPECT_EQ(table_.FindPending("default/c"), nullptr);
  EXPECT_THAT(Held(), IsEmpty());
}

TEST_F(ClaimTableTest, NoDeviceIsHeldTwiceWhileAWriteIsBothPendingAndAnswered) {
  Show(MakeDeviceClaim("c").Ptr());
  ASSERT_TRUE(
      table_.AddPending(MakeDeviceClaim("c").Allocated("n", "gpu-0").Ptr(), Existence::kExists));
  ASSERT_TRUE(table_.Assume(MakeDeviceClaim("c").Version("2").Allocated("n", "gpu-0").Ptr()));
  EXPECT_THAT(Held(), ElementsAre("n/gpu-0"));
  EXPECT_TRUE(table_.RemovePending("default/c", Sharers::kAll));
  EXPECT_THAT(Held(), ElementsAre("n/gpu-0"));
}

TEST_F(ClaimTableTest, AClaimThatIsAllocatedByNowOrGoneBecomesNotPending) {
  Show(MakeDeviceClaim("c").Allocated("n", "gpu-0").Ptr());
  ASSERT_TRUE(
      table_.AddPending(MakeDeviceClaim("c").Allocated("n", "gpu-1").Ptr(), Existence::kExists));
  EXPECT_EQ(table_.pending(), 0u);
  EXPECT_THAT(Held(), ElementsAre("n/gpu-0"));
  const auto gone =
      table_.AddPending(MakeDeviceClaim("d").Allocated("n", "gpu-1").Ptr(), Existence::kExists);
  ASSERT_FALSE(gone);
  EXPECT_THAT(gone.error().message, testing::HasSubstr("default/d"));
  ASSERT_TRUE(
      table_.AddPending(MakeDeviceClaim("d").Allocated("n", "gpu-1").Ptr(), Existence::kToBeMade));
  EXPECT_THAT(Held(), ElementsAre("n/gpu-0", "n/gpu-1"));
}

TEST_F(ClaimTableTest, AClaimThatWasMadeAgainUnderItsNameIsAnotherOne) {
  Show(MakeDeviceClaim("c").Uid("a").Allocated("n", "gpu-0").Ptr());
  Show(MakeDeviceClaim("c").Uid("b").Version("2").Ptr());
  EXPECT_THAT(Held(), IsEmpty());
  ASSERT_TRUE(table_.AddPending(MakeDeviceClaim("c").Uid("b").Allocated("n", "gpu-1").Ptr(),
                                Existence::kExists));
  EXPECT_THAT(Held(), ElementsAre("n/gpu-1"));
  Remove(MakeDeviceClaim("c").Uid("b").Ptr());
  EXPECT_THAT(Held(), ElementsAre("n/gpu-1")) << "Unreserve gives it back";
  EXPECT_TRUE(table_.RemovePending("b", Sharers::kOne));
  EXPECT_THAT(Held(), IsEmpty());
}

TEST_F(ClaimTableTest, OneReservationIsRemovedOnceAtATime) {
  EXPECT_FALSE(table_.IsBeingRemoved("c-uid", "p-uid"));
  EXPECT_TRUE(table_.BeginRemoval("c-uid", "p-uid"));
  EXPECT_FALSE(table_.BeginRemoval("c-uid", "p-uid"));
  EXPECT_TRUE(table_.IsBeingRemoved("c-uid", "p-uid"));
  EXPECT_FALSE(table_.IsBeingRemoved("c-uid", "q-uid"));
  EXPECT_FALSE(table_.IsBeingRemoved("d-uid", "p-uid"));
  table_.EndRemoval("c-uid", "p-uid");
  EXPECT_FALSE(table_.IsBeingRemoved("c-uid", "p-uid"));
}

TEST_F(ClaimTableTest, TheClaimOfExtendedResourcesIsFoundByItsPod) {
  const api::Pod pod = *test::MakePod().Name("p").Uid("pod-uid").Ptr();
  EXPECT_EQ(table_.FindExtendedResourceClaim(pod), nullptr);
  Show(MakeDeviceClaim("a").Owner("p", "pod-uid").Ptr());
  EXPECT_EQ(table_.FindExtendedResourceClaim(pod), nullptr);
  Show(MakeDeviceClaim("b")
           .Owner("p", "pod-uid")
           .Annotation(api::kExtendedResourceClaimAnnotation, "true")
           .Ptr());
  ASSERT_NE(table_.FindExtendedResourceClaim(pod), nullptr);
  EXPECT_EQ(table_.FindExtendedResourceClaim(pod)->metadata.name, "b");
}

TEST_F(ClaimTableTest, ChangesThatAreForgottenAreNotTold) {
  Show(MakeDeviceClaim("c").Ptr());
  for (size_t i = 0; i <= ClaimTable::kRememberedChanges; ++i) {
    ASSERT_TRUE(
        table_.AddPending(MakeDeviceClaim("c").Allocated("n", "gpu-0").Ptr(), Existence::kExists));
    ASSERT_TRUE(table_.RemovePending("default/c", Sharers::kOne));
  }
  int told = 0;
  const auto count = [&](const ClaimPtr&, const ClaimPtr&) { ++told; };
  EXPECT_FALSE(table_.ChangedSince(0, count));
  EXPECT_EQ(told, 0);
  EXPECT_TRUE(table_.ChangedSince(table_.generation() - 3, count));
  EXPECT_EQ(told, 3);
  EXPECT_FALSE(table_.ChangedSince(table_.generation() + 1, count));
}

TEST_F(ClaimTableTest, AsManyChangesAreRememberedAsClaimsHoldDevices) {
  const auto show = [this](size_t i) {
    Show(MakeDeviceClaim("c" + std::to_string(i)).Allocated("n", "gpu-" + std::to_string(i)).Ptr());
  };
  constexpr size_t kMany = 2 * ClaimTable::kRememberedChanges;
  for (size_t i = 0; i < kMany; ++i) show(i);
  const auto ignore = [](const ClaimPtr&, const ClaimPtr&) {};
  EXPECT_TRUE(table_.ChangedSince(0, ignore));
  for (size_t i = 1; i < kMany; ++i) {
    table_.Remove(*MakeDeviceClaim("c" + std::to_string(i)).Ptr());
  }
  const uint64_t left = table_.generation() - ClaimTable::kRememberedChanges;
  EXPECT_TRUE(table_.ChangedSince(left, ignore));
  EXPECT_FALSE(table_.ChangedSince(left - 1, ignore));
}

TEST_F(ClaimTableTest, ChangesAddUpToWhatIsHeldWhateverHappens) {
  Random random(7);
  uint64_t version = 1;
  for (int step = 0; step < 3000; ++step) {
    const std::string name = "c" + std::to_string(random.Below(4));
    const std::string uid = "default/" + name;
    const std::string device = "gpu-" + std::to_string(random.Below(3));
    const auto make = [&](bool allocated) {
      auto claim = MakeDeviceClaim(name).Version(std::to_string(++version));
      return allocated ? std::move(claim).Allocated("n", device).Ptr() : std::move(claim).Ptr();
    };
    switch (random.Below(5)) {
      case 0:
        Show(make(random.Below(2) == 0));
        break;
      case 1:
        if (table_.Find("default", name) != nullptr) Remove(make(false));
        break;
      case 2:
        (void)table_.AddPending(make(true), Existence::kExists);
        break;
      case 3:
        table_.RemovePending(uid, random.Below(2) == 0 ? Sharers::kOne : Sharers::kAll);
        break;
      default:
        (void)table_.Assume(make(random.Below(2) == 0));
        break;
    }
    Held();  // compares
    if (HasFailure()) FAIL() << "step " << step;
  }
}

}  // namespace
}  // namespace berth::cache
