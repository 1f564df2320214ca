// SPDX-License-Identifier: Apache-2.0
#include "src/scheduler/unfinished_pods.h"

#include <gmock/gmock.h>

#include <atomic>
#include <thread>

#include "tests/unit/scheduler/scheduler_fixture.h"

namespace berth::scheduler {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Optional;
using testing::SizeIs;

class UnfinishedPodsTest : public test::SchedulerFixture {
 protected:
  UnfinishedPodsTest() {
    options_.leading = false;
    Restart();
    Synced();
    AddNode(test::MakeNode("n1").Allocatable({{"cpu", "8"}, {"pods", "110"}}));
  }
  static test::PodBuilder Pod(const std::string& name, int32_t priority = 0) {
    return test::PodBuilder(test::MakePod().Name(name).Uid("uid-" + name)).Priority(priority);
  }
  void Lead(std::vector<std::string> unfinished) {
    scheduler().Post(LeadingBegan{std::move(unfinished)});
    Turn();
  }
};

TEST_F(UnfinishedPodsTest, APodThatEndedAProcessLetsOthersGoFirst) {
  AddPod(Pod("bad", 100));
  AddPod(Pod("one"));
  AddPod(Pod("two"));
  EXPECT_EQ(scheduler().unfinished().inherited(), std::nullopt);
  Lead({"uid-bad", "uid-gone"});
  EXPECT_THAT(Bindings(), ElementsAre("default/one -> n1", "default/two -> n1"));
  EXPECT_THAT(Events("FailedScheduling"),
              ElementsAre("a scheduler ended while it tried this pod, so other pods go first"));
  EXPECT_THAT(scheduler().unfinished().inherited(), Optional(ElementsAre("uid-bad", "uid-gone")));
  Advance(seconds(3));
  EXPECT_THAT(Bindings(), testing::Contains("default/bad -> n1"));
  EXPECT_THAT(scheduler().unfinished().inherited(), Optional(ElementsAre("uid-gone")));
  Advance(minutes(11));
  EXPECT_THAT(scheduler().unfinished().inherited(), Optional(IsEmpty()))
      << "a pod that never came does not stay on the lease";
}

TEST_F(UnfinishedPodsTest, APodThatIsAloneIsTriedAtOnce) {
  AddPod(Pod("bad"));
  Lead({"uid-bad"});
  EXPECT_THAT(Bindings(), ElementsAre("default/bad -> n1"));
}

TEST_F(UnfinishedPodsTest, OthersThatNeverEndDoNotKeepItFromItsTurn) {
  UnfinishedPods pods;
  pods.Inherit({"uid-bad"});
  int deferred = 0;
  while (pods.Defer("uid-bad")) ++deferred;
  EXPECT_EQ(deferred, UnfinishedPods::kMostDeferrals);
  EXPECT_FALSE(pods.Defer("uid-other"));
}

TEST_F(UnfinishedPodsTest, TellsWhichPodIsTriedToAnyThread) {
  UnfinishedPods pods;
  EXPECT_EQ(pods.trying(), "");
  const std::string a = "aaaaaaaa-aaaa-aaaa-aaaa-aaaaaaaaaaaa";
  const std::string b = "bbbbbbbb-bbbb-bbbb-bbbb-bbbbbbbbbbbb";
  std::atomic<bool> stop = false;
  int torn = 0;
  std::thread reader([&] {
    while (!stop) {
      const std::string seen = pods.trying();
      if (!seen.empty() && seen != a && seen != b) ++torn;
    }
  });
  for (int i = 0; i < 20'000; ++i) {
    const UnfinishedPods::Attempt attempt(pods, i % 2 == 0 ? a : b);
  }
  stop = true;
  reader.join();
  EXPECT_EQ(torn, 0);
  const UnfinishedPods::Attempt attempt(pods, a);
  EXPECT_EQ(pods.trying(), a);
}

}  // namespace
}  // namespace berth::scheduler
