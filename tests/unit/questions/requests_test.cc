// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "src/questions/changes.h"
#include "tests/support/builders.h"
#include "tests/support/random_cluster.h"

namespace berth::questions {
namespace {

TEST(WithRequestTest, ContainersGiveUpEqualParts) {
  const api::Pod pod = WithRequest(
      test::MakePod().Req({{"cpu", "3"}}).Req({{"cpu", "1"}}).InitReq({{"cpu", "5"}}), "cpu", 2000);
  EXPECT_EQ(pod.spec.containers[0].resources.requests[0].second.ToString(), "1500m");
  EXPECT_EQ(pod.spec.containers[1].resources.requests[0].second.ToString(), "500m");
  EXPECT_EQ(pod.spec.init_containers[0].resources.requests[0].second.ToString(), "2");
}

TEST(WithRequestTest, TheLimitFollowsWhereAResourceCannotBeOvercommitted) {
  api::Pod pod = test::MakePod().Req({{"cpu", "2"}, {"example.com/gpu", "4"}});
  pod.spec.containers[0].resources.limits = pod.spec.containers[0].resources.requests;
  const api::Pod less = WithRequest(WithRequest(pod, "cpu", 1000), "example.com/gpu", 1);
  EXPECT_EQ(less.spec.containers[0].resources.limits[0].second.ToString(), "2");
  EXPECT_EQ(less.spec.containers[0].resources.limits[1].second.ToString(), "1");
}

TEST(WithRequestTest, AnyAmountDownToTheOverheadIsMetExactly) {
  Random random(1);
  for (size_t i = 0; i < 2000; ++i) {
    const api::Pod pod = test::RandomPod(random, i, 5);
    for (const std::string& resource : RequestedResources(pod)) {
      const int64_t from = Amount(resource, EffectiveRequest(pod, resource));
      const int64_t least =
          Amount(resource, EffectiveRequest(WithRequest(pod, resource, 0), resource));
      const api::Quantity* overhead = api::Find(pod.spec.overhead, resource);
      EXPECT_EQ(least, overhead == nullptr ? 0 : Amount(resource, *overhead));
      const int64_t amount =
          least + static_cast<int64_t>(random.Below(static_cast<uint64_t>(from - least + 1)));
      const api::Pod less = WithRequest(pod, resource, amount);
      EXPECT_EQ(Amount(resource, EffectiveRequest(less, resource)), amount)
          << resource << " of pod " << i << ", which asks for " << from;
    }
  }
}

}  // namespace
}  // namespace berth::questions
