// SPDX-License-Identifier: Apache-2.0
#include "src/cache/pod_group_states.h"

#include <gtest/gtest.h>

#include <memory>
#include <string_view>

#include "tests/support/builders.h"

namespace berth::cache {
namespace {

using PodPtr = std::shared_ptr<const api::Pod>;

PodPtr InGroup(std::string_view name, std::string_view group) {
  return test::MakePod().Name(name).Uid(name).SchedulingGroup(group).Ptr();
}
PodPtr Alone(std::string_view name) { return test::MakePod().Name(name).Uid(name).Ptr(); }

TEST(PodGroupStatesTest, PodsOfNoGroupArePassedOver) {
  PodGroupStates states;
  states.SetPending(Alone("plain"));
  states.SetPending(InGroup("member", "train"));
  const PodPtr plain = Alone("plain");
  states.SetPending(plain);
  states.SetPlaced(plain, "node", true);
  states.SetPlaced(plain, "node", false);
  states.RemovePending(*plain);
  states.RemovePlaced(*plain);
  EXPECT_EQ(states.size(), 1u);
  const PodGroupState* train = states.Find("default", "train");
  ASSERT_NE(train, nullptr);
  EXPECT_EQ(train->members.size(), 1u);
  EXPECT_EQ(train->scheduled, 0u);
}

// The version that a call passes may name another group than the one that the pod is in.
TEST(PodGroupStatesTest, AMemberIsFoundThoughThisVersionNamesNoGroup) {
  PodGroupStates states;
  states.SetPending(InGroup("a", "train"));
  states.SetPending(InGroup("b", "train"));
  states.SetPlaced(Alone("a"), "node", true);
  const PodGroupState* train = states.Find("default", "train");
  ASSERT_NE(train, nullptr);
  EXPECT_EQ(train->scheduled, 1u);
  EXPECT_TRUE(train->members.at("a").assumed);
  states.RemovePlaced(*Alone("a"));
  EXPECT_EQ(train->scheduled, 0u);
  // The newest version of the watch names none: it leaves.
  states.SetPending(Alone("a"));
  EXPECT_EQ(states.Find("default", "train")->members.size(), 1u);
  states.RemovePending(*Alone("b"));
  EXPECT_EQ(states.size(), 0u);
}

}  // namespace
}  // namespace berth::cache
