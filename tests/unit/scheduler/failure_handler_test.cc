// SPDX-License-Identifier: Apache-2.0
#include "src/scheduler/failure_handler.h"

#include <gmock/gmock.h>

#include "src/base/logging.h"
#include "tests/unit/scheduler/parts_fixture.h"

namespace berth::scheduler {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class FailureHandlerTest : public test::PartsFixture {
 protected:
  void Handle(Attempt attempt, Failure failure) {
    FailureHandler(state(), queue()).Handle(std::move(attempt), std::move(failure), Now());
  }
  static Failure Rejection() {
    return {.code = Code::kUnschedulable,
            .message = "0/1 nodes are available",
            .unschedulable_plugins = {"NodeAffinity"}};
  }
};

TEST_F(FailureHandlerTest, ARejectedPodIsParkedWithItsRejectorsAndItsOwnerIsTold) {
  AddPod(test::MakePod().Name("web").Generation(3));
  Handle(Pop(), Rejection());
  EXPECT_EQ(queue().WhereIs("default/web"), queue::Place::kUnschedulable);
  EXPECT_THAT(queue().Find("default/web")->unschedulable_plugins, ElementsAre("NodeAffinity"));
  EXPECT_THAT(Events("FailedScheduling"), ElementsAre("0/1 nodes are available"));
  EXPECT_THAT(StatusPatches("web"), ElementsAre(AllOf(HasSubstr("\"Unschedulable\""),
                                                      HasSubstr("0/1 nodes are available"),
                                                      HasSubstr("\"observedGeneration\":3"))));
  EXPECT_THAT(Metrics(), HasSubstr("scheduler_schedule_attempts_total{profile=\"default-"
                                   "scheduler\",result=\"unschedulable\"} 1\n"));
}

TEST_F(FailureHandlerTest, APodThatFailedByAnErrorBacksOff) {
  AddPod(test::MakePod().Name("web"));
  Handle(Pop(), {.message = "plugin threw"});
  EXPECT_EQ(queue().WhereIs("default/web"), queue::Place::kBackoff);
  EXPECT_THAT(StatusPatches("web"), ElementsAre(HasSubstr("\"SchedulerError\"")));
  EXPECT_THAT(Metrics(), HasSubstr("result=\"error\"} 1\n"));
}

TEST_F(FailureHandlerTest, ARejectionInItsBindingCycleBacksOffSinceNoEventIsRecordedForIt) {
  AddPod(test::MakePod().Name("web"));
  Attempt attempt = Pop();
  attempt.queued->unschedulable_count = 4;
  queue().Done(attempt.uid());
  Failure failure = Rejection();
  failure.unschedulable_plugins.clear();
  Handle(std::move(attempt), std::move(failure));
  EXPECT_EQ(queue().WhereIs("default/web"), queue::Place::kBackoff);
  EXPECT_EQ(queue().Find("default/web")->unschedulable_count, 4);
  EXPECT_EQ(queue().Find("default/web")->consecutive_errors_count, 1);
  EXPECT_THAT(StatusPatches("web"), ElementsAre(HasSubstr("\"Unschedulable\"")));
}

TEST_F(FailureHandlerTest, ThePodIsComparedWithItsNewestVersion) {
  const struct {
    const char* name;
    std::shared_ptr<const api::Pod> newest;
    queue::Place place;
    size_t events;
  } cases[] = {
      {"it is gone, or bound", nullptr, queue::Place::kNowhere, 1},
      {"another pod has its name", test::MakePod().Name("web").Uid("other").Ptr(),
       queue::Place::kNowhere, 0},
      {"a newer version came", test::MakePod().Name("web").Label("app", "v2").Ptr(),
       queue::Place::kUnschedulable, 1},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    Restart();
    const auto pod = test::MakePod().Name("web").Ptr();
    AddPod(pod);
    Attempt attempt = Pop();
    state().cluster.pods.Erase(*pod);
    if (c.newest != nullptr) state().cluster.pods.Set(state().cluster.cache.MakePodInfo(c.newest));
    Handle(std::move(attempt), Rejection());
    EXPECT_EQ(queue().WhereIs("default/web"), c.place);
    EXPECT_THAT(Events("FailedScheduling"), SizeIs(c.events));
    EXPECT_FALSE(queue().IsInFlight("default/web"));
    if (c.place != queue::Place::kNowhere) {
      EXPECT_EQ(queue().Find("default/web")->info->pod, c.newest);
    }
  }
}

TEST_F(FailureHandlerTest, TheLogSaysWhyAPodIsNotQueuedAgain) {
  AddNode(test::MakeNode("n1"));
  for (const bool bound : {false, true}) {
    const auto pod = test::MakePod().Name("web").Ptr();
    AddPod(pod);
    Attempt attempt = Pop();
    state().cluster.pods.Erase(*pod);
    if (bound) {
      ASSERT_TRUE(state().cluster.cache.AddPod(
          state().cluster.cache.MakePodInfo(test::MakePod().Name("web").OnNode("n1").Ptr())));
    }
    testing::internal::CaptureStderr();
    Handle(std::move(attempt), Rejection());
    base::FlushLogs();
    EXPECT_THAT(testing::internal::GetCapturedStderr(),
                HasSubstr(bound ? "Pod has been assigned to node. Abort adding it back to queue.\" "
                                  "pod=\"default/web\" node=\"n1\""
                                : "Pod doesn't exist in informer cache\" pod=\"default/web\""));
  }
}

TEST_F(FailureHandlerTest, ThePodLosesItsNominationUnlessTheFailureGivesOrKeepsOne) {
  const struct {
    const char* name;
    std::optional<NominatingInfo> nominating;
    const char* want;
  } cases[] = {
      {"nothing is said", std::nullopt, ""},
      {"preemption nominates it", NominatingInfo{NominatingMode::kOverride, "n2"}, "n2"},
      {"preemption leaves it as it is", NominatingInfo{}, "n1"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    Restart();
    AddPod(test::MakePod().Name("web").NominatedNode("n1"));
    Failure failure = Rejection();
    if (c.nominating) failure.nominating = *c.nominating;
    Handle(Pop(), std::move(failure));
    EXPECT_EQ(state().cluster.nominator.NominatedNode("default/web"), c.want);
  }
}

}  // namespace
}  // namespace berth::scheduler
