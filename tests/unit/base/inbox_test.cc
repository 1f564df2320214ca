// SPDX-License-Identifier: Apache-2.0
#include "src/base/inbox.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <vector>

#include "src/base/clock.h"
#include "src/base/thread.h"

namespace berth::base {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;

TEST(InboxTest, DrainGivesAllThatArrivedInOrderAndLeavesNothing) {
  Inbox<int> inbox;
  for (int i = 1; i <= 3; ++i) inbox.Push(i);
  EXPECT_EQ(inbox.size(), 3u);
  std::vector<int> out = {99};
  inbox.Drain(out, Duration::zero());
  EXPECT_THAT(out, ElementsAre(1, 2, 3));
  EXPECT_EQ(inbox.size(), 0u);
  inbox.Drain(out, Duration::zero());
  EXPECT_THAT(out, IsEmpty());
}

TEST(InboxTest, DrainGivesUpAtTheTimeoutAndNotMuchEarlier) {
  Inbox<int> inbox;
  std::vector<int> out;
  const RealClock clock;
  // A wait may end early now and then, but not each of several.
  const Time start = clock.Now();
  for (int i = 0; i < 5; ++i) inbox.Drain(out, milliseconds(20));
  EXPECT_THAT(out, IsEmpty());
  EXPECT_GE(clock.Now() - start, milliseconds(20));
}

TEST(InboxTest, AWaitingReceiverIsWokenByTheFirstMessage) {
  const struct {
    const char* name;
    std::optional<std::chrono::nanoseconds> timeout;
  } cases[] = {{"waits for ever", std::nullopt}, {"waits long", seconds(1000)}};
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    Inbox<int> inbox;
    std::atomic<bool> receiving{false};
    std::vector<int> got;
    NamedThread receiver("receiver", [&] {
      receiving = true;
      while (got.empty()) inbox.Drain(got, c.timeout);
    });
    while (!receiving) std::this_thread::yield();
    inbox.Push(7);
    receiver.Join();
    EXPECT_THAT(got, ElementsAre(7));
  }
}

TEST(InboxTest, NoMessageOfManySendersIsLostOrOvertakesOneOfTheSameSender) {
  constexpr int kSenders = 4;
  constexpr int kEach = 5000;
  struct Message {
    int sender = 0;
    int number = 0;
  };
  Inbox<Message> inbox;
  std::vector<NamedThread> senders;
  for (int sender = 0; sender < kSenders; ++sender) {
    senders.emplace_back("sender", [&inbox, sender] {
      for (int number = 0; number < kEach; ++number) inbox.Push(Message{sender, number});
    });
  }
  std::vector<int> next(kSenders, 0);
  std::vector<Message> out;
  for (int received = 0; received < kSenders * kEach;) {
    inbox.Drain(out, std::nullopt);
    received += static_cast<int>(out.size());
    for (const Message& message : out) {
      ASSERT_EQ(message.number, next[static_cast<size_t>(message.sender)]++);
    }
  }
  senders.clear();
  EXPECT_EQ(inbox.size(), 0u);
}

}  // namespace
}  // namespace berth::base
