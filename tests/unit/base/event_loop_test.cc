// SPDX-License-Identifier: Apache-2.0
#include "src/base/event_loop.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <vector>

#include "src/base/clock.h"
#include "src/base/thread.h"

namespace berth::base {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;

TEST(EventLoopTest, TasksRunInTheOrderOfPostingAndNeverInsidePost) {
  const RealClock clock;
  EventLoop loop(clock);
  std::vector<int> ran;
  loop.Post([&] {
    loop.Post([&] {
      ran.push_back(3);
      loop.Stop();
    });
    ran.push_back(1);
  });
  loop.Post([&] { ran.push_back(2); });
  loop.Run();
  EXPECT_THAT(ran, ElementsAre(1, 2, 3));
}

TEST(EventLoopTest, TimersRunInTheOrderTheyFallDue) {
  const RealClock real;
  // The timers count from one moment, however long a busy machine takes to set them.
  StepClock clock(real);
  EventLoop loop(clock);
  std::vector<int> ran;
  const Time start = real.Now();
  clock.Begin(start, real.WallNow());
  loop.PostAfter(milliseconds(3), [&] { loop.Stop(); });
  loop.PostAfter(milliseconds(2), [&] { ran.push_back(2); });
  loop.PostAfter(milliseconds(1), [&] { ran.push_back(1); });
  clock.End();
  loop.Run();
  EXPECT_GE(clock.Now() - start, milliseconds(3));
  EXPECT_THAT(ran, ElementsAre(1, 2));
}

TEST(EventLoopTest, ATimerCancelledByOneThatIsDueWithItDoesNotRun) {
  const RealClock clock;
  EventLoop loop(clock);
  bool second_ran = false;
  Executor::TimerId second = 0;
  loop.PostAfter(Duration::zero(), [&] { loop.Cancel(second); });
  second = loop.PostAfter(Duration(1), [&] { second_ran = true; });
  loop.PostAfter(milliseconds(2), [&] { loop.Stop(); });
  loop.Run();
  EXPECT_FALSE(second_ran);
}

TEST(EventLoopTest, ATimerThatSetsItselfAgainDoesNotStarveTheLoop) {
  const RealClock clock;
  EventLoop loop(clock);
  int turns = 0;
  std::function<void()> again = [&] {
    if (++turns == 100) loop.Stop();
    loop.PostAfter(Duration::zero(), again);
  };
  again();
  loop.Run();
  EXPECT_GE(turns, 100);
}

TEST(EventLoopTest, PostsOfManyThreadsAllRunBeforeStopTakesEffect) {
  const RealClock clock;
  EventLoop loop(clock);
  int ran = 0;
  NamedThread runner("loop", [&] { loop.Run(); });
  {
    std::vector<NamedThread> posters;
    for (int i = 0; i < 4; ++i) {
      posters.emplace_back("poster", [&] {
        for (int j = 0; j < 1000; ++j) loop.Post([&] { ++ran; });
      });
    }
  }
  loop.Stop();
  runner.Join();
  EXPECT_EQ(ran, 4000);
}

class Recorder final : public FdListener {
 public:
  explicit Recorder(std::function<void(int)> on_ready) : on_ready_(std::move(on_ready)) {}
  void OnReady(int fd, uint32_t) override { on_ready_(fd); }

 private:
  const std::function<void(int)> on_ready_;
};

TEST(EventLoopTest, AnUnwatchedDescriptorIsNotReportedEvenWhenItsEventWasReadAlready) {
  const RealClock clock;
  EventLoop loop(clock);
  int one[2];
  int two[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, one), 0);
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, two), 0);
  ASSERT_EQ(write(one[1], "x", 1), 1);
  ASSERT_EQ(write(two[1], "x", 1), 1);
  int calls = 0;
  const FdListener* self = nullptr;
  // Both are readable in the same turn; the first one ends the watch of the other.
  Recorder recorder([&](int fd) {
    ++calls;
    loop.Unwatch(fd == one[0] ? two[0] : one[0], *self);
    loop.Unwatch(fd, *self);
    loop.Stop();
  });
  self = &recorder;
  loop.Post([&] {
    loop.Watch(one[0], EPOLLIN, recorder);
    loop.Watch(two[0], EPOLLIN, recorder);
  });
  loop.Run();
  EXPECT_EQ(calls, 1);
  for (const int fd : {one[0], one[1], two[0], two[1]}) close(fd);
}

TEST(EventLoopTest, ALateUnwatchDoesNotTouchTheNextOwnerOfTheDescriptor) {
  const RealClock clock;
  EventLoop loop(clock);
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  ASSERT_EQ(write(ends[1], "x", 1), 1);
  int calls = 0;
  Recorder first([](int) {});
  Recorder second([&](int) {
    ++calls;
    loop.Stop();
  });
  loop.Post([&] {
    loop.Watch(ends[0], EPOLLIN, first);
    loop.Watch(ends[0], EPOLLIN, second);
    loop.Unwatch(ends[0], first);
  });
  loop.PostAfter(std::chrono::seconds(30), [&] { loop.Stop(); });
  loop.Run();
  EXPECT_EQ(calls, 1);
  for (const int fd : ends) close(fd);
}

}  // namespace
}  // namespace berth::base
