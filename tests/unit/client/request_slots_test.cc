// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "berth/random.h"
#include "src/base/virtual_time.h"
#include "src/client/rate_limiter.h"

namespace berth::client {
namespace {

TEST(NamespaceOfTest, IsTheNamespaceThatAPathLeadsThrough) {
  const struct {
    const char* path;
    const char* owner;
  } cases[] = {
      {"/api/v1/namespaces/shop/pods/web/binding", "shop"},
      {"/apis/events.k8s.io/v1/namespaces/shop/events?x=/namespaces/other/", "shop"},
      {"/api/v1/namespaces/shop", ""},
      {"/api/v1/namespaces/shop?x=/pods", ""},
      {"/api/v1/nodes/n1", ""},
      {"", ""},
  };
  for (const auto& c : cases) EXPECT_EQ(NamespaceOf(c.path), c.owner) << c.path;
}

// Each takes what it may, in turn, until none may have more.
TEST(RequestSlotsTest, EachOfThoseThatWantAllGetsItsShareAndOneMoreFindsASlot) {
  const struct {
    size_t slots;
    size_t namespaces;
    size_t each;  // the least that one of them gets
  } cases[] = {{96, 1, 72}, {96, 2, 41}, {96, 10, 9}, {96, 40, 2}, {16, 1, 12}, {16, 3, 4}};
  for (const auto& c : cases) {
    SCOPED_TRACE(c.namespaces);
    RequestSlots slots(c.slots);
    std::map<std::string, size_t> held;
    for (bool took = true; took;) {
      took = false;
      for (size_t i = 0; i < c.namespaces; ++i) {
        const std::string owner = "ns-" + std::to_string(i);
        if (!slots.MayTake(owner)) continue;
        slots.Take(owner);
        ++held[owner];
        took = true;
      }
    }
    for (const auto& [owner, count] : held) EXPECT_GE(count, c.each) << owner;
    EXPECT_TRUE(slots.MayTake("another")) << slots.free() << " are free";
    slots.Free("ns-0");
    EXPECT_TRUE(slots.MayTake("ns-0"));
  }
}

TEST(RequestSlotsTest, FewerSlotsThanAreTakenMeansThatNoneIsFree) {
  RequestSlots slots(16);
  for (int i = 0; i < 5; ++i) slots.Take("a");
  slots.Resize(3);
  EXPECT_EQ(slots.free(), 0u);
  EXPECT_FALSE(slots.MayTake("b"));
  slots.Resize(96);
  EXPECT_TRUE(slots.MayTake("b"));
}

// On random arrivals and answers, against all that waits, looked at anew: who is served may be,
// comes in its order, and no one is left that could be.
TEST(RequestSlotsTest, TheQueueServesWhoeverHasRoomAndHoldsBackNoOther) {
  constexpr Priority kOrder[] = {Priority::kBind, Priority::kStatusPatch, Priority::kOther};
  struct Request {
    uint64_t ticket = 0;
    std::string owner;
    size_t rank = 0;  // in kOrder
  };
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const base::VirtualClock clock;
    RequestSlots slots(8 + random.Below(24));
    RequestQueue queue(-1, 1, &slots);
    std::deque<Request> waiting;
    std::vector<std::string> under_way;
    uint64_t next = 1;
    for (int step = 0; step < 500; ++step) {
      for (uint64_t n = random.Below(6); n > 0; --n) {
        // The first is the noisy one.
        const std::string owner = "ns-" + std::to_string(random.Below(2) * random.Below(6));
        const size_t rank = random.Below(std::size(kOrder));
        waiting.push_back({next, owner, rank});
        queue.Push(next++, kOrder[rank], clock.Now(), owner);
      }
      if (!waiting.empty() && random.Below(4) == 0) {
        const size_t gone = random.Below(waiting.size());
        queue.Remove(waiting[gone].ticket);
        waiting.erase(waiting.begin() + static_cast<std::ptrdiff_t>(gone));
      }
      for (uint64_t n = random.Below(5); n > 0 && !under_way.empty(); --n) {
        const size_t answered = random.Below(under_way.size());
        slots.Free(under_way[answered]);
        under_way.erase(under_way.begin() + static_cast<std::ptrdiff_t>(answered));
      }
      while (slots.free() > 0) {
        size_t best = std::size(kOrder);
        for (const Request& one : waiting) {
          if (slots.MayTake(one.owner)) best = std::min(best, one.rank);
        }
        const auto ticket = queue.Pop(clock.Now());
        ASSERT_EQ(ticket.has_value(), best < std::size(kOrder));
        if (!ticket) break;
        const auto found = std::ranges::find(waiting, *ticket, &Request::ticket);
        ASSERT_NE(found, waiting.end());
        EXPECT_TRUE(slots.MayTake(found->owner));
        EXPECT_EQ(found->rank, best);
        const auto first = std::ranges::find_if(waiting, [&](const Request& one) {
          return one.owner == found->owner && one.rank == found->rank;
        });
        EXPECT_EQ(first->ticket, *ticket) << "those of one namespace keep their order";
        slots.Take(found->owner);
        under_way.push_back(found->owner);
        waiting.erase(found);
      }
      ASSERT_EQ(queue.size(), waiting.size());
      if (slots.free() == 0) continue;
      for (int i = 0; i < 6; ++i) {
        const std::string owner = "ns-" + std::to_string(i);
        EXPECT_EQ(queue.HoldsBack(owner), std::ranges::count(waiting, owner, &Request::owner) > 0);
      }
    }
  }
}

}  // namespace
}  // namespace berth::client
