// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "tests/unit/plugins/dynamic_resources/dynamic_resources_fixture.h"

namespace berth::plugins {
namespace {

using test::MakeDeviceClaim;
using test::MakeDeviceClass;
using test::MakeNode;
using test::MakeNodeSlice;
using test::MakePod;
using testing::ElementsAre;
using testing::IsEmpty;
using Outcome = ClaimAnswer::Outcome;

class DynamicResourcesTest : public testing::Test, public test::DynamicResourcesFixture {
 protected:
  DynamicResourcesTest() { handle.plain_listers.Set(MakeNodeSlice("n1", 1)); }

  // What PreFilter says, "" for Success, or "Skip".
  std::string PreFilter(const api::Pod& pod) {
    state = CycleState();
    info_ = Info(pod);
    const Status status = plugin_->PreFilter(state, *info_, *snapshot_).status;
    return status.skip() ? "Skip" : status.message();
  }
  // What Filter says about each node, once both forms agree.
  std::vector<std::string> Verdicts(const api::Pod& pod) {
    if (std::string text = PreFilter(pod); !text.empty()) return {text};
    NodeSet nodes = snapshot_->nodes();
    const Status columns = plugin_->FilterNodes(state, *info_, *snapshot_, nodes);
    std::vector<std::string> verdicts;
    for (NodeRow row = 0; row < 2; ++row) {
      const Status status = plugin_->Filter(state, *info_, NodeView(*snapshot_, row));
      if (columns.ok()) {
        EXPECT_EQ(status.ok(), nodes.Test(row));
      }
      if (status.code() == Code::kError) {
        EXPECT_EQ(columns.code(), Code::kError);
      }
      verdicts.push_back(status.message());
    }
    return verdicts;
  }
  void Reserve(const api::Pod& pod, std::string_view node) {
    ASSERT_EQ(PreFilter(pod), "");
    ASSERT_TRUE(plugin_->Reserve(state, *info_, node).ok());
  }
  void StartPreBind(std::string_view node) {
    ASSERT_TRUE(plugin_->PreBindPreFlight(state, *info_, node).ok());
    plugin_->PreBind(state, *info_, node, cancellation_,
                     [this](AsyncStatus status) { done_ = std::move(status); });
  }
  // Answers the oldest request as the API server does; what it was.
  std::string Answer(std::string_view version) {
    auto request = handle.claims_written.Take();
    request.claim.metadata.resource_version = version;
    request.done({.claim = std::make_shared<const api::ResourceClaim>(request.claim)});
    return request.what;
  }
  std::string AnswerWith(Outcome outcome) {
    auto request = handle.claims_written.Take();
    request.done({.outcome = outcome, .error = "no"});
    return request.what;
  }
  std::vector<std::string> Held() const {
    std::vector<std::string> held;
    handle.claim_table.ForEachHolder([&](const ClaimPtr& claim) {
      for (const auto& result : claim->status.allocation->devices.results) {
        held.push_back(claim->metadata.name + ":" + result.pool + "/" + result.device);
      }
    });
    return held;
  }

  PodInfoPtr info_;
  test::FakeCancellation cancellation_;
  std::optional<AsyncStatus> done_;
};

TEST_F(DynamicResourcesTest, PodsWithoutClaimsAreSkipped) {
  EXPECT_EQ(PreFilter(MakePod()), "Skip");
  EXPECT_EQ(PreFilter(MakePod().Req({{"example.com/gpu", "1"}, {"cpu", "1"}})), "Skip");
  EXPECT_TRUE(plugin_->Reserve(state, *info_, "n1").ok());
  EXPECT_TRUE(plugin_->PreBindPreFlight(state, *info_, "n1").skip());
  plugin_->Unreserve(state, *info_, "n1");
}

TEST_F(DynamicResourcesTest, AClaimIsAllocatedReservedAndKeptFromOthers) {
  handle.ShowClaim(MakeDeviceClaim("a").Request("gpu", "gpus").Obj());
  handle.ShowClaim(MakeDeviceClaim("b").Request("gpu", "gpus").Obj());
  EXPECT_THAT(Verdicts(PodWith({"a"})), ElementsAre("", "cannot allocate all claims"));
  Reserve(PodWith({"a"}), "n1");
  EXPECT_THAT(Held(), ElementsAre("a:n1/gpu-0"));
  CycleState first = std::move(state);
  const PodInfoPtr first_info = info_;
  EXPECT_THAT(Verdicts(PodWith({"b"}, "q")),
              ElementsAre("cannot allocate all claims", "cannot allocate all claims"));
  EXPECT_THAT(Verdicts(PodWith({"a"}, "q")),
              ElementsAre("resource claim default/a is in the process of being allocated"));

  state = std::move(first);
  info_ = first_info;
  StartPreBind("n1");
  EXPECT_EQ(Answer("2"), "AddFinalizer");
  const api::ResourceClaim& written = handle.claims_written.requests.at(0).claim;
  EXPECT_EQ(written.metadata.resource_version, "2");
  EXPECT_EQ(written.status.reserved_for,
            (std::vector<api::ResourceClaimConsumerReference>{{"", "pods", "p", "p-uid"}}));
  ASSERT_TRUE(written.status.allocation);
  ASSERT_EQ(written.status.allocation->devices.results.size(), 1u);
  const auto& result = written.status.allocation->devices.results[0];
  EXPECT_EQ(result.request, "gpu");
  EXPECT_EQ(result.driver, "gpu.example.com");
  EXPECT_EQ(result.pool, "n1");
  EXPECT_EQ(result.device, "gpu-0");
  EXPECT_TRUE(written.status.allocation->allocation_timestamp);
  ASSERT_TRUE(written.status.allocation->node_selector);
  EXPECT_FALSE(done_);
  EXPECT_EQ(Answer("3"), "WriteStatus");
  ASSERT_TRUE(done_);
  EXPECT_TRUE(done_->ok()) << done_->message;
  handle.RunPosted();
  EXPECT_EQ(handle.claim_table.pending(), 0u);
  EXPECT_EQ(handle.claim_table.Find("default", "a")->metadata.resource_version, "3");
  EXPECT_THAT(Held(), ElementsAre("a:n1/gpu-0"));
  // Another pod may use the claim where its device is.
  EXPECT_THAT(Verdicts(PodWith({"a"}, "q")),
              ElementsAre("", "resourceclaim not available on the node"));
}

TEST_F(DynamicResourcesTest, AConflictIsReadAgainAndALostAnswerIsFoundOut) {
  handle.ShowClaim(MakeDeviceClaim("a").Request("gpu", "gpus").Obj());
  Reserve(PodWith({"a"}), "n1");
  StartPreBind("n1");
  EXPECT_EQ(AnswerWith(Outcome::kConflict), "AddFinalizer");
  auto read = handle.claims_written.Take();
  EXPECT_EQ(read.what, "Read");
  read.done({.claim = MakeDeviceClaim("a").Version("5").Request("gpu", "gpus").Ptr()});
  EXPECT_EQ(Answer("6"), "AddFinalizer");
  auto write = handle.claims_written.Take();
  EXPECT_EQ(write.what, "WriteStatus");
  write.done({.outcome = Outcome::kUnknown, .error = "timeout"});
  auto again = handle.claims_written.Take();
  EXPECT_EQ(again.what, "Read");
  // It had been carried out.
  write.claim.metadata.resource_version = "7";
  again.done({.claim = std::make_shared<const api::ResourceClaim>(write.claim)});
  ASSERT_TRUE(done_);
  EXPECT_TRUE(done_->ok()) << done_->message;
  EXPECT_THAT(handle.claims_written.requests, IsEmpty());
}

TEST_F(DynamicResourcesTest, UntilALostWriteIsFoundOutItsDevicesAreTaken) {
  handle.ShowClaim(MakeDeviceClaim("a").Request("gpu", "gpus").Obj());
  Reserve(PodWith({"a"}), "n1");
  StartPreBind("n1");
  EXPECT_EQ(Answer("2"), "AddFinalizer");
  auto write = handle.claims_written.Take();
  EXPECT_EQ(write.what, "WriteStatus");
  write.done({.outcome = Outcome::kUnknown, .error = "timeout"});
  for (size_t reads = 1; reads <= 10; ++reads) {
    // Such as a server that does not listen.
    EXPECT_EQ(AnswerWith(Outcome::kFailed), "Read");
    if (reads == 2) cancellation_.Cancel();
    ASSERT_FALSE(done_);
    ASSERT_THAT(handle.claims_written.requests, IsEmpty());
    ASSERT_EQ(handle.waits.size(), 1u);
    const auto wait = handle.waits[0];
    handle.waits.clear();
    EXPECT_EQ(wait.wait.check(), std::nullopt);
    EXPECT_GE(wait.wait.timeout, std::chrono::milliseconds(100));
    EXPECT_LE(wait.wait.timeout, std::chrono::seconds(10));
    EXPECT_FALSE(wait.cancellation->cancelled());
    wait.done(wait.wait.timed_out);
  }
  // It had been carried out.
  write.claim.metadata.resource_version = "7";
  handle.claims_written.Take().done(
      {.claim = std::make_shared<const api::ResourceClaim>(write.claim)});
  ASSERT_TRUE(done_);
  EXPECT_EQ(done_->message, "binding devices: context canceled");
  handle.RunPosted();
  plugin_->Unreserve(state, *info_, "n1");
  EXPECT_THAT(Held(), ElementsAre("a:n1/gpu-0"));
}

// Such as one that a webhook keeps from being answered.
TEST_F(DynamicResourcesTest, AWriteThatIsLostEachTimeFailsOnceItIsKnownNotToBeCarriedOut) {
  handle.ShowClaim(MakeDeviceClaim("a").Request("gpu", "gpus").Obj());
  Reserve(PodWith({"a"}), "n1");
  StartPreBind("n1");
  for (int tries = 1; tries <= 5; ++tries) {
    ASSERT_FALSE(done_) << tries;
    EXPECT_EQ(Answer("2"), "AddFinalizer");
    EXPECT_EQ(AnswerWith(Outcome::kUnknown), "WriteStatus");
    if (tries == 5) {
      ASSERT_EQ(handle.waits.size(), 1u);
      const auto wait = handle.waits[0];
      handle.waits.clear();
      wait.done(wait.wait.timed_out);
    }
    auto read = handle.claims_written.Take();
    EXPECT_EQ(read.what, "Read");
    read.done({.claim = MakeDeviceClaim("a").Version("3").Request("gpu", "gpus").Ptr()});
  }
  ASSERT_TRUE(done_);
  EXPECT_EQ(done_->code, Code::kError);
  EXPECT_THAT(done_->message, testing::HasSubstr("add allocation and reservation to claim"));
  EXPECT_THAT(handle.claims_written.requests, IsEmpty());
}

TEST_F(DynamicResourcesTest, AClaimThatIsGoneEndsTheSearchForALostWrite) {
  handle.ShowClaim(MakeDeviceClaim("a").Request("gpu", "gpus").Obj());
  Reserve(PodWith({"a"}), "n1");
  StartPreBind("n1");
  EXPECT_EQ(Answer("2"), "AddFinalizer");
  EXPECT_EQ(AnswerWith(Outcome::kUnknown), "WriteStatus");
  EXPECT_EQ(AnswerWith(Outcome::kNotFound), "Read");
  ASSERT_TRUE(done_);
  EXPECT_EQ(done_->code, Code::kError);
}

TEST_F(DynamicResourcesTest, AReservationWhoseAnswerGotLostIsNotWrittenTwice) {
  handle.ShowClaim(
      MakeDeviceClaim("a").Request("gpu", "gpus").Allocated("n1", "gpu-0").OnNode("n1").Obj());
  Reserve(PodWith({"a"}), "n1");
  StartPreBind("n1");
  auto write = handle.claims_written.Take();
  EXPECT_EQ(write.what, "WriteStatus");
  write.done({.outcome = Outcome::kUnknown, .error = "timeout"});
  auto read = handle.claims_written.Take();
  EXPECT_EQ(read.what, "Read");
  write.claim.metadata.resource_version = "7";
  read.done({.claim = std::make_shared<const api::ResourceClaim>(write.claim)});
  ASSERT_TRUE(done_);
  EXPECT_TRUE(done_->ok()) << done_->message;
  EXPECT_THAT(handle.claims_written.requests, IsEmpty());
}

TEST_F(DynamicResourcesTest, AClaimThatGotItsDevicesElsewhereEndsPreBind) {
  handle.ShowClaim(MakeDeviceClaim("a").Request("gpu", "gpus").Obj());
  Reserve(PodWith({"a"}), "n1");
  StartPreBind("n1");
  AnswerWith(Outcome::kConflict);
  handle.claims_written.Take().done(
      {.claim = MakeDeviceClaim("a").Version("5").Allocated("n2", "gpu-7").Ptr()});
  ASSERT_TRUE(done_);
  EXPECT_EQ(done_->message, "claim default/a got allocated elsewhere in the meantime");
}

TEST_F(DynamicResourcesTest, PodsThatShareAClaimWriteItOneAfterTheOther) {
  handle.ShowClaim(
      MakeDeviceClaim("a").Request("gpu", "gpus").Allocated("n1", "gpu-0").OnNode("n1").Obj());
  for (const char* name : {"p", "q", "r"}) {
    Reserve(PodWith({"a"}, name), "n1");
    StartPreBind("n1");
  }
  const auto& requests = handle.claims_written.requests;
  ASSERT_EQ(requests.size(), 1u);
  EXPECT_EQ(Answer("2"), "WriteStatus");
  ASSERT_EQ(requests.size(), 1u);
  EXPECT_EQ(requests[0].claim.metadata.resource_version, "2");
  EXPECT_EQ(requests[0].claim.status.reserved_for.size(), 2u);
  // One that fails lets the next one try, too.
  EXPECT_EQ(AnswerWith(Outcome::kFailed), "WriteStatus");
  ASSERT_EQ(requests.size(), 1u);
  EXPECT_EQ(requests[0].claim.status.reserved_for.back().name, "r");
  done_.reset();
  EXPECT_EQ(Answer("3"), "WriteStatus");
  ASSERT_TRUE(done_);
  EXPECT_TRUE(done_->ok());
  EXPECT_TRUE(requests.empty());
}

// A group is tried as a whole, before anything is written for its first pod.
TEST_F(DynamicResourcesTest, PodsOfAGroupShareAClaimBeforeItIsWritten) {
  handle.gates.generic_workload = true;
  handle.ShowClaim(MakeDeviceClaim("a").Request("gpu", "gpus").Obj());
  const auto member = [](const std::string& name, const std::string& group) {
    api::Pod pod = PodWith({"a"}, name);
    if (!group.empty()) pod.spec.scheduling_group.emplace().pod_group_name = group;
    return pod;
  };
  Reserve(member("p", "g"), "n1");
  CycleState first = std::move(state);
  const PodInfoPtr first_info = info_;
  const std::string pending = "resource claim default/a is in the process of being allocated";
  EXPECT_EQ(PreFilter(member("q", "other")), pending);
  EXPECT_EQ(PreFilter(member("q", "")), pending);
  EXPECT_THAT(Verdicts(member("q", "g")),
              ElementsAre("", "resourceclaim not available on the node"));
  Reserve(member("q", "g"), "n1");
  CycleState second = std::move(state);
  const PodInfoPtr second_info = info_;

  // One that is taken back leaves it to the others.
  Reserve(member("r", "g"), "n1");
  plugin_->Unreserve(state, *info_, "n1");
  EXPECT_THAT(Held(), ElementsAre("a:n1/gpu-0"));

  // The one that writes first allocates, and each reserves.
  state = std::move(second);
  info_ = second_info;
  StartPreBind("n1");
  const CycleState second_again = std::move(state);
  state = std::move(first);
  info_ = first_info;
  StartPreBind("n1");
  EXPECT_EQ(Answer("2"), "AddFinalizer");
  EXPECT_EQ(Answer("3"), "WriteStatus");
  const auto& requests = handle.claims_written.requests;
  ASSERT_EQ(requests.size(), 1u);
  EXPECT_EQ(requests[0].claim.status.reserved_for,
            (std::vector<api::ResourceClaimConsumerReference>{{"", "pods", "q", "q-uid"},
                                                              {"", "pods", "p", "p-uid"}}));
  done_.reset();
  EXPECT_EQ(Answer("4"), "WriteStatus");
  ASSERT_TRUE(done_);
  EXPECT_TRUE(done_->ok()) << done_->message;
  handle.RunPosted();
  EXPECT_EQ(handle.claim_table.pending(), 0u);
  EXPECT_THAT(Held(), ElementsAre("a:n1/gpu-0"));
}

TEST_F(DynamicResourcesTest, AClaimThatWasMadeForAPodOfAGroupIsNotShared) {
  handle.gates.generic_workload = true;
  handle.ShowClaim(MakeDeviceClaim("a").Request("gpu", "gpus").Owner("p", "p-uid").Obj());
  api::Pod pod = PodWith({"a"});
  pod.spec.scheduling_group.emplace().pod_group_name = "g";
  Reserve(pod, "n1");
  EXPECT_EQ(PreFilter(pod), "resource claim default/a is in the process of being allocated");
}

// With the gate, a claim that the group itself names is reserved for the group, once.
TEST_F(DynamicResourcesTest, AClaimOfAGroupIsReservedForTheGroup) {
  handle.gates.generic_workload = true;
  handle.gates.dra_workload_resource_claims = true;
  handle.ShowClaim(MakeDeviceClaim("a").Request("gpu", "gpus").Obj());
  api::PodGroup group;
  group.metadata.namespace_ = "default";
  group.metadata.name = "g";
  group.metadata.uid = "g-uid";
  auto& entry = group.spec.resource_claims.emplace_back();
  entry.name = "a";
  entry.resource_claim_name = "a";
  handle.plain_listers.Set(group);
  const auto member = [](const std::string& name) {
    api::Pod pod = PodWith({"a"}, name);
    pod.spec.scheduling_group.emplace().pod_group_name = "g";
    return pod;
  };
  Reserve(member("p"), "n1");
  StartPreBind("n1");
  const CycleState first = std::move(state);
  Reserve(member("q"), "n1");
  StartPreBind("n1");
  EXPECT_EQ(Answer("2"), "AddFinalizer");
  EXPECT_EQ(handle.claims_written.requests.at(0).claim.status.reserved_for,
            (std::vector<api::ResourceClaimConsumerReference>{
                {"scheduling.k8s.io", "podgroups", "g", "g-uid"}}));
  done_.reset();
  EXPECT_EQ(Answer("3"), "WriteStatus");
  ASSERT_TRUE(done_);
  EXPECT_TRUE(done_->ok()) << done_->message;
  EXPECT_THAT(handle.claims_written.requests, IsEmpty());
}

TEST_F(DynamicResourcesTest, WhatIsNotWrittenIsGivenBack) {
  handle.ShowClaim(MakeDeviceClaim("a").Request("gpu", "gpus").Obj());
  Reserve(PodWith({"a"}), "n1");
  StartPreBind("n1");
  EXPECT_EQ(AnswerWith(Outcome::kFailed), "AddFinalizer");
  ASSERT_TRUE(done_);
  EXPECT_EQ(done_->code, Code::kError);
  EXPECT_EQ(done_->message, "add finalizer to claim default/a: no");
  handle.RunPosted();
  plugin_->Unreserve(state, *info_, "n1");
  plugin_->Unreserve(state, *info_, "n1");
  EXPECT_THAT(Held(), IsEmpty());
  EXPECT_THAT(handle.claims_written.requests, IsEmpty());
}

// The one that writes fails at its other claim, then the other one at its reservation, and the
// watch has still to show what was written: nothing else holds the device.
TEST_F(DynamicResourcesTest, WhatAPodOfAGroupHasWrittenIsHeldThoughNoPodIsBound) {
  handle.gates.generic_workload = true;
  handle.plain_listers.Set(MakeNodeSlice("n1", 2));
  handle.ShowClaim(MakeDeviceClaim("a").Request("gpu", "gpus").Obj());
  handle.ShowClaim(MakeDeviceClaim("b").Request("gpu", "gpus").Obj());
  const auto start = [&](const std::string& name, const std::vector<std::string>& claims) {
    api::Pod pod = PodWith(claims, name);
    pod.spec.scheduling_group.emplace().pod_group_name = "g";
    Reserve(pod, "n1");
    StartPreBind("n1");
    return std::pair(std::move(state), info_);
  };
  auto writes = start("p", {"a", "b"});
  auto shares = start("q", {"a"});
  EXPECT_EQ(Answer("2"), "AddFinalizer");
  EXPECT_EQ(Answer("3"), "WriteStatus");
  EXPECT_EQ(AnswerWith(Outcome::kFailed), "WriteStatus");
  EXPECT_EQ(AnswerWith(Outcome::kFailed), "AddFinalizer");
  handle.RunPosted();
  plugin_->Unreserve(writes.first, *writes.second, "n1");
  plugin_->Unreserve(shares.first, *shares.second, "n1");
  EXPECT_EQ(handle.claim_table.pending(), 0u);
  EXPECT_EQ(handle.claim_table.Find("default", "a")->metadata.resource_version, "3");
  EXPECT_THAT(Held(), ElementsAre("a:n1/gpu-0"));
}

TEST_F(DynamicResourcesTest, AReservationIsTakenBackWhenThePodIsNotBoundAfterAll) {
  handle.ShowClaim(MakeDeviceClaim("a").Request("gpu", "gpus").Obj());
  Reserve(PodWith({"a"}), "n1");
  StartPreBind("n1");
  Answer("2");
  Answer("3");
  handle.RunPosted();
  plugin_->Unreserve(state, *info_, "n1");
  const auto request = handle.claims_written.Take();
  EXPECT_EQ(request.what, "RemoveReservation");
  EXPECT_EQ(request.text, "p-uid");
  // The device is the claim's until another pod needs the claim elsewhere.
  EXPECT_THAT(Held(), ElementsAre("a:n1/gpu-0"));
}

// A pod group tries its pods again and again within a cycle.
TEST_F(DynamicResourcesTest, AReservationOutlivesAPodThatIsTriedAgainInTheSameCycle) {
  handle.ShowClaim(MakeDeviceClaim("a")
                       .Request("gpu", "gpus")
                       .Allocated("n1", "gpu-0")
                       .OnNode("n1")
                       .ReservedFor("p", "p-uid")
                       .Obj());
  for (const bool again : {true, false}) {
    SCOPED_TRACE(again);
    handle.in_cycle = true;
    Reserve(PodWith({"a"}), "n1");
    plugin_->Unreserve(state, *info_, "n1");
    if (again) Reserve(PodWith({"a"}), "n1");
    EXPECT_THAT(handle.claims_written.requests, IsEmpty());
    handle.EndCycle();
    EXPECT_EQ(handle.claims_written.requests.size(), again ? 0u : 1u);
  }
  EXPECT_EQ(handle.claims_written.Take().what, "RemoveReservation");
}

// The write that takes a reservation out may take longer than the pod's backoff, and the watch may
// be late, too. A reload of the configuration makes another plugin meanwhile.
TEST_F(DynamicResourcesTest, AReservationThatIsBeingTakenOutIsWrittenAgain) {
  for (const bool reloaded : {false, true}) {
    SCOPED_TRACE(reloaded);
    handle.waits.clear();
    done_.reset();
    const std::string name = reloaded ? "b" : "a";
    handle.ShowClaim(MakeDeviceClaim(name)
                         .Request("gpu", "gpus")
                         .Allocated("n1", "gpu-0")
                         .OnNode("n1")
                         .ReservedFor("p", "p-uid")
                         .Obj());
    Reserve(PodWith({name}), "n1");
    plugin_->Unreserve(state, *info_, "n1");
    auto removal = handle.claims_written.Take();
    ASSERT_EQ(removal.what, "RemoveReservation");

    if (reloaded) plugin_ = std::make_unique<DynamicResources>(DynamicResourcesArgs(), handle);
    Reserve(PodWith({name}), "n1");
    StartPreBind("n1");
    ASSERT_FALSE(done_);
    ASSERT_EQ(handle.waits.size(), 1u);
    const test::FakeHandle::Wait wait = handle.waits.front();
    EXPECT_FALSE(wait.wait.check());
    EXPECT_THAT(handle.claims_written.requests, IsEmpty());

    removal.claim.metadata.resource_version = "2";
    removal.claim.status.reserved_for.clear();
    removal.done({.claim = std::make_shared<const api::ResourceClaim>(removal.claim)});
    handle.RunPosted();
    EXPECT_THAT(handle.claim_table.Find("default", name)->status.reserved_for, IsEmpty());
    EXPECT_TRUE(wait.wait.check());
    wait.done({});
    auto read = handle.claims_written.Take();
    ASSERT_EQ(read.what, "Read");
    read.done({.claim = std::make_shared<const api::ResourceClaim>(removal.claim)});
    ASSERT_EQ(handle.claims_written.requests.size(), 1u);
    EXPECT_EQ(handle.claims_written.requests[0].claim.status.reserved_for.size(), 1u);
    EXPECT_EQ(Answer("3"), "WriteStatus");
    ASSERT_TRUE(done_);
    EXPECT_TRUE(done_->ok()) << done_->message;
  }
}

TEST_F(DynamicResourcesTest, WaitsForADevicesConditionsAreCounted) {
  api::ResourceSlice slice = MakeNodeSlice("n1", 3);
  slice.spec.devices[0].binding_conditions = {"attached"};
  slice.spec.devices[0].binding_failure_conditions = {"broken"};
  slice.spec.devices.erase(slice.spec.devices.begin() + 1, slice.spec.devices.end());
  const auto wait = [&](const char* claim) -> test::FakeHandle::Wait {
    handle.waits.clear();
    handle.plain_listers.Set(slice);
    handle.ShowClaim(MakeDeviceClaim(claim).Request("gpu", "gpus").Obj());
    Reserve(PodWith({claim}), "n1");
    StartPreBind("n1");
    Answer("2");
    Answer("3");
    handle.RunPosted();
    plugin_->Unreserve(state, *info_, "n1");
    handle.claims_written.requests.clear();
    handle.ShowClaim(MakeDeviceClaim(claim).Version("4").Request("gpu", "gpus").Obj());
    return handle.waits.empty() ? test::FakeHandle::Wait() : handle.waits[0];
  };
  const auto counted = [&](const char* outcome) {
    handle.RunPosted();
    return handle.Metric("dra_bindingconditions_allocations_total",
                         {"default-scheduler", "gpu.example.com", outcome});
  };
  const struct {
    const char* claim;
    AsyncStatus ends;
    const char* outcome;
  } cases[] = {
      {"a", {}, "success"},
      {"b", {Code::kError, "device binding failed: claim=b"}, "failure"},
      {"c", {Code::kError, "device binding timeout: context deadline exceeded"}, "timeout"},
      {"d", {Code::kError, "context canceled"}, "error"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.claim);
    const auto waiting = wait(c.claim);
    ASSERT_TRUE(waiting.done);
    EXPECT_EQ(waiting.wait.timed_out.message, "device binding timeout: context deadline exceeded");
    EXPECT_EQ(counted(c.outcome), 0);
    waiting.done(c.ends);
    EXPECT_EQ(counted(c.outcome), 1);
    EXPECT_EQ(done_->message, c.ends.message);
  }
}

TEST_F(DynamicResourcesTest, TheTimeOfAnEarlierAllocationIsOverAtItsOwnEnd) {
  using std::chrono::minutes;
  using std::chrono::seconds;
  api::ResourceClaim claim = MakeDeviceClaim("a")
                                 .Request("gpu", "gpus")
                                 .Allocated("n1", "gpu-0")
                                 .OnNode("n1")
                                 .ReservedFor("p", "p-uid")
                                 .Obj();
  claim.status.allocation->devices.results[0].binding_conditions = {"attached"};
  claim.status.allocation->allocation_timestamp = handle.clock().WallNow() - minutes(9);
  handle.ShowClaim(claim);
  Reserve(PodWith({"a"}), "n1");
  StartPreBind("n1");
  ASSERT_EQ(handle.waits.size(), 1u);
  EXPECT_EQ(handle.waits[0].wait.check(), std::nullopt);
  EXPECT_EQ(handle.waits[0].wait.timeout, seconds(65)) << "each five seconds, as kube-scheduler";
  handle.virtual_clock.Advance(seconds(65));
  handle.waits[0].done(handle.waits[0].wait.timed_out);
  EXPECT_FALSE(done_);
  ASSERT_EQ(handle.waits.size(), 2u);
  const auto verdict = handle.waits[1].wait.check();
  ASSERT_TRUE(verdict);
  EXPECT_EQ(verdict->message, "device binding timeout: claim=a");
  handle.waits[1].done(*verdict);
  ASSERT_TRUE(done_);
  EXPECT_EQ(done_->message, "device binding timeout: claim=a");
}

TEST_F(DynamicResourcesTest, VerdictsOfExtendedResourcesAreKept) {
  MapExtendedResource();
  SetNodes({MakeNode("n1"), MakeNode("n2").Allocatable({{"example.com/gpu", "0"}})});
  EXPECT_THAT(Verdicts(PodWithExtended("1")), ElementsAre("", "cannot allocate all claims"));
  EXPECT_GT(plugin_->kept_bytes(), 0u);
}

TEST_F(DynamicResourcesTest, WhereTheNodeHasExtendedResourcesItselfPreBindWritesNothing) {
  MapExtendedResource();
  SetNodes({MakeNode("n1"), MakeNode("n2").Allocatable({{"example.com/gpu", "2"}})});
  EXPECT_THAT(Verdicts(PodWithExtended("2")), ElementsAre("cannot allocate all claims", ""));
  Reserve(PodWithExtended("2"), "n2");
  StartPreBind("n2");
  ASSERT_TRUE(done_);
  EXPECT_TRUE(done_->ok());
  EXPECT_TRUE(handle.claims_written.requests.empty());
}

TEST_F(DynamicResourcesTest, ClaimsMadeForExtendedResourcesAreCounted) {
  MapExtendedResource();
  const auto counted = [&](const char* outcome) {
    handle.RunPosted();
    return handle.Metric("dynamic_resource_allocation_resourceclaim_creates_total",
                         {outcome, "false", "", "Pod"});
  };
  for (const char* outcome : {"failure", "success"}) {
    Reserve(PodWithExtended("1"), "n1");
    StartPreBind("n1");
    auto request = handle.claims_written.Take();
    EXPECT_EQ(request.what, "Create");
    EXPECT_EQ(counted(outcome), 0);
    ClaimAnswer answer{.claim = MakeDeviceClaim("made").Ptr()};
    if (std::string_view(outcome) == "failure") {
      answer = {.outcome = Outcome::kFailed, .error = "no"};
    }
    request.done(std::move(answer));
    EXPECT_EQ(counted(outcome), 1);
    plugin_->Unreserve(state, *info_, "n1");
    handle.claims_written.requests.clear();
  }
}

TEST_F(DynamicResourcesTest, AClaimThatWasMadeHoldsItsDevicesBeforeTheWatchShowsIt) {
  MapExtendedResource();
  Reserve(PodWithExtended("1"), "n1");
  StartPreBind("n1");
  auto create = handle.claims_written.Take();
  EXPECT_EQ(create.what, "Create");
  const auto made = MakeDeviceClaim("made").Request("container-0-request-0", "gpus").Obj();
  create.done({.claim = std::make_shared<const api::ResourceClaim>(made)});
  EXPECT_EQ(Answer("2"), "AddFinalizer");
  EXPECT_EQ(Answer("3"), "WriteStatus");
  handle.RunPosted();
  EXPECT_FALSE(done_);
  EXPECT_THAT(handle.claims_written.pod_writes, IsEmpty());
  const CycleState first = std::move(state);
  const PodInfoPtr first_info = info_;
  const api::Pod other = MakePod().Name("q").Uid("q-uid").Req({{"example.com/gpu", "1"}});
  EXPECT_THAT(Verdicts(other),
              ElementsAre("cannot allocate all claims", "cannot allocate all claims"));
  ASSERT_EQ(handle.waits.size(), 1u);
  EXPECT_EQ(handle.waits[0].wait.check(), std::nullopt);

  handle.ShowClaim(made);
  const auto shown = handle.waits[0].wait.check();
  ASSERT_TRUE(shown);
  handle.waits[0].done(*shown);
  ASSERT_EQ(handle.claims_written.pod_writes.size(), 1u);
  handle.claims_written.pod_writes[0].done({});
  ASSERT_TRUE(done_ && done_->ok());
  handle.RunPosted();
  EXPECT_EQ(handle.claim_table.pending(), 0u);
  EXPECT_THAT(Held(), ElementsAre("made:n1/gpu-0"));
}

// The API server refuses a status without mappings.
TEST_F(DynamicResourcesTest, AClaimThatOnlyAPodsOverheadAsksForFailsAsInKubeScheduler) {
  MapExtendedResource();
  const api::Pod overhead = MakePod().Name("p").Uid("p-uid").Overhead({{"example.com/gpu", "1"}});
  Reserve(overhead, "n1");
  StartPreBind("n1");
  const auto made = MakeDeviceClaim("made").Obj();
  auto create = handle.claims_written.Take();
  EXPECT_THAT(create.claim.spec.devices.requests, IsEmpty());
  create.done({.claim = std::make_shared<const api::ResourceClaim>(made)});
  EXPECT_EQ(Answer("2"), "AddFinalizer");
  EXPECT_EQ(Answer("3"), "WriteStatus");
  handle.ShowClaim(made);
  ASSERT_EQ(handle.waits.size(), 1u);
  handle.waits[0].done({});
  EXPECT_THAT(handle.claims_written.pod_writes, IsEmpty());
  ASSERT_TRUE(done_);
  EXPECT_EQ(done_->code, Code::kError);
  EXPECT_EQ(
      done_->message,
      "nil or empty request mappings, no update of pod default/p ExtendedResourceClaimStatus");
}

// Its writes are conflicts otherwise, and the claim stays with its finalizer.
TEST_F(DynamicResourcesTest, AClaimThatWasMadeIsDeletedInItsNewestVersion) {
  MapExtendedResource();
  Reserve(PodWithExtended("1"), "n1");
  StartPreBind("n1");
  handle.claims_written.Take().done({.claim = MakeDeviceClaim("made").Version("1").Ptr()});
  EXPECT_EQ(Answer("2"), "AddFinalizer");
  EXPECT_EQ(AnswerWith(Outcome::kFailed), "WriteStatus");
  ASSERT_TRUE(done_ && !done_->ok());
  plugin_->Unreserve(state, *info_, "n1");
  const auto request = handle.claims_written.Take();
  EXPECT_EQ(request.what, "RemoveFinalizer");
  EXPECT_EQ(request.claim.metadata.resource_version, "2");
}

TEST_F(DynamicResourcesTest, MoreExtendedResourcesThanCanBeToldApartAreRefused) {
  MapExtendedResource();
  api::Pod pod = PodWithExtended("1");
  for (int i = 1; i < 64; ++i) {
    pod.spec.containers[0].resources.requests.emplace_back("example.com/r" + std::to_string(i),
                                                           api::Quantity::FromUnits(1));
  }
  EXPECT_EQ(PreFilter(pod), "");
  pod.spec.containers[0].resources.requests.emplace_back("example.com/r64",
                                                         api::Quantity::FromUnits(1));
  EXPECT_EQ(PreFilter(pod), "more than 64 extended resources, and devices stand for some of them");
}

TEST_F(DynamicResourcesTest, APendingClaimMayNeedWhatANodeMustDeclare) {
  handle.gates.generic_workload = true;
  handle.gates.dra_optional_node_operations = true;
  plugin_ = std::make_unique<DynamicResources>(DynamicResourcesArgs(), handle);
  api::ResourceSlice slice = MakeNodeSlice("n1", 1);
  slice.spec.node_name.reset();
  slice.spec.all_nodes = true;
  slice.spec.skip_node_operations = {"*"};
  handle.plain_listers.Set(slice);
  api::Node declares = MakeNode("n1");
  declares.status.declared_features = {"DRAOptionalNodeOperations"};
  SetNodes({declares, MakeNode("n2")});
  handle.ShowClaim(MakeDeviceClaim("a").Request("gpu", "gpus").Obj());
  const auto member = [](const std::string& name) {
    api::Pod pod = PodWith({"a"}, name);
    pod.spec.scheduling_group.emplace().pod_group_name = "g";
    return pod;
  };
  Reserve(member("p"), "n1");
  EXPECT_THAT(Verdicts(member("q")), ElementsAre("",
                                                 "resource claim default/a allocation requires "
                                                 "DRAOptionalNodeOperations feature on the node"));
}

TEST_F(DynamicResourcesTest, APodWaitsForItsClaimsInKubeSchedulersWords) {
  handle.ShowClaim(MakeDeviceClaim("going").Deleting().Obj());
  handle.ShowClaim(MakeDeviceClaim("other").Owner("q", "q-uid").Obj());
  handle.ShowClaim(MakeDeviceClaim("classless").Request("gpu", "none").Obj());
  api::Pod templated = PodWith({});
  auto& entry = templated.spec.resource_claims.emplace_back();
  entry.name = "gpu";
  entry.resource_claim_template_name = "t";
  api::Pod named = templated;
  named.status.resource_claim_statuses.push_back({"gpu", "other"});
  const struct {
    api::Pod pod;
    std::string want;
  } cases[] = {
      {PodWith({"absent"}), "could not find ResourceClaim \"default/absent\""},
      {PodWith({"going"}), "resourceclaim \"going\" is being deleted"},
      {templated, "pod \"default/p\": ResourceClaim not created yet"},
      {named, "ResourceClaim default/other was not created for Pod default/p (Pod is not owner)"},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(PreFilter(c.pod), c.want);
    const Status held = plugin_->PreEnqueue(*Info(c.pod));
    EXPECT_EQ(held.code(), Code::kUnschedulableAndUnresolvable);
    EXPECT_EQ(held.message(), c.want);
  }
  EXPECT_EQ(PreFilter(PodWith({"classless"})), "request gpu: device class none does not exist");
  EXPECT_TRUE(plugin_->PreEnqueue(*Info(PodWith({"classless"}))).ok());
  // A template that makes no claim.
  api::Pod nothing = templated;
  nothing.status.resource_claim_statuses.push_back({"gpu", std::nullopt});
  EXPECT_EQ(PreFilter(nothing), "Skip");
}

// A part of a claim must not be taken for the whole; the pod tells why it waits.
TEST_F(DynamicResourcesTest, AClaimThatCannotBeReadWholeIsAnError) {
  api::ResourceClaim claim = MakeDeviceClaim("claim").Request("gpu", "gpu").Obj();
  claim.metadata.damage = std::vector<api::FieldDamage>{{"spec.devices", "no"}};
  handle.ShowClaim(std::move(claim));
  const api::Pod pod = PodWith({"claim"});
  EXPECT_TRUE(plugin_->PreEnqueue(*Info(pod)).ok());
  EXPECT_EQ(PreFilter(pod), "resourceclaim \"claim\" cannot be read: spec.devices: no");
  EXPECT_EQ(plugin_->PreFilter(state, *Info(pod), *snapshot_).status.code(), Code::kError);
}

TEST_F(DynamicResourcesTest, AClaimThatKeepsItsPodOffEveryNodeIsDeallocated) {
  handle.ShowClaim(
      MakeDeviceClaim("a").Request("gpu", "gpus").Allocated("gone", "gpu-9").OnNode("n9").Obj());
  const api::Pod pod = PodWith({"a"});
  EXPECT_THAT(Verdicts(pod), ElementsAre("resourceclaim not available on the node",
                                         "resourceclaim not available on the node"));
  class Rejected final : public NodeToStatus {
   public:
    explicit Rejected(Status status) : status_(status) {}
    Status Get(NodeRow) const override { return status_; }

   private:
    const Status status_;
  };
  // As the engine keeps it where it judges with nominated pods.
  ReasonTable elsewhere;
  const Rejected rejected(
      elsewhere.Make(Code::kUnschedulableAndUnresolvable,
                     plugin_->Filter(state, *info_, NodeView(*snapshot_, 0)).message()));
  const auto result = plugin_->PostFilter(state, *info_, *snapshot_, rejected);
  EXPECT_EQ(result.status.code(), Code::kUnschedulable);
  EXPECT_EQ(result.status.message(), "deallocation of ResourceClaim completed");
  auto request = handle.claims_written.Take();
  EXPECT_EQ(request.what, "WriteStatus");
  EXPECT_EQ(request.claim.status, api::ResourceClaimStatus());
  request.done({.outcome = Outcome::kFailed, .error = "no"});
  handle.RunPosted();
  EXPECT_THAT(handle.activated, IsEmpty()) << "the next attempt would end in the same way";

  // Another pod uses it.
  handle.ShowClaim(MakeDeviceClaim("a")
                       .Version("2")
                       .Request("gpu", "gpus")
                       .Allocated("gone", "gpu-9")
                       .OnNode("n9")
                       .ReservedFor("q", "q-uid")
                       .Obj());
  ASSERT_EQ(PreFilter(pod), "");
  EXPECT_EQ(plugin_->PostFilter(state, *info_, *snapshot_, rejected).status.message(), "");
  EXPECT_THAT(handle.claims_written.requests, IsEmpty());
}

TEST_F(DynamicResourcesTest, ScoresWithoutPreScoreAsWithIt) {
  api::ResourceClaim claim = MakeDeviceClaim("a").Request("gpu", "gpus").Obj();
  auto& request = claim.spec.devices.requests.front();
  auto& alternative = request.first_available.emplace_back();
  alternative.name = "one";
  alternative.device_class_name = "gpus";
  alternative.allocation_mode = request.exactly->allocation_mode;
  alternative.count = 1;
  request.exactly.reset();
  handle.ShowClaim(claim);
  ASSERT_EQ(PreFilter(PodWith({"a"})), "");
  const NodeView node(*snapshot_, 0);
  const int64_t without = plugin_->Score(state, *info_, node).score;
  EXPECT_EQ(without, 8);
  NodeSet feasible = snapshot_->nodes();
  ASSERT_TRUE(plugin_->PreScore(state, *info_, *snapshot_, feasible).ok());
  EXPECT_EQ(plugin_->Score(state, *info_, node).score, without);
}

TEST_F(DynamicResourcesTest, PostFilterFailsWhereAnotherPluginsPreFilterRejectedThePodFirst) {
  class NoStatuses final : public NodeToStatus {
    Status Get(NodeRow) const override { return {}; }
  };
  info_ = Info(MakePod());
  const Status failed = plugin_->PostFilter(state, *info_, *snapshot_, NoStatuses()).status;
  EXPECT_EQ(failed.code(), Code::kError);
  EXPECT_EQ(failed.message(), "not found");

  ASSERT_EQ(PreFilter(MakePod()), "Skip");
  const Status asked = plugin_->PostFilter(state, *info_, *snapshot_, NoStatuses()).status;
  EXPECT_EQ(asked.code(), Code::kUnschedulable);
  EXPECT_EQ(asked.message(), "");
}

TEST_F(DynamicResourcesTest, ATaintRuleKeepsDevicesFromPodsUntilItGoes) {
  handle.ShowClaim(MakeDeviceClaim("a").Request("gpu", "gpus").Obj());
  api::DeviceTaintRule rule;
  rule.metadata.name = "r";
  rule.spec.device_selector.emplace().pool = "n1";
  rule.spec.taint.key = "broken";
  rule.spec.taint.effect = api::kDeviceTaintNoSchedule;
  EXPECT_EQ(Verdicts(PodWith({"a"}))[0], "");
  handle.plain_listers.Set(rule);
  EXPECT_EQ(Verdicts(PodWith({"a"}))[0], "cannot allocate all claims");
  handle.plain_listers.Remove<api::DeviceTaintRule>("", "r");
  EXPECT_EQ(Verdicts(PodWith({"a"}))[0], "");
  handle.plain_listers.Remove<api::ResourceSlice>("", "n1-gpus");
  EXPECT_EQ(Verdicts(PodWith({"a"}))[0], "cannot allocate all claims");
}

TEST_F(DynamicResourcesTest, HintsQueueForAFreedDeviceAndForTheOwnClaim) {
  const api::Pod pod = PodWith({"a"});
  handle.ShowClaim(MakeDeviceClaim("a").Obj());
  const api::ObjectPtr own = MakeDeviceClaim("a").Ptr();
  const api::ObjectPtr own_reserved = MakeDeviceClaim("a").ReservedFor("q", "q-uid").Ptr();
  const api::ObjectPtr other = MakeDeviceClaim("b").Ptr();
  const api::ObjectPtr other_allocated = MakeDeviceClaim("b").Allocated("n1", "gpu-0").Ptr();
  const auto hint = [&](ActionType action, const api::ObjectPtr& before,
                        const api::ObjectPtr& after) {
    return test::Hint(*plugin_, {EventResource::kResourceClaim, action}, pod, before, after);
  };
  EXPECT_EQ(hint(action::kAdd, {}, own), "queue");
  EXPECT_EQ(hint(action::kAdd, {}, other), "skip");
  EXPECT_EQ(hint(action::kUpdate, own, own_reserved), "queue");
  EXPECT_EQ(hint(action::kUpdate, own, own), "skip");
  EXPECT_EQ(hint(action::kUpdate, other, other_allocated), "skip");
  EXPECT_EQ(hint(action::kUpdate, other_allocated, other), "queue");
  EXPECT_EQ(hint(action::kDelete, other_allocated, {}), "queue");
  EXPECT_EQ(hint(action::kDelete, other, {}), "skip");
  EXPECT_EQ(test::Hint(*plugin_, {EventResource::kResourceSlice, action::kUpdate}, pod, {}, {}),
            "queue");
}

TEST_F(DynamicResourcesTest, AClaimOfATemplateIsThePodsOwnByItsStatus) {
  api::Pod pod = PodWith({});
  auto& entry = pod.spec.resource_claims.emplace_back();
  entry.name = "gpu";
  entry.resource_claim_template_name = "t";
  pod.status.resource_claim_statuses.push_back({"gpu", "made"});
  handle.ShowClaim(MakeDeviceClaim("made").Owner("p", "p-uid").Obj());
  const auto hint = [&](const api::ObjectPtr& claim) {
    return test::Hint(*plugin_, {EventResource::kResourceClaim, action::kAdd}, pod, {}, claim);
  };
  EXPECT_EQ(hint(MakeDeviceClaim("made").Owner("p", "p-uid").Ptr()), "queue");
  EXPECT_EQ(hint(MakeDeviceClaim("gpu").Ptr()), "skip");
  test::DeviceClaimBuilder elsewhere = MakeDeviceClaim("made").Uid("other/made");
  elsewhere->metadata.namespace_ = "other";
  EXPECT_EQ(hint(std::move(elsewhere).Ptr()), "skip");
}

// Eight of 22 devices that have no value of an attribute in common eight times: each node's search
// takes long, and finds nothing.
TEST_F(DynamicResourcesTest, AllSearchesOfACycleHaveOneBudget) {
  std::vector<api::Node> nodes;
  for (int n = 0; n < 4; ++n) {
    const std::string node = "n" + std::to_string(n);
    nodes.push_back(MakeNode(node));
    api::ResourceSlice slice = MakeNodeSlice(node, 14);
    for (size_t i = 0; i < slice.spec.devices.size(); ++i) {
      slice.spec.devices[i].attributes.emplace_back("group", api::DeviceAttribute{}).second.int_ =
          static_cast<int64_t>(i / 7);
    }
    handle.plain_listers.Set(slice);
  }
  SetNodes(nodes);
  api::ResourceClaim claim = MakeDeviceClaim("c").Request("r", "gpus", 8).Obj();
  api::DeviceConstraint& constraint = claim.spec.devices.constraints.emplace_back();
  constraint.match_attribute = "gpu.example.com/group";
  handle.ShowClaim(claim);
  const api::Pod pod = PodWith({"c"});

  ASSERT_EQ(PreFilter(pod), "");
  NodeSet left = snapshot_->nodes();
  EXPECT_TRUE(plugin_->FilterNodes(state, *info_, *snapshot_, left).ok());
  const uint64_t all = state.budget().steps();
  ASSERT_GT(all, 100u);

  state = CycleState();
  plugin_ = std::make_unique<plugins::DynamicResources>(plugins::DynamicResourcesArgs(), handle);
  ASSERT_EQ(PreFilter(pod), "");
  state.RenewBudget(CycleBudget(all / 2, CycleBudget::kBytes));
  left = snapshot_->nodes();
  const Status status = plugin_->FilterNodes(state, *info_, *snapshot_, left);
  EXPECT_EQ(status.code(), Code::kError);
  EXPECT_EQ(status.message(),
            "what the pod's spec asks for takes more than a scheduling cycle may: " +
                std::to_string(all / 2) + " steps");
  EXPECT_LE(state.budget().steps(), all / 2);
}

}  // namespace
}  // namespace berth::plugins
