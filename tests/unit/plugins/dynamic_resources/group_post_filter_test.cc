// SPDX-License-Identifier: Apache-2.0
// What DynamicResources gives up for a pod group that fits nowhere.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/plugins/dynamic_resources/dynamic_resources_fixture.h"

namespace berth::plugins {
namespace {

using test::DeviceClaimBuilder;
using test::MakeDeviceClaim;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::string_view kDone = "deallocation and deletion of ResourceClaims completed";

class NoDryRun final : public PodGroupDryRun {
 public:
  void Reset() override {}
  void RemovePods(std::span<const PodInfo* const>) override {}
  Status Schedule() override { return Status(Code::kUnschedulable); }
  std::span<const ProposedAssignment> assignments() const override { return {}; }
  Result<bool> Reprieve(std::span<const PodInfo* const>) override { return false; }
};

class GroupPostFilterTest : public testing::Test, public test::DynamicResourcesFixture {
 protected:
  GroupPostFilterTest() {
    handle.gates.generic_workload = true;
    handle.gates.dra_workload_resource_claims = true;
    object_.metadata.namespace_ = "default";
    object_.metadata.name = "g";
    object_.metadata.uid = "g-uid";
  }

  // The group names the claim, as its pods do.
  void NameInGroup(const std::string& claim) {
    auto& entry = object_.spec.resource_claims.emplace_back();
    entry.name = claim;
    entry.resource_claim_name = claim;
  }
  // A claim whose devices no node of the cluster reaches.
  static DeviceClaimBuilder&& Away(DeviceClaimBuilder&& claim) {
    return std::move(claim).Request("gpu", "gpus").Allocated("gone", "gpu-9").OnNode("n9");
  }
  static DeviceClaimBuilder&& ForGroup(DeviceClaimBuilder&& claim) {
    claim->status.reserved_for.push_back({"scheduling.k8s.io", "podgroups", "g", "g-uid"});
    return std::move(claim);
  }
  // Tries a pod of the group on all nodes, as its cycle does.
  void Try(const std::string& name, const std::vector<std::string>& claims) {
    api::Pod pod = PodWith(claims, name);
    pod.spec.scheduling_group.emplace().pod_group_name = "g";
    handle.plain_listers.Set(object_);
    Member& member = *members_.emplace_back(std::make_unique<Member>());
    member.info = Info(pod);
    if (!plugin_->PreFilter(member.state, *member.info, *snapshot_).status.ok()) return;
    NodeSet nodes = snapshot_->nodes();
    ASSERT_TRUE(plugin_->FilterNodes(member.state, *member.info, *snapshot_, nodes).ok());
  }
  Status PostFilter() {
    PodGroupInfo group{.object = {.pod_group = std::make_shared<const api::PodGroup>(object_)},
                       .unscheduled_pods = {}};
    for (const auto& member : members_) {
      group.unscheduled_pods.push_back(member->info.get());
      group.states.push_back(&member->state);
    }
    NoDryRun dry_run;
    return plugin_->PodGroupPostFilter(state, group, *snapshot_, dry_run).status;
  }
  // What is written, oldest first.
  std::vector<std::string> Written() {
    std::vector<std::string> written;
    while (!handle.claims_written.requests.empty()) {
      const auto request = handle.claims_written.Take();
      written.push_back(request.what + " " + request.claim.metadata.name);
      if (request.what == "WriteStatus") {
        EXPECT_EQ(request.claim.status, api::ResourceClaimStatus());
      }
    }
    return written;
  }

  struct Member {
    PodInfoPtr info;
    CycleState state;
  };
  api::PodGroup object_;
  std::vector<std::unique_ptr<Member>> members_;
};

TEST_F(GroupPostFilterTest, EachPodGivesUpAClaimThatKeepsItOffItsNodes) {
  handle.gates.dra_workload_resource_claims = false;
  handle.ShowClaim(Away(MakeDeviceClaim("a")).Obj());
  handle.ShowClaim(Away(MakeDeviceClaim("b")).ReservedFor("q", "q-uid").Obj());
  handle.ShowClaim(Away(MakeDeviceClaim("c")).ReservedFor("other", "other-uid").Obj());
  Try("p", {"a"});
  Try("q", {"b"});
  Try("r", {"c"});
  const Status status = PostFilter();
  EXPECT_EQ(status.code(), Code::kUnschedulable);
  EXPECT_EQ(status.message(), kDone);
  EXPECT_THAT(Written(), ElementsAre("WriteStatus a", "WriteStatus b"));
}

TEST_F(GroupPostFilterTest, AClaimThatPodsShareIsGivenUpOnce) {
  handle.ShowClaim(Away(MakeDeviceClaim("a")).Obj());
  Try("p", {"a"});
  Try("q", {"a"});
  EXPECT_EQ(PostFilter().message(), kDone);
  EXPECT_THAT(Written(), ElementsAre("WriteStatus a"));
}

TEST_F(GroupPostFilterTest, AClaimThatNoNodeOfThePodsRejectsStays) {
  handle.ShowClaim(MakeDeviceClaim("a").Request("gpu", "gpus").Allocated("gone", "gpu-9").Obj());
  Try("p", {"a"});
  EXPECT_EQ(PostFilter().message(), kDone);
  EXPECT_THAT(Written(), IsEmpty());
}

TEST_F(GroupPostFilterTest, AClaimReservedForTheGroupGivesUpItsDevices) {
  NameInGroup("a");
  handle.ShowClaim(ForGroup(Away(MakeDeviceClaim("a"))).Obj());
  Try("p", {"a"});
  const Status status = PostFilter();
  EXPECT_EQ(status.code(), Code::kUnschedulable);
  EXPECT_EQ(status.message(), "deallocation of PodGroup ResourceClaim completed");
  EXPECT_THAT(Written(), ElementsAre("WriteStatus a"));
}

// Its devices are on their way for the first pod, on n1, and so the claim keeps the second pod off
// n2. As in kube-scheduler it counts, although there is nothing to write.
TEST_F(GroupPostFilterTest, AClaimThatAnotherPodWasToHaveCountsAsGivenUp) {
  NameInGroup("a");
  for (const std::string node : {"n1", "n2"}) {
    handle.plain_listers.Set(test::MakeNodeSlice(node, 1));
  }
  handle.ShowClaim(MakeDeviceClaim("a").Request("gpu", "gpus").Obj());
  handle.ShowClaim(MakeDeviceClaim("b").Request("gpu", "gpus").Obj());
  Try("p", {"a"});
  Member& first = *members_.back();
  ASSERT_TRUE(plugin_->Reserve(first.state, *first.info, "n1").ok());
  Try("q", {"a", "b"});
  plugin_->Unreserve(first.state, *first.info, "n1");
  EXPECT_EQ(PostFilter().message(), "deallocation of PodGroup ResourceClaim completed");
  EXPECT_THAT(Written(), IsEmpty());
}

// Where its claims can be used, the group lets them go all the same, and nothing is evicted for it.
TEST_F(GroupPostFilterTest, ElseTheGroupGivesUpItsReservation) {
  NameInGroup("a");
  handle.ShowClaim(
      ForGroup(MakeDeviceClaim("a").Request("gpu", "gpus").Allocated("n1", "gpu-0")).Obj());
  Try("p", {"a"});
  const Status status = PostFilter();
  EXPECT_EQ(status.code(), Code::kUnschedulableAndUnresolvable);
  EXPECT_EQ(status.message(), "ResourceClaim unreserved for PodGroup");
  ASSERT_EQ(handle.claims_written.requests.size(), 1u);
  EXPECT_EQ(handle.claims_written.requests[0].text, "g-uid");
  EXPECT_THAT(Written(), ElementsAre("RemoveReservation a"));
}

TEST_F(GroupPostFilterTest, WithoutTheGateAGroupKeepsItsReservation) {
  handle.gates.dra_workload_resource_claims = false;
  NameInGroup("a");
  handle.ShowClaim(ForGroup(Away(MakeDeviceClaim("a"))).Obj());
  Try("p", {"a"});
  EXPECT_EQ(PostFilter().message(), kDone);
  EXPECT_THAT(Written(), IsEmpty());
}

TEST_F(GroupPostFilterTest, AGroupWithAPodOnANodeKeepsItsClaims) {
  handle.group_states.SetPlaced(test::MakePod().Name("o").Uid("o").SchedulingGroup("g").Ptr(), "n1",
                                false);
  NameInGroup("a");
  handle.ShowClaim(ForGroup(Away(MakeDeviceClaim("a"))).Obj());
  Try("p", {"a"});
  EXPECT_EQ(PostFilter().message(), kDone);
  EXPECT_THAT(Written(), IsEmpty());
}

TEST_F(GroupPostFilterTest, AClaimOfTheGroupThatIsNotThereIsAnError) {
  NameInGroup("a");
  Try("p", {});
  const Status status = PostFilter();
  EXPECT_EQ(status.code(), Code::kError);
  EXPECT_EQ(status.message(), "could not find ResourceClaim \"default/a\"");
}

TEST_F(GroupPostFilterTest, AClaimBeforeOneThatIsNotThereIsGivenUp) {
  NameInGroup("a");
  NameInGroup("b");
  handle.ShowClaim(
      ForGroup(MakeDeviceClaim("a").Request("gpu", "gpus").Allocated("n1", "gpu-0")).Obj());
  Try("p", {});
  EXPECT_EQ(PostFilter().message(), "ResourceClaim unreserved for PodGroup");
  EXPECT_THAT(Written(), ElementsAre("RemoveReservation a"));
}

TEST_F(GroupPostFilterTest, AGroupThatIsPlacedByTopologyIsLeftAlone) {
  handle.gates.topology_aware_workload_scheduling = true;
  object_.spec.scheduling_constraints.emplace();
  handle.ShowClaim(Away(MakeDeviceClaim("a")).Obj());
  Try("p", {"a"});
  const Status status = PostFilter();
  EXPECT_EQ(status.code(), Code::kUnschedulable);
  EXPECT_EQ(status.message(), "");
  EXPECT_THAT(Written(), IsEmpty());
}

TEST_F(GroupPostFilterTest, ItFailsWhereNoPodGotAsFarAsPreFilter) {
  members_.push_back(std::make_unique<Member>());
  members_.back()->info = Info(PodWith({"a"}));
  const Status status = PostFilter();
  EXPECT_EQ(status.code(), Code::kError);
  EXPECT_EQ(status.message(), "not found");
}

}  // namespace
}  // namespace berth::plugins
