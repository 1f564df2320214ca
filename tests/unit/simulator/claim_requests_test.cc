// SPDX-License-Identifier: Apache-2.0
// What plugins write of ResourceClaims, carried out by the API server in memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "src/base/virtual_time.h"
#include "src/binding/claim_writes.h"
#include "src/simulator/memory_api.h"
#include "tests/support/builders.h"
#include "tests/support/device_builders.h"

namespace berth::simulator {
namespace {

using informers::Kind;
using test::MakeDeviceClaim;
using testing::HasSubstr;
using testing::SizeIs;
using Outcome = ClaimAnswer::Outcome;

class ClaimRequestsTest : public testing::Test {
 protected:
  ClaimDone Note() {
    answer_.reset();
    return [this](ClaimAnswer answer) { answer_ = std::move(answer); };
  }
  // What the request came to.
  ClaimAnswer Answer() {
    while (executor_.RunDue()) {
    }
    EXPECT_TRUE(answer_);
    return answer_.value_or(ClaimAnswer());
  }
  std::shared_ptr<const api::ResourceClaim> Claim(const std::string& name) {
    return FindIn<api::ResourceClaim>(api_, Kind::kResourceClaim, "default/" + name);
  }
  static uint64_t VersionOf(const api::ResourceClaim& claim) {
    return std::stoull(claim.metadata.resource_version);
  }

  base::VirtualClock clock_{Time(std::chrono::hours(24))};
  base::VirtualExecutor executor_{clock_};
  std::vector<informers::InformerEvent> told_;
  MemoryApi api_{clock_, executor_,
                 [this](informers::InformerEvent event) { told_.push_back(std::move(event)); }};
  binding::ClaimWrites writes_{api_};
  std::optional<ClaimAnswer> answer_;
};

TEST_F(ClaimRequestsTest, AStatusIsWrittenOnceForEachVersion) {
  api_.Apply(MakeDeviceClaim("a").Version("41").Request("gpu", "gpus").Ptr());
  const auto before = Claim("a");
  writes_.AddFinalizer(*before, Note());
  const ClaimPtr protected_claim = Answer().claim;
  ASSERT_NE(protected_claim, nullptr);
  api::ResourceClaim wanted =
      MakeDeviceClaim("a").Allocated("n1", "gpu-0").OnNode("n1").ReservedFor("p", "p-uid").Obj();
  wanted.metadata = protected_claim->metadata;
  wanted.status.allocation->devices.results[0].consumed_capacity = {
      {"memory", *api::Quantity::Parse("1024Mi")}};
  writes_.WriteStatus(wanted, Note());
  const ClaimPtr written = Answer().claim;
  ASSERT_NE(written, nullptr);
  EXPECT_EQ(written->status, wanted.status);
  EXPECT_GT(VersionOf(*written), 41u);
  EXPECT_EQ(*Claim("a"), *written);
  EXPECT_EQ(Claim("a")->spec, before->spec);
  ASSERT_THAT(told_, SizeIs(2));
  EXPECT_EQ(told_[1].new_object, api::ObjectPtr(Claim("a")));

  writes_.WriteStatus(wanted, Note());
  EXPECT_EQ(Answer().outcome, Outcome::kConflict);
  writes_.Read("default", "a", Note());
  EXPECT_EQ(*Answer().claim, *written);
  wanted.metadata = written->metadata;
  wanted.metadata.uid = "another";
  writes_.WriteStatus(wanted, Note());
  EXPECT_EQ(Answer().outcome, Outcome::kConflict);
  writes_.Read("default", "b", Note());
  EXPECT_EQ(Answer().outcome, Outcome::kNotFound);
}

TEST_F(ClaimRequestsTest, AReservationGoesWhateverTheVersion) {
  api_.Apply(MakeDeviceClaim("a")
                 .Allocated("n1", "gpu-0")
                 .ReservedFor("p", "p-uid")
                 .ReservedFor("q", "q-uid")
                 .Ptr());
  writes_.RemoveReservation(MakeDeviceClaim("a").Version("0").Obj(), "p-uid", Note());
  EXPECT_TRUE(Answer().ok());
  ASSERT_THAT(Claim("a")->status.reserved_for, SizeIs(1));
  EXPECT_EQ(Claim("a")->status.reserved_for[0].name, "q");
  EXPECT_TRUE(Claim("a")->status.allocation);
}

TEST_F(ClaimRequestsTest, AClaimIsMadeUnderANameOfItsOwnAndDeleted) {
  api_.Apply(MakeDeviceClaim("a").Version("7").Ptr());
  api::ResourceClaim claim =
      MakeDeviceClaim("x").Owner("p", "p-uid").Request("gpu", "gpus", 2).Obj();
  claim.metadata.annotations = {{"key", "value"}};
  writes_.Create(claim, "p-extended-resources-", Note());
  const ClaimPtr made = Answer().claim;
  ASSERT_NE(made, nullptr);
  EXPECT_THAT(made->metadata.name, HasSubstr("p-extended-resources-"));
  EXPECT_EQ(made->spec, claim.spec);
  EXPECT_EQ(made->metadata.annotations, claim.metadata.annotations);
  EXPECT_EQ(made->metadata.owner_references, claim.metadata.owner_references);
  EXPECT_GT(VersionOf(*made), 7u);
  EXPECT_NE(made->metadata.uid, "");
  EXPECT_EQ(*Claim(made->metadata.name), *made);
  writes_.Create(claim, "p-extended-resources-", Note());
  EXPECT_NE(Answer().claim->metadata.name, made->metadata.name);

  api::ResourceClaim other = *made;
  other.metadata.uid = "other";
  writes_.Delete(other, Note());
  EXPECT_EQ(Answer().outcome, Outcome::kConflict);
  writes_.Delete(*made, Note());
  EXPECT_TRUE(Answer().ok());
  EXPECT_EQ(Claim(made->metadata.name), nullptr);
}

TEST_F(ClaimRequestsTest, APodLearnsWhichClaimStandsForItsExtendedResources) {
  api_.Apply(test::MakePod().Name("p").Uid("p-uid").Ptr());
  std::optional<AsyncStatus> done;
  api::PodExtendedResourceClaimStatus status;
  status.resource_claim_name = "p-extended-resources-1";
  status.request_mappings = {{"main", "example.com/gpu", "container-0-request-0"}};
  writes_.WriteExtendedResourceClaimStatus(*api_.FindPod("default/p"), status,
                                           [&](AsyncStatus answer) { done = std::move(answer); });
  executor_.RunDue();
  ASSERT_TRUE(done);
  EXPECT_TRUE(done->ok()) << done->message;
  ASSERT_TRUE(api_.FindPod("default/p")->status.extended_resource_claim_status);
  EXPECT_EQ(*api_.FindPod("default/p")->status.extended_resource_claim_status, status);
}

TEST_F(ClaimRequestsTest, APodLearnsWhatItsClaimsTakeOfTheNodeUntilThatIsTakenBack) {
  using Statuses = std::vector<api::NodeAllocatableResourceClaimStatus>;
  api_.Apply(test::MakePod().Name("p").Uid("p-uid").Ptr());
  const Statuses statuses = {{.resource_claim_name = "cpus",
                              .containers = {"main"},
                              .mapping = {{"cpu", api::Quantity::FromUnits(2)}},
                              .overhead = {{"memory", api::Quantity::FromUnits(1024), {}}}}};
  for (const Statuses& wanted : {statuses, Statuses()}) {
    std::optional<AsyncStatus> done;
    binding::WriteClaimStatuses(api_, *api_.FindPod("default/p"), wanted,
                                [&](AsyncStatus answer) { done = std::move(answer); });
    executor_.RunDue();
    ASSERT_TRUE(done);
    EXPECT_TRUE(done->ok()) << done->message;
    EXPECT_EQ(api_.FindPod("default/p")->status.node_allocatable_resource_claim_statuses, wanted);
  }
}

TEST_F(ClaimRequestsTest, AClaimWithoutAVersionGetsOneThatCanBeCompared) {
  api_.Apply(test::MakePod().ResourceVersion("900").Ptr());
  api_.Apply(MakeDeviceClaim("a").Version("").Ptr());
  EXPECT_GT(VersionOf(*Claim("a")), 900u);
}

}  // namespace
}  // namespace berth::simulator
