// SPDX-License-Identifier: Apache-2.0
#include "src/framework/waiting_pods.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/base/virtual_time.h"
#include "tests/support/builders.h"
#include "tests/support/plain_resource_names.h"

namespace berth::framework {
namespace {

using std::chrono::seconds;

class WaitingPodsTest : public testing::Test {
 protected:
  void Add(std::string_view uid, std::vector<WaitingPods::PluginTimeout> plugins) {
    pods_.Add(test::MakePod().Uid(uid).Info(names_), "node", std::move(plugins), clock_.Now());
  }

  test::PlainResourceNames names_;
  base::VirtualClock clock_;
  WaitingPods pods_;
};

TEST_F(WaitingPodsTest, APodGoesOnOnceEveryPluginHasAllowedIt) {
  Add("u", {{"A", seconds(10)}, {"B", seconds(10)}});
  pods_.Find("u")->Allow("A");
  EXPECT_TRUE(pods_.TakeOutcomes(clock_.Now()).empty());
  clock_.Advance(seconds(3));
  pods_.Find("u")->Allow("B");
  const auto outcomes = pods_.TakeOutcomes(clock_.Now());
  ASSERT_EQ(outcomes.size(), 1u);
  EXPECT_EQ(outcomes[0].uid, "u");
  EXPECT_EQ(outcomes[0].code, Code::kSuccess);
  EXPECT_EQ(outcomes[0].waited, seconds(3));
  EXPECT_EQ(pods_.Find("u"), nullptr);
}

TEST_F(WaitingPodsTest, ARejectionCountsOnceAndStands) {
  Add("u", {{"A", seconds(10)}});
  WaitingPod* pod = pods_.Find("u");
  pod->Reject("A", "no");
  pod->Reject("A", "no again");
  pod->Allow("A");
  const auto outcomes = pods_.TakeOutcomes(clock_.Now());
  ASSERT_EQ(outcomes.size(), 1u);
  EXPECT_EQ(outcomes[0].code, Code::kUnschedulable);
  EXPECT_EQ(outcomes[0].message, "no");
}

TEST_F(WaitingPodsTest, TheShortestTimeoutRejectsInItsPluginsName) {
  Add("u", {{"A", std::chrono::minutes(5)}, {"B", seconds(90)}});
  EXPECT_EQ(pods_.NextExpiry(), clock_.Now() + seconds(90));
  clock_.Advance(seconds(89));
  pods_.Expire(clock_.Now());
  EXPECT_TRUE(pods_.TakeOutcomes(clock_.Now()).empty());
  clock_.Advance(seconds(1));
  pods_.Expire(clock_.Now());
  const auto outcomes = pods_.TakeOutcomes(clock_.Now());
  ASSERT_EQ(outcomes.size(), 1u);
  EXPECT_EQ(outcomes[0].plugin, "B");
  EXPECT_EQ(outcomes[0].message, "rejected due to timeout after waiting 1m30s at plugin B");
  EXPECT_EQ(pods_.NextExpiry(), std::nullopt);
}

TEST_F(WaitingPodsTest, AllowingOthersWhileVisitingThemIsSafe) {
  for (const char* uid : {"a", "b", "c"}) Add(uid, {{"Gang", seconds(10)}});
  pods_.ForEach([](WaitingPod& pod) { pod.Allow("Gang"); });
  EXPECT_EQ(pods_.TakeOutcomes(clock_.Now()).size(), 3u);
  EXPECT_EQ(pods_.size(), 0u);
}

}  // namespace
}  // namespace berth::framework
