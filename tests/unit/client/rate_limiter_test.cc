// SPDX-License-Identifier: Apache-2.0
#include "src/client/rate_limiter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <vector>

#include "berth/random.h"
#include "src/base/virtual_time.h"

namespace berth::client {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

std::vector<uint64_t> PopAll(RequestQueue& queue, Time now) {
  std::vector<uint64_t> out;
  while (const auto ticket = queue.Pop(now)) out.push_back(*ticket);
  return out;
}

TEST(TokenBucketTest, StartsFullAndGainsQpsTokensASecondUpToBurst) {
  base::VirtualClock clock;
  TokenBucket bucket(10, 3);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(bucket.TryTake(clock.Now()));
  EXPECT_FALSE(bucket.TryTake(clock.Now()));
  EXPECT_EQ(std::chrono::round<milliseconds>(bucket.UntilNext(clock.Now())), milliseconds(100));
  clock.Advance(milliseconds(99));
  EXPECT_FALSE(bucket.TryTake(clock.Now()));
  clock.Advance(milliseconds(1));
  EXPECT_TRUE(bucket.TryTake(clock.Now()));
  clock.Advance(seconds(60));
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(bucket.TryTake(clock.Now()));
  EXPECT_FALSE(bucket.TryTake(clock.Now()));
}

TEST(TokenBucketTest, NegativeQpsMeansNoLimit) {
  base::VirtualClock clock;
  TokenBucket bucket(-1, 1);
  for (int i = 0; i < 1000; ++i) EXPECT_TRUE(bucket.TryTake(clock.Now()));
  EXPECT_EQ(bucket.UntilNext(clock.Now()), Duration::zero());
}

TEST(TokenBucketTest, WaitsADayAtMost) {
  base::VirtualClock clock;
  for (const double qps : {0.0, 1e-12, 1e-5}) {
    TokenBucket bucket(qps, 1);
    EXPECT_TRUE(bucket.TryTake(clock.Now()));
    EXPECT_EQ(bucket.UntilNext(clock.Now()), std::chrono::hours(24)) << qps;
  }
}

TEST(TokenBucketTest, TimeThatGoesBackwardsGivesNoTokens) {
  base::VirtualClock clock;
  TokenBucket bucket(10, 1);
  clock.Advance(seconds(10));
  EXPECT_TRUE(bucket.TryTake(clock.Now()));
  EXPECT_FALSE(bucket.TryTake(clock.Now() - seconds(5)));
  EXPECT_FALSE(bucket.TryTake(clock.Now()));
}

TEST(RequestQueueTest, BindsGoFirstThenStatusPatchesThenTheRest) {
  base::VirtualClock clock;
  RequestQueue queue(50, 100);
  queue.Push(1, Priority::kOther, clock.Now());
  queue.Push(2, Priority::kStatusPatch, clock.Now());
  queue.Push(3, Priority::kBind, clock.Now());
  queue.Push(4, Priority::kStatusPatch, clock.Now());
  queue.Push(5, Priority::kBind, clock.Now());
  EXPECT_EQ(PopAll(queue, clock.Now()), (std::vector<uint64_t>{3, 5, 2, 4, 1}));
}

TEST(RequestQueueTest, EvictionsTakeTurnsWithBindsAndWaitForNothingElse) {
  base::VirtualClock clock;
  RequestQueue queue(0.000001, 8);
  for (uint64_t i = 1; i <= 100; ++i) queue.Push(i, Priority::kStatusPatch, clock.Now());
  clock.Advance(seconds(60));
  for (uint64_t i = 201; i <= 203; ++i) queue.Push(i, Priority::kBind, clock.Now());
  for (uint64_t i = 301; i <= 304; ++i) queue.Push(i, Priority::kEviction, clock.Now());
  EXPECT_EQ(PopAll(queue, clock.Now()),
            (std::vector<uint64_t>{301, 201, 302, 202, 303, 203, 304, 1}));
}

TEST(RequestQueueTest, TimeWaitedElsewhereCounts) {
  base::VirtualClock clock;
  RequestQueue queue(1, 100);
  queue.Push(1, Priority::kBind, clock.Now());
  queue.Push(2, Priority::kStatusPatch, clock.Now() - seconds(6));
  EXPECT_EQ(PopAll(queue, clock.Now()), (std::vector<uint64_t>{2, 1}));
}

TEST(RequestQueueTest, OverdueRequestsGoAheadOfBindsButNeverTwoInARow) {
  const struct {
    const char* name;
    Priority priority;
    Duration patience;
  } cases[] = {
      {"status patch", Priority::kStatusPatch, seconds(5)},
      {"event", Priority::kEvent, seconds(10)},
      {"other", Priority::kOther, seconds(10)},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    base::VirtualClock clock;
    RequestQueue queue(0.000001, 8);
    // Events have a bucket of their own, which must be empty here too.
    for (uint64_t i = 100; i < 108; ++i) {
      queue.Push(i, Priority::kEvent, clock.Now());
      ASSERT_EQ(queue.Pop(clock.Now()), i);
    }
    for (uint64_t i = 1; i <= 3; ++i) queue.Push(i, c.priority, clock.Now());
    for (uint64_t i = 11; i <= 17; ++i) queue.Push(i, Priority::kBind, clock.Now());
    clock.Advance(c.patience - milliseconds(1));
    EXPECT_EQ(queue.Pop(clock.Now()), 11u);
    clock.Advance(milliseconds(1));
    EXPECT_EQ(PopAll(queue, clock.Now()), (std::vector<uint64_t>{1, 12, 2, 13, 3, 14, 15}));
  }
}

TEST(RequestQueueTest, OverdueRequestsFollowEachOtherWhereNoBindWaits) {
  base::VirtualClock clock;
  RequestQueue queue(1, 100);
  for (uint64_t i = 1; i <= 3; ++i) queue.Push(i, Priority::kStatusPatch, clock.Now());
  clock.Advance(seconds(6));
  EXPECT_EQ(PopAll(queue, clock.Now()), (std::vector<uint64_t>{1, 2, 3}));
}

TEST(RequestQueueTest, EventsHaveTheirOwnBucket) {
  base::VirtualClock clock;
  RequestQueue queue(10, 2);
  for (uint64_t i = 1; i <= 3; ++i) queue.Push(i, Priority::kBind, clock.Now());
  for (uint64_t i = 11; i <= 13; ++i) queue.Push(i, Priority::kEvent, clock.Now());
  EXPECT_EQ(PopAll(queue, clock.Now()), (std::vector<uint64_t>{1, 2, 11, 12}));
  clock.Advance(milliseconds(100));
  EXPECT_EQ(PopAll(queue, clock.Now()), (std::vector<uint64_t>{3, 13}));
}

TEST(RequestQueueTest, ARemovedRequestGetsNoTurn) {
  base::VirtualClock clock;
  RequestQueue queue(50, 100);
  queue.Push(1, Priority::kBind, clock.Now());
  queue.Push(2, Priority::kBind, clock.Now());
  queue.Remove(1);
  queue.Remove(99);
  EXPECT_EQ(queue.size(), 1u);
  EXPECT_EQ(PopAll(queue, clock.Now()), (std::vector<uint64_t>{2}));
  EXPECT_EQ(queue.NextTurn(clock.Now()), std::nullopt);
}

// On random arrivals: waking up only at NextTurn() serves all, in order within each class, never
// above the rate, and never before its time.
TEST(RequestQueueTest, NextTurnIsExactlyWhenTheNextRequestMayGo) {
  constexpr Priority kAll[] = {Priority::kBind, Priority::kEviction, Priority::kStatusPatch,
                               Priority::kOther, Priority::kEvent};
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    base::VirtualClock clock;
    const Time start = clock.Now();
    const double qps = 5 + static_cast<double>(random.Below(50));
    const int burst = 1 + static_cast<int>(random.Below(10));
    RequestQueue queue(qps, burst);
    std::map<uint64_t, Priority> waiting;
    std::map<Priority, uint64_t> last;
    size_t served = 0;
    uint64_t next_ticket = 1;
    for (int step = 0; step < 400; ++step) {
      if (step < 200) {
        for (uint64_t n = random.Below(4); n > 0; --n) {
          const Priority priority = kAll[random.Below(std::size(kAll))];
          waiting[next_ticket] = priority;
          queue.Push(next_ticket++, priority, clock.Now());
        }
      }
      while (const auto ticket = queue.Pop(clock.Now())) {
        const Priority priority = waiting.at(*ticket);
        waiting.erase(*ticket);
        EXPECT_LT(last[priority], *ticket);
        last[priority] = *ticket;
        ++served;
      }
      const double elapsed = std::chrono::duration<double>(clock.Now() - start).count();
      EXPECT_LE(static_cast<double>(served), 2 * (burst + elapsed * qps + 1e-6));
      const auto turn = queue.NextTurn(clock.Now());
      ASSERT_EQ(turn.has_value(), !waiting.empty());
      if (!turn) continue;
      ASSERT_GT(*turn, clock.Now()) << "Pop() left a request that could go";
      RequestQueue early = queue;
      EXPECT_EQ(early.Pop(*turn - std::chrono::microseconds(1)), std::nullopt);
      clock.Set(*turn);
      RequestQueue exact = queue;
      EXPECT_NE(exact.Pop(clock.Now()), std::nullopt);
    }
    while (const auto turn = queue.NextTurn(clock.Now())) {
      clock.Set(std::max(*turn, clock.Now()));
      const auto ticket = queue.Pop(clock.Now());
      ASSERT_TRUE(ticket);
      waiting.erase(*ticket);
    }
    EXPECT_TRUE(waiting.empty());
  }
}

}  // namespace
}  // namespace berth::client
