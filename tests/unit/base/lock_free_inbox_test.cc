// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <memory>
#include <thread>

#include "src/base/inbox.h"

namespace berth::base {
namespace {

TEST(LockFreeInboxTest, MessagesComeInTheOrderInWhichTheyWereSent) {
  LockFreeInbox<std::unique_ptr<int>> inbox;
  for (int i = 0; i < 3; ++i) inbox.Push(std::make_unique<int>(i));
  EXPECT_EQ(inbox.size(), 3u);
  std::vector<std::unique_ptr<int>> got;
  inbox.Drain(got);
  EXPECT_THAT(got,
              testing::ElementsAre(testing::Pointee(0), testing::Pointee(1), testing::Pointee(2)));
  inbox.Drain(got);
  EXPECT_TRUE(got.empty());
  EXPECT_EQ(inbox.size(), 0u);
  inbox.Push(std::make_unique<int>(3));  // is freed with the inbox
}

TEST(LockFreeInboxTest, OfManySendersNothingIsLostAndEachKeepsItsOrder) {
  constexpr int kSenders = 3;
  constexpr int kMessages = 20'000;
  LockFreeInbox<std::pair<int, int>> inbox;
  std::vector<std::thread> senders;
  for (int sender = 0; sender < kSenders; ++sender) {
    senders.emplace_back([&inbox, sender] {
      for (int i = 0; i < kMessages; ++i) inbox.Push({sender, i});
    });
  }
  std::vector<int> next(kSenders);
  int received = 0;
  bool in_order = true;
  std::vector<std::pair<int, int>> got;
  while (received < kSenders * kMessages) {
    inbox.Drain(got);
    for (const auto& [sender, i] : got) {
      in_order &= i == next[static_cast<size_t>(sender)]++;
      ++received;
    }
  }
  for (std::thread& sender : senders) sender.join();
  EXPECT_TRUE(in_order);
  EXPECT_EQ(inbox.size(), 0u);
}

}  // namespace
}  // namespace berth::base
