// SPDX-License-Identifier: Apache-2.0
#include "src/base/thread.h"

#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <string>
#include <utility>

namespace berth::base {
namespace {

TEST(NamedThreadTest, TheOperatingSystemShowsTheFirst15BytesOfTheName) {
  const struct {
    const char* name;
    const char* want;
  } cases[] = {{"berth-net", "berth-net"}, {"berth-0123456789", "berth-012345678"}};
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    std::string seen;
    NamedThread thread(c.name, [&seen] {
      char name[32] = {};
      pthread_getname_np(pthread_self(), name, sizeof name);
      seen = name;
    });
    thread.Join();
    EXPECT_EQ(seen, c.want);
  }
}

TEST(NamedThreadTest, ItsDestructorWaitsForTheBody) {
  std::atomic<bool> go{false};
  bool done = false;
  {
    NamedThread waiting("waiting", [&] {
      while (!go) std::this_thread::yield();
      done = true;
    });
    go = true;
  }
  EXPECT_TRUE(done);
}

TEST(NamedThreadTest, AMovedThreadIsJoinedByItsNewOwner) {
  bool done = false;
  NamedThread thread("first", [&done] { done = true; });
  NamedThread owner = std::move(thread);
  owner.Join();
  EXPECT_TRUE(done);
  owner.Join();  // nothing is left to wait for
}

TEST(NamedThreadTest, JoinOfNoThreadDoesNothing) { NamedThread().Join(); }

bool OnThreadOfAnother(const ThreadOwner& owner) {
  bool on_thread = false;
  NamedThread("other", [&] { on_thread = owner.OnThread(); }).Join();
  return on_thread;
}

TEST(ThreadOwnerTest, TheFirstToAskIsTheOwner) {
  const ThreadOwner ours;
  EXPECT_TRUE(ours.OnThread());
  EXPECT_TRUE(ours.OnThread());
  EXPECT_FALSE(OnThreadOfAnother(ours));

  const ThreadOwner theirs;
  EXPECT_TRUE(OnThreadOfAnother(theirs));
  EXPECT_FALSE(theirs.OnThread());
}

TEST(ThreadOwnerTest, ReleaseLetsAnotherTakeOver) {
  ThreadOwner owner;
  EXPECT_TRUE(owner.OnThread());
  owner.Release();
  EXPECT_TRUE(OnThreadOfAnother(owner));
  EXPECT_FALSE(owner.OnThread());
}

#ifndef NDEBUG
TEST(ThreadOwnerDeathTest, AForeignThreadIsStopped) {
  const ThreadOwner owner;
  BERTH_ON_THREAD(owner);
  EXPECT_DEATH(NamedThread("foreign", [&] { BERTH_ON_THREAD(owner); }).Join(),
               "called from a foreign thread");
}
#endif

}  // namespace
}  // namespace berth::base
