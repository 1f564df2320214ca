// SPDX-License-Identifier: Apache-2.0
#include "src/binding/pod_group_status.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "src/base/virtual_time.h"
#include "tests/support/fake_api.h"

namespace berth::binding {
namespace {

class PodGroupStatusPatcherTest : public testing::Test {
 protected:
  PodGroupStatusPatcherTest() {
    group_.metadata.namespace_ = "default";
    group_.metadata.name = "train";
    group_.metadata.uid = "uid-train";
  }

  void Patch(const std::string& status, const std::string& message = "") {
    api::Condition condition;
    condition.type = "PodGroupInitiallyScheduled";
    condition.status = status;
    condition.reason = status == "True" ? "Scheduled" : "Unschedulable";
    condition.message = message;
    patcher_.Patch(std::make_shared<const api::PodGroup>(group_), std::move(condition));
    executor_.RunDue();
  }
  void Reply(int code) {
    api_.last().Reply(code);
    executor_.RunDue();
  }
  // The condition that was sent last.
  nlohmann::json Sent() {
    const auto body = nlohmann::json::parse(api_.last().request.body);
    return body.at("status").at("conditions").at(0);
  }

  base::VirtualClock clock_;
  base::VirtualExecutor executor_{clock_};
  test::FakeApi api_{executor_};
  PodGroupStatusPatcher patcher_{api_, clock_, 1};
  api::PodGroup group_;
};

TEST_F(PodGroupStatusPatcherTest, OnePatchIsUnderWayAndTheNewestGoesAfterIt) {
  Patch("False", "no room");
  ASSERT_EQ(api_.size(), 1u);
  EXPECT_EQ(api_.last().request.path,
            "/apis/scheduling.k8s.io/v1beta1/namespaces/default/podgroups/train/status");
  EXPECT_EQ(Sent()["message"], "no room");
  Patch("False", "less room");
  Patch("False", "no room at all");
  EXPECT_EQ(api_.size(), 1u);
  Reply(200);
  ASSERT_EQ(api_.size(), 2u);
  EXPECT_EQ(Sent()["message"], "no room at all");
  Reply(200);
  Patch("False", "no room at all");
  EXPECT_EQ(api_.size(), 2u) << "what is said already";
}

TEST_F(PodGroupStatusPatcherTest, WhatBecameTrueStaysSo) {
  Patch("True");
  ASSERT_EQ(api_.size(), 1u);
  Patch("False", "no room for more");
  Reply(200);
  EXPECT_EQ(api_.size(), 1u);
}

// Such as of a gang that starts while its last failure is still to be written, and whose other pods
// are tried at once.
TEST_F(PodGroupStatusPatcherTest, WhatBecomesTrueIsWrittenThoughAFailureFollows) {
  Patch("False", "no room");
  Patch("True");
  Patch("False", "no room for more");
  Reply(200);
  ASSERT_EQ(api_.size(), 2u);
  EXPECT_EQ(Sent()["status"], "True");
  Reply(200);
  EXPECT_EQ(api_.size(), 2u);
}

TEST_F(PodGroupStatusPatcherTest, WhatOthersTookAwayIsWrittenAgain) {
  group_.metadata.resource_version = "1";
  Patch("True");
  Reply(200);
  // What others wrote before may be shown first.
  group_.metadata.resource_version = "2";
  Patch("True");
  EXPECT_EQ(api_.size(), 1u);
  clock_.Advance(std::chrono::seconds(10));
  Patch("True");
  ASSERT_EQ(api_.size(), 2u);
  EXPECT_EQ(Sent()["status"], "True");
}

TEST_F(PodGroupStatusPatcherTest, WhatTheWatchDoesNotShowCountsAllTheSame) {
  Patch("True");
  Reply(200);
  clock_.Advance(std::chrono::seconds(60));
  Patch("False", "no room for more");
  EXPECT_EQ(api_.size(), 1u);
}

TEST_F(PodGroupStatusPatcherTest, OfAGroupThatIsGoneNothingMoreIsSent) {
  Patch("False", "no room");
  Patch("True");
  patcher_.Forget("uid-train");
  executor_.RunDue();
  Reply(200);
  EXPECT_EQ(api_.size(), 1u);
}

}  // namespace
}  // namespace berth::binding
