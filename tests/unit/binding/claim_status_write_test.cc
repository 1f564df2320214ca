// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <memory>
#include <optional>

#include "src/base/virtual_time.h"
#include "src/binding/claim_writes.h"
#include "tests/support/builders.h"
#include "tests/support/fake_api.h"

namespace berth::binding {
namespace {

using api::Quantity;

class ClaimStatusWriteTest : public testing::Test {
 protected:
  ClaimStatusWriteTest() {
    WriteClaimStatuses(
        api_, *pod_,
        {{.resource_claim_name = "cpus",
          .containers = {"main"},
          .mapping = {{"cpu", Quantity::FromMilli(1500)}},
          .overhead = {{"memory", Quantity::FromUnits(1024), Quantity::FromUnits(16)}}}},
        [this](AsyncStatus status) { done_ = std::move(status); });
    executor_.RunDue();
  }

  base::VirtualClock clock_;
  base::VirtualExecutor executor_{clock_};
  test::FakeApi api_{executor_};
  std::shared_ptr<const api::Pod> pod_ = test::MakePod().Name("p").Uid("pod-uid").Ptr();
  std::optional<AsyncStatus> done_;
};

TEST_F(ClaimStatusWriteTest, WhatTheClaimsTakeTakesThePlaceOfWhatThePodsStatusSays) {
  const client::Request& sent = api_.last().request;
  EXPECT_EQ(sent.verb, client::Verb::kPatch);
  EXPECT_EQ(sent.path, "/api/v1/namespaces/default/pods/p/status");
  EXPECT_EQ(sent.content_type, "application/merge-patch+json");
  EXPECT_EQ(sent.body,
            R"({"metadata":{"uid":"pod-uid"},"status":{"nodeAllocatableResourceClaimStatuses":[{)"
            R"("resourceClaimName":"cpus","containers":["main"],"mapping":[{"name":"cpu",)"
            R"("quantity":"1500m"}],"overhead":[{"name":"memory","perPod":"1024",)"
            R"("perContainer":"16"}]}]}})");
  EXPECT_FALSE(done_);
  api_.last().Reply(200, "{}");
  executor_.RunDue();
  EXPECT_TRUE(done_ && done_->ok());
}

TEST_F(ClaimStatusWriteTest, AFailureIsToldInTheServersWords) {
  api_.last().Fail(test::Rejection(422, "invalid"));
  executor_.RunDue();
  ASSERT_TRUE(done_);
  EXPECT_EQ(done_->code, Code::kError);
  EXPECT_EQ(done_->message, "invalid");
}

TEST_F(ClaimStatusWriteTest, ItIsWrittenAgainWhereTheServerIsNotReady) {
  api_.last().Fail(test::Rejection(503));
  executor_.Advance(std::chrono::seconds(2));
  EXPECT_FALSE(done_);
  ASSERT_EQ(api_.size(), 2u);
  EXPECT_EQ(api_.at(1).request.body, api_.at(0).request.body);
  api_.last().Reply(200, "{}");
  executor_.RunDue();
  EXPECT_TRUE(done_ && done_->ok());
}

TEST_F(ClaimStatusWriteTest, AnEmptyListTakesItBackAndIsSentOnce) {
  std::optional<AsyncStatus> cleared;
  WriteClaimStatuses(api_, *pod_, {}, [&](AsyncStatus status) { cleared = std::move(status); });
  executor_.RunDue();
  api_.last().Fail(test::Rejection(503));
  executor_.Advance(std::chrono::seconds(2));
  EXPECT_TRUE(cleared && !cleared->ok());
  EXPECT_EQ(api_.size(), 2u);
  EXPECT_EQ(api_.last().request.body, R"({"metadata":{"uid":"pod-uid"},"status":)"
                                      R"({"nodeAllocatableResourceClaimStatuses":[]}})");
}

}  // namespace
}  // namespace berth::binding
