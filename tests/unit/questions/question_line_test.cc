// SPDX-License-Identifier: Apache-2.0
#include "src/questions/question_line.h"

#include <gmock/gmock.h>

#include <future>
#include <mutex>
#include <string>
#include <vector>

#include "src/base/clock.h"

namespace berth::questions {
namespace {

constexpr Duration kLinePatience = std::chrono::seconds(20);

class Host final : public LineHost {
 public:
  Result<void> Prepare() override {
    if (broken) return Fail("not now");
    return {};
  }
  std::optional<Duration> Period() override { return std::chrono::milliseconds(1); }
  void Idle() override { ++idle; }
  void End() override { ended = true; }

  std::atomic<bool> broken = false;
  std::atomic<int> idle = 0;
  std::atomic<bool> ended = false;
};

class QuestionLineTest : public testing::Test {
 protected:
  QuestionLine& line() {
    if (!line_) line_.emplace(limits_, clock_, host_);
    return *line_;
  }
  // The reply's code and text; 200 and `text` where it is answered.
  std::future<Reply> Ask(Size size, std::string text,
                         std::shared_ptr<const std::atomic<bool>> gone = nullptr) {
    const auto promise = std::make_shared<std::promise<Reply>>();
    line().Ask({.size = size,
                .answer =
                    [this, promise, text](const auto& spent) {
                      {
                        const std::lock_guard<std::mutex> lock(mutex_);
                        answered_.push_back(text);
                      }
                      promise->set_value({200, spent() ? "spent" : text});
                    },
                .refuse = [promise](const Reply& reply) { promise->set_value(reply); },
                .gone = std::move(gone)});
    return promise->get_future();
  }
  // One that is under way now, until it is spent or `go` is set.
  std::future<Reply> AskBusy(std::shared_future<void> go,
                             std::shared_ptr<const std::atomic<bool>> gone = nullptr) {
    const auto begun = std::make_shared<std::promise<void>>();
    const auto promise = std::make_shared<std::promise<Reply>>();
    line().Ask({.size = Size::kLarge,
                .answer =
                    [begun, promise, go](const auto& spent) {
                      begun->set_value();
                      while (!spent()) {
                        if (go.wait_for(std::chrono::milliseconds(1)) == std::future_status::ready)
                          return promise->set_value({200, "went on"});
                      }
                      promise->set_value({200, "spent"});
                    },
                .refuse = [promise](const Reply& reply) { promise->set_value(reply); },
                .gone = std::move(gone)});
    EXPECT_EQ(begun->get_future().wait_for(kLinePatience), std::future_status::ready);
    return promise->get_future();
  }
  static Reply Get(std::future<Reply> reply) {
    if (reply.wait_for(kLinePatience) != std::future_status::ready) return {0, "no reply"};
    return reply.get();
  }

  base::RealClock clock_;
  Host host_;
  LineLimits limits_{.thread_name = "line", .small_waiting = 2, .large_waiting = 2};
  std::optional<QuestionLine> line_;
  std::mutex mutex_;
  std::vector<std::string> answered_;
};

TEST_F(QuestionLineTest, SmallOnesGoFirstAndElseAsTheyCame) {
  std::promise<void> go;
  auto busy = AskBusy(go.get_future().share());
  std::vector<std::future<Reply>> replies;
  replies.push_back(Ask(Size::kLarge, "large 1"));
  replies.push_back(Ask(Size::kLarge, "large 2"));
  replies.push_back(Ask(Size::kSmall, "small 1"));
  replies.push_back(Ask(Size::kSmall, "small 2"));
  go.set_value();
  EXPECT_EQ(Get(std::move(busy)).text, "went on");
  for (auto& reply : replies) EXPECT_EQ(Get(std::move(reply)).code, 200);
  EXPECT_THAT(answered_, testing::ElementsAre("small 1", "small 2", "large 1", "large 2"));
}

TEST_F(QuestionLineTest, MoreThanMayWaitAreRefusedAtOnce) {
  std::promise<void> go;
  auto busy = AskBusy(go.get_future().share());
  auto first = Ask(Size::kLarge, "1");
  auto second = Ask(Size::kLarge, "2");
  EXPECT_EQ(Get(Ask(Size::kLarge, "3")).code, 429);
  auto small = Ask(Size::kSmall, "4");
  go.set_value();
  EXPECT_EQ(Get(std::move(second)).code, 200);
  EXPECT_EQ(Get(std::move(small)).code, 200) << "they have room of their own";
  EXPECT_EQ(Get(Ask(Size::kLarge, "5")).code, 200) << "there is room again";
}

TEST_F(QuestionLineTest, NoTimeIsSpentOnAQuestionThatIsGone) {
  std::promise<void> go;
  const auto gone = std::make_shared<std::atomic<bool>>(false);
  auto busy = AskBusy(go.get_future().share(), gone);
  auto waits = Ask(Size::kLarge, "1", gone);
  *gone = true;
  EXPECT_EQ(Get(std::move(busy)).text, "spent") << "though it is under way";
  EXPECT_EQ(Get(std::move(waits)).code, 504);
  EXPECT_TRUE(answered_.empty());
}

TEST_F(QuestionLineTest, AnAnswerIsSpentWhenItsTimeIs) {
  limits_.large_time = std::chrono::milliseconds(20);
  EXPECT_EQ(Get(AskBusy(std::promise<void>().get_future().share())).code, 200);
  limits_.small_time = Duration(-1);
  line_.reset();
  EXPECT_EQ(Get(Ask(Size::kSmall, "1")).text, "spent");
}

TEST_F(QuestionLineTest, WhatTheHostCannotPrepareIsRefused) {
  host_.broken = true;
  const Reply reply = Get(Ask(Size::kSmall, "1"));
  EXPECT_EQ(reply.code, 503);
  EXPECT_EQ(reply.text, "not now");
  host_.broken = false;
  EXPECT_EQ(Get(Ask(Size::kSmall, "2")).code, 200);
}

TEST_F(QuestionLineTest, StoppedItEndsTheQuestionUnderWayAndRefusesTheOthers) {
  std::promise<void> never;
  auto busy = AskBusy(never.get_future().share());
  auto waits = Ask(Size::kSmall, "1");
  line().Stop();
  EXPECT_EQ(Get(std::move(busy)).text, "spent");
  EXPECT_EQ(Get(std::move(waits)).code, 503);
  EXPECT_EQ(Get(Ask(Size::kSmall, "2")).code, 503);
  EXPECT_TRUE(host_.ended);
}

TEST_F(QuestionLineTest, BetweenQuestionsTheHostHasItsTurn) {
  EXPECT_EQ(Get(Ask(Size::kSmall, "1")).code, 200);
  const Time until = clock_.Now() + kLinePatience;
  while (host_.idle < 3 && clock_.Now() < until) std::this_thread::yield();
  EXPECT_GE(host_.idle, 3);
}

}  // namespace
}  // namespace berth::questions
