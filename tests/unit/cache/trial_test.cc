// SPDX-License-Identifier: Apache-2.0
#include "src/cache/trial.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "src/cache/cache.h"
#include "tests/support/builders.h"

namespace berth::cache {
namespace {

using test::MakeNode;
using test::MakePod;
using testing::ElementsAre;

class TrialTest : public testing::Test {
 protected:
  TrialTest() : row_(cache_.SetNode(MakeNode("a").Ptr())) {
    for (const char* uid : {"1", "2", "3"}) {
      auto pod = MakePod().Uid(uid).OnNode("a").Req({{"cpu", "1"}}).HostPort(80);
      EXPECT_TRUE(cache_.AddPod(cache_.MakePodInfo(pod.Ptr())));
    }
  }
  PodInfoPtr NewPod(const char* uid) {
    return cache_.MakePodInfo(MakePod().Uid(uid).Req({{"cpu", "1"}}).Ptr());
  }
  int64_t Cpu() const { return cache_.requested(kCpu)[row_]; }

  Cache cache_;
  NodeRow row_;
};

TEST_F(TrialTest, RollsBackWhenItsLifeEnds) {
  const std::vector<const PodInfo*> pods(cache_.pods(row_).begin(), cache_.pods(row_).end());
  {
    Trial trial = cache_.BeginTrial();
    EXPECT_TRUE(trial.Remove("1"));
    EXPECT_TRUE(trial.Assume(NewPod("4"), row_));
    EXPECT_TRUE(trial.Remove("3"));
    EXPECT_TRUE(trial.Forget("4"));
    EXPECT_EQ(Cpu(), 1000);
  }
  EXPECT_EQ(Cpu(), 3000);
  EXPECT_EQ(std::vector<const PodInfo*>(cache_.pods(row_).begin(), cache_.pods(row_).end()), pods);
  EXPECT_EQ(cache_.num_assumed(), 0u);
}

TEST_F(TrialTest, WhatATrialKeepsTheTrialAroundItMayTakeBack) {
  Trial outer = cache_.BeginTrial();
  Trial inner = cache_.BeginTrial();
  EXPECT_TRUE(inner.Assume(NewPod("4"), row_));
  inner.Commit();
  EXPECT_EQ(Cpu(), 4000);
  outer.Rollback();
  EXPECT_EQ(Cpu(), 3000);
  outer.Rollback();
  EXPECT_EQ(Cpu(), 3000);
}

TEST_F(TrialTest, MovingATrialMovesTheDutyToEndIt) {
  Trial first = cache_.BeginTrial();
  {
    Trial second = std::move(first);
    EXPECT_TRUE(second.Remove("1"));
  }
  EXPECT_EQ(Cpu(), 3000);
  EXPECT_TRUE(cache_.AddPod(cache_.MakePodInfo(MakePod().Uid("5").OnNode("a").Ptr())));
}

TEST_F(TrialTest, NumbersOfARolledBackTrialAreNotGivenOutAgain) {
  uint64_t inside = 0;
  {
    Trial trial = cache_.BeginTrial();
    EXPECT_TRUE(trial.Remove("1"));
    inside = cache_.generation();
  }
  std::vector<Change> changes;
  ASSERT_TRUE(cache_.ChangesSince(inside, changes));
  EXPECT_THAT(changes, ElementsAre(Change{inside + 1, row_, ChangeKind::kPods}));
  EXPECT_TRUE(cache_.RemovePod("1"));
  EXPECT_GT(cache_.generation(), inside + 1);
}

TEST_F(TrialTest, AGhostRowIsFreedOnlyWhenTheTrialIsKept) {
  cache_.RemoveNode("a");
  for (const bool keep : {false, true}) {
    SCOPED_TRACE(keep);
    Trial trial = cache_.BeginTrial();
    for (const char* uid : {"1", "2", "3"}) EXPECT_TRUE(trial.Remove(uid));
    EXPECT_EQ(cache_.node_name(row_), "a");
    keep ? trial.Commit() : trial.Rollback();
    EXPECT_EQ(cache_.node_name(row_), keep ? "" : "a");
    EXPECT_EQ(cache_.num_pods(), keep ? 0u : 3u);
  }
}

using TrialDeathTest = TrialTest;

TEST_F(TrialDeathTest, MisuseIsABug) {
  EXPECT_DEATH(
      {
        Trial outer = cache_.BeginTrial();
        Trial inner = cache_.BeginTrial();
        outer.Rollback();
      },
      "trial ended before one that began inside it");
  EXPECT_DEATH(
      {
        Trial outer = cache_.BeginTrial();
        Trial inner = cache_.BeginTrial();
        outer.Remove("1");
      },
      "not the innermost trial");
  EXPECT_DEATH(
      {
        Trial trial = cache_.BeginTrial();
        cache_.RemoveNode("a");
      },
      "inside a trial");
}

}  // namespace
}  // namespace berth::cache
