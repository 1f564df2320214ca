// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <numeric>
#include <string>
#include <vector>

#include "tests/unit/scheduler/pod_group_fixture.h"

// Gangs of unequal pods, for which the order in which they are tried matters.
namespace berth::scheduler {
namespace {

using std::chrono::seconds;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::IsSupersetOf;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;

class GangSearchTest : public test::PodGroupFixture {
 protected:
  void Begin(int64_t search_steps) {
    options_.configuration.profiles[0].plugin_config = {
        {"GangScheduling",
         ConfigValue(ConfigValue::Map{{"searchSteps", ConfigValue(search_steps)}})}};
    Restart();
    Synced();
  }
  // A pod of the group "train" that asks for so many cpus.
  static test::PodBuilder Sized(int number, int cpus) {
    const std::string name = "train-" + std::to_string(number);
    return test::MakePod()
        .Name(name)
        .Uid("uid-" + name)
        .SchedulingGroup("train")
        .Req({{"cpu", std::to_string(cpus)}});
  }
  // A gang of pods of these sizes, all of which must start.
  void AddGang(const std::vector<int>& sizes) {
    AddGroup(MakeGroup("train", static_cast<int32_t>(sizes.size())));
    for (size_t i = 0; i < sizes.size(); ++i) AddPod(Sized(static_cast<int>(i), sizes[i]));
  }
};

TEST_F(GangSearchTest, TheLargestPodsAreTriedFirstWhereTheQueuesOrderLeadsNowhere) {
  for (const int64_t steps : {0, 1000}) {
    SCOPED_TRACE(steps);
    Begin(steps);
    AddNodeWithCpu("a", 4);
    AddNodeWithCpu("b", 4);
    AddGang({2, 2, 4});
    Turn();
    if (steps == 0) {
      EXPECT_THAT(Bindings(), IsEmpty());
      EXPECT_THAT(GroupStatusPatches("train"), Each(Not(HasSubstr("in other orders"))));
    } else {
      EXPECT_THAT(Bindings(), SizeIs(3));
    }
  }
}

TEST_F(GangSearchTest, APodThatFindsNoNodeIsTriedBeforeTheOthersTheNextTime) {
  Begin(1000);
  AddNode(test::MakeNode("special")
              .Label("gpu", "yes")
              .Allocatable({{"cpu", "5"}, {"memory", "32Gi"}, {"pods", "110"}}));
  AddNodeWithCpu("other", 3);
  AddGroup(MakeGroup("train", 2));
  AddPod(Sized(0, 3));
  AddPod(Sized(1, 3).NodeSelector("gpu", "yes"));
  Turn();
  EXPECT_THAT(Bindings(), IsSupersetOf({"default/train-0 -> other", "default/train-1 -> special"}));
}

TEST_F(GangSearchTest, AGangThatFitsInNoOrderIsToldHowCloseItCame) {
  Begin(1000);
  AddNodeWithCpu("a", 4);
  AddNodeWithCpu("b", 4);
  AddGang({3, 3, 2});
  Turn();
  EXPECT_THAT(Bindings(), IsEmpty());
  EXPECT_EQ(scheduler().cache().num_assumed(), 0u);
  EXPECT_THAT(GroupStatusPatches("train"),
              Each(HasSubstr("in other orders at most 2 of 3 pods fit, but not default/train-2: "
                             "0/2 nodes are available: 2 Insufficient cpu.")));
}

TEST_F(GangSearchTest, ThePodsOfAGangThatAreAlikeAreTriedOnce) {
  Begin(1000);
  AddNodeWithCpu("a", 4);
  AddGang({3, 3});
  Turn();
  EXPECT_THAT(GroupStatusPatches("train"), Each(Not(HasSubstr("in other orders"))));
}

TEST_F(GangSearchTest, WhatAGangWithItsMinimumLeavesOverIsNotSearchedFor) {
  std::vector<std::string> told;
  options_.on_pod_group = [&](const PodGroupOutcome& outcome) {
    told.push_back(std::string(outcome.status) + " " + std::string(outcome.message));
  };
  Begin(1000);
  AddNodeWithCpu("a", 2);
  AddGroup(MakeGroup("train", 1));
  AddPod(Sized(0, 2));
  AddPod(Sized(1, 3));
  AddPod(Sized(2, 4));
  Turn();
  EXPECT_THAT(Bindings(), ElementsAre("default/train-0 -> a"));
  // In any order as many pods as are needed "fit": none.
  ASSERT_THAT(told, SizeIs(2));
  EXPECT_THAT(told[0], StartsWith("True"));
  EXPECT_THAT(told[1], StartsWith("False pod group is unschedulable"));
}

TEST_F(GangSearchTest, TheSearchEndsAfterItsSteps) {
  Begin(2);
  AddNodeWithCpu("a", 4);
  AddNodeWithCpu("b", 4);
  AddGang({2, 2, 4});
  Turn();
  EXPECT_THAT(Bindings(), IsEmpty()) << "three decisions are needed";
  EXPECT_EQ(scheduler().cache().num_assumed(), 0u);
}

// Whether pods of these sizes fit into the room that is left of the nodes.
bool Fits(const std::vector<int>& sizes, size_t next, std::vector<int>& room) {
  if (next == sizes.size()) return true;
  for (int& left : room) {
    if (left < sizes[next]) continue;
    left -= sizes[next];
    const bool fits = Fits(sizes, next + 1, room);
    left += sizes[next];
    if (fits) return true;
  }
  return false;
}

class GangSearchPropertyTest : public GangSearchTest,
                               public testing::WithParamInterface<uint64_t> {};

// With steps enough, a gang is placed if there is any way to place it, and otherwise not.
TEST_P(GangSearchPropertyTest, AGangIsPlacedWhereThereIsAWay) {
  Random random(GetParam());
  int fitted = 0;
  int unfit = 0;
  for (int round = 0; round < 30; ++round) {
    Begin(100'000);
    const size_t before = Bindings().size();
    std::vector<int> room;
    const uint64_t nodes = 2 + random.Below(2);
    for (uint64_t i = 0; i < nodes; ++i) {
      room.push_back(4 + static_cast<int>(random.Below(7)));
      AddNodeWithCpu("n" + std::to_string(i), room.back());
    }
    // Nearly all that there is.
    int left = std::accumulate(room.begin(), room.end(), 0) - static_cast<int>(random.Below(2));
    std::vector<int> sizes;
    while (left > 0 && sizes.size() < 7) {
      sizes.push_back(std::min(left, 2 + static_cast<int>(random.Below(5))));
      left -= sizes.back();
    }
    const bool fits = Fits(sizes, 0, room);
    AddGang(sizes);
    Turn();
    ASSERT_EQ(Bindings().size() - before, fits ? sizes.size() : 0) << "round " << round;
    ++(fits ? fitted : unfit);
  }
  EXPECT_GT(fitted, 5);
  EXPECT_GT(unfit, 0);
}

INSTANTIATE_TEST_SUITE_P(Seeds, GangSearchPropertyTest, testing::Range<uint64_t>(1, 5));

}  // namespace
}  // namespace berth::scheduler
