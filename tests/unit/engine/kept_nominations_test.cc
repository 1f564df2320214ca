// SPDX-License-Identifier: Apache-2.0
// What ends an answer that is kept about a node with nominated pods.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "src/cache/cache.h"
#include "src/config/types.h"
#include "src/engine/engine.h"
#include "src/framework/profile.h"
#include "tests/support/builders.h"
#include "tests/support/default_profile.h"
#include "tests/support/fake_handle.h"

namespace berth::engine {
namespace {

constexpr std::string_view kZone = "topology.kubernetes.io/zone";

// Three nodes, one in zone a and two in zone b, and the default profile.
class KeptNominationsTest : public testing::Test {
 protected:
  KeptNominationsTest() {
    handle_.current_snapshot = &cache_;
    profile_ = test::DefaultProfile(handle_);
    cache_.SetSignatureParts(profile_->signature_parts());
    for (const auto& [name, zone] : {std::pair{"a", "a"}, {"b", "b"}, {"c", "b"}}) {
      cache_.SetNode(test::MakeNode(name)
                         .Label(kZone, zone)
                         .Allocatable({{"cpu", "4"}, {"memory", "8Gi"}, {"pods", "10"}})
                         .Ptr());
    }
  }

  PodInfoPtr Info(const test::PodBuilder& pod) { return cache_.MakePodInfo(pod.Ptr()); }
  void Nominate(const test::PodBuilder& pod, const std::string& node) {
    nominations_.AddNominatedPod(Info(pod), {NominatingMode::kOverride, node});
  }
  // A pod of higher priority, as large as this.
  static test::PodBuilder Important(std::string_view name, std::string_view cpu) {
    return test::MakePod().Name(name).Uid(name).Priority(10).Req({{"cpu", cpu}});
  }

  // How many nodes take a pod like this one, as the engine that keeps answers finds, once it keeps
  // some. It must find what the other one finds.
  size_t Feasible(const test::PodBuilder& pod) {
    Decision decision;
    for (int i = 0; i < 3; ++i) {
      framework::Cycle cycle;
      decision = keeping_.Schedule(*profile_, cycle, *Info(pod), {cache_, nominations_}, 0);
    }
    EXPECT_TRUE(decision.kept);
    framework::Cycle cycle;
    const Decision plain = plain_.Schedule(*profile_, cycle, *Info(pod), {cache_, nominations_}, 0);
    EXPECT_EQ(plain.feasible_nodes, decision.feasible_nodes);
    return decision.feasible_nodes;
  }

  test::FakeHandle handle_;
  cache::Cache cache_;
  cache::Nominator nominations_;
  std::unique_ptr<framework::Profile> profile_;
  Engine plain_{Random(1)};
  Engine keeping_{Random(1), cache_, 1u << 20};
};

TEST_F(KeptNominationsTest, AnotherPodIsNominatedForTheNode) {
  const auto pod = test::MakePod().Name("small").Req({{"cpu", "1"}});
  Nominate(Important("first", "2"), "a");
  EXPECT_EQ(Feasible(pod), 3u);
  Nominate(Important("second", "2"), "a");
  EXPECT_EQ(Feasible(pod), 2u);
  nominations_.DeleteNominatedPodIfExists(*Important("first", "2").Ptr());
  EXPECT_EQ(Feasible(pod), 3u);
}

TEST_F(KeptNominationsTest, PodsOfTheNodeComeAndGo) {
  const auto pod = test::MakePod().Name("small").Req({{"cpu", "1"}});
  Nominate(Important("first", "2"), "a");
  EXPECT_EQ(Feasible(pod), 3u);
  ASSERT_TRUE(cache_.AddPod(
      Info(test::MakePod().Name("placed").Uid("placed").OnNode("a").Req({{"cpu", "1500m"}}))));
  EXPECT_EQ(Feasible(pod), 2u);
  ASSERT_TRUE(cache_.RemovePod("placed"));
  EXPECT_EQ(Feasible(pod), 3u);
}

TEST_F(KeptNominationsTest, TheNodeIsAnother) {
  const auto pod = test::MakePod().Name("small").Req({{"cpu", "1"}});
  Nominate(Important("first", "3500m"), "a");
  EXPECT_EQ(Feasible(pod), 2u);
  cache_.SetNode(
      test::MakeNode("a").Allocatable({{"cpu", "8"}, {"memory", "8Gi"}, {"pods", "10"}}).Ptr());
  EXPECT_EQ(Feasible(pod), 3u);
}

TEST_F(KeptNominationsTest, APodComesToAnotherZone) {
  const auto pod = test::MakePod()
                       .Name("web")
                       .Label("app", "web")
                       .Req({{"cpu", "100m"}})
                       .Spread(1, kZone, "DoNotSchedule", {{"app", "web"}});
  Nominate(Important("first", "1").Label("app", "web"), "a");
  EXPECT_EQ(Feasible(pod), 2u);
  ASSERT_TRUE(cache_.AddPod(Info(test::MakePod()
                                     .Name("placed")
                                     .Uid("placed")
                                     .Label("app", "web")
                                     .OnNode("b")
                                     .Req({{"cpu", "1"}}))));
  EXPECT_EQ(Feasible(pod), 1u);
  nominations_.DeleteNominatedPodIfExists(*Important("first", "1").Ptr());
  EXPECT_EQ(Feasible(pod), 1u);
}

TEST_F(KeptNominationsTest, APodThatKeepsOthersOffItsZoneGoesFromAnotherNode) {
  const auto pod = test::MakePod().Name("web").Label("app", "web").Req({{"cpu", "100m"}});
  Nominate(Important("first", "1"), "b");
  EXPECT_EQ(Feasible(pod), 3u);
  ASSERT_TRUE(
      cache_.AddPod(Info(test::MakePod().Name("placed").Uid("placed").OnNode("c").PodAntiAffinity(
          kZone, {{"app", "web"}}))));
  EXPECT_EQ(Feasible(pod), 1u);
  ASSERT_TRUE(cache_.RemovePod("placed"));
  EXPECT_EQ(Feasible(pod), 3u);
}

}  // namespace
}  // namespace berth::engine
