// SPDX-License-Identifier: Apache-2.0
#include "src/scheduler/binding_cycles.h"

#include <gmock/gmock.h>

#include "tests/unit/scheduler/parts_fixture.h"

namespace berth::scheduler {
namespace {

using std::chrono::seconds;
using testing::Contains;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

// Keeps what Reserve and Unreserve are called for; PreBind has work if `pre_binds`.
class Claims final : public ReservePlugin, public PreBindPlugin {
 public:
  struct Book {
    std::vector<std::string> unreserved;
    bool pre_binds = false;
    Code pre_flight = Code::kSuccess;
  };
  explicit Claims(Book& book) : book_(book) {}
  Status Reserve(CycleState&, const PodInfo&, std::string_view) override {
    return Status::Success();
  }
  void Unreserve(CycleState&, const PodInfo& pod, std::string_view node_name) override {
    book_.unreserved.push_back(pod.pod->metadata.name + " on " + std::string(node_name));
  }
  Status PreBindPreFlight(CycleState& state, const PodInfo&, std::string_view) override {
    if (book_.pre_flight != Code::kSuccess) return state.reasons().Error("no claim");
    return book_.pre_binds ? Status::Success() : Status::Skip();
  }
  void PreBind(CycleState&, const PodInfo&, std::string_view, Cancellation&,
               AsyncDone done) override {
    done({});
  }

 private:
  Book& book_;
};

class BindingCyclesTest : public test::PartsFixture {
 protected:
  BindingCyclesTest() {
    plugins_.push_back({"Claims", [this](const ConfigValue&, Handle&) {
                          return Result<Plugin>(
                              AsPlugin("Claims", std::make_unique<Claims>(book_)));
                        }});
    options_.configuration.profiles[0].plugins.multi_point.enabled.push_back({"Claims", 0});
    Begin();
  }
  // Begins again, with this burst.
  void Begin(int32_t burst = 100) {
    cycles_.reset();
    failures_.reset();
    Restart();
    failures_.emplace(state(), queue());
    cycles_.emplace(state(), queue(), *failures_, burst);
    node_ = AddNode(test::MakeNode("n1").Allocatable({{"pods", "1000"}}));
  }
  // Brings a pod on its way to n1; Permit waits for `waits_for`, if that is not "".
  void BeginPod(const std::string& name, const std::string& waits_for = "") {
    AddPod(test::MakePod().Name(name));
    Attempt attempt = Pop();
    ASSERT_TRUE(state().cluster.cache.AssumePod(attempt.info(), node_));
    framework::PermitVerdict permit;
    if (!waits_for.empty()) {
      permit.verdict.status = Status(Code::kWait);
      permit.waits = {{waits_for, seconds(10)}};
    }
    cycles_->Begin(std::move(attempt), "n1", std::move(permit), Now());
  }
  void End(const std::string& uid, AsyncStatus status) {
    binding::BindOutcome outcome;
    outcome.pod_uid = uid;
    outcome.node_name = "n1";
    outcome.status = std::move(status);
    cycles_->HandleOutcome(std::move(outcome), Now());
  }
  bool BindSent(const std::string& name) {
    for (const Written& written : Requests()) {
      if (written.request.ends_with("/pods/" + name + "/binding")) return true;
    }
    return false;
  }

  Claims::Book book_;
  std::optional<FailureHandler> failures_;
  std::optional<BindingCycles> cycles_;
  NodeRow node_ = 0;
};

TEST_F(BindingCyclesTest, APodThatIsBoundIsToldOfAndLeaves) {
  BeginPod("web");
  EXPECT_TRUE(BindSent("web"));
  EXPECT_EQ(cycles_->size(), 1u);
  EXPECT_FALSE(queue().IsInFlight("default/web")) << "it needs no events any more";
  End("default/web", {});
  EXPECT_EQ(cycles_->size(), 0u);
  EXPECT_TRUE(state().cluster.cache.IsAssumed("default/web")) << "until the watch confirms it";
  EXPECT_THAT(Events("Scheduled"), ElementsAre("Successfully assigned default/web to n1"));
  EXPECT_THAT(Metrics(), HasSubstr("result=\"scheduled\"} 1\n"));
  End("default/web", {Code::kError, "late"});
  EXPECT_THAT(Events("FailedScheduling"), IsEmpty()) << "an outcome counts once";
}

TEST_F(BindingCyclesTest, ARefusedPodGivesItsRoomBackAndIsQueuedAgain) {
  BeginPod("web");
  End("default/web", {Code::kError, "node is gone"});
  EXPECT_EQ(cycles_->size(), 0u);
  EXPECT_THAT(book_.unreserved, ElementsAre("web on n1"));
  EXPECT_FALSE(state().cluster.cache.FindPod("default/web").has_value());
  EXPECT_EQ(queue().WhereIs("default/web"), queue::Place::kBackoff);
  EXPECT_THAT(Events("FailedScheduling"), ElementsAre("node is gone"));
}

TEST_F(BindingCyclesTest, APodWhoseBindWasGivenUpKeepsItsRoomAndIsNotToldOf) {
  BeginPod("web");
  binding::BindOutcome outcome;
  outcome.pod_uid = "default/web";
  outcome.status = {Code::kError, "stopping"};
  outcome.unknown = true;
  cycles_->HandleOutcome(std::move(outcome), Now());
  EXPECT_EQ(cycles_->size(), 0u);
  EXPECT_TRUE(state().cluster.cache.IsAssumed("default/web"));
  EXPECT_THAT(Events("FailedScheduling"), IsEmpty());
}

TEST_F(BindingCyclesTest, OnlySoManyPodsMayAwaitTheirBind) {
  const struct {
    int32_t burst;
    size_t limit;
  } cases[] = {{-1, 64}, {10, 64}, {70, 70}};
  for (const auto& c : cases) {
    SCOPED_TRACE(c.burst);
    Begin(c.burst);
    for (size_t i = 0; i < c.limit; ++i) {
      EXPECT_TRUE(cycles_->HasRoom());
      BeginPod("pod-" + std::to_string(i));
    }
    EXPECT_FALSE(cycles_->HasRoom());
    cycles_->HandleUnconfirmed("default/pod-0");
    EXPECT_TRUE(cycles_->HasRoom()) << "an unconfirmed bind does not count";
    cycles_->HandleUnconfirmed("default/pod-0");
    cycles_->HandleUnconfirmed("default/unknown");
    EXPECT_EQ(cycles_->awaiting_bind(), c.limit - 1);
    End("default/pod-0", {});
    End("default/pod-1", {Code::kError, "refused"});
    EXPECT_EQ(cycles_->awaiting_bind(), c.limit - 2);
    EXPECT_EQ(cycles_->size(), c.limit - 2);
  }
}

TEST_F(BindingCyclesTest, APodCountsForBackPressureFromTheEndOfItsPreBind) {
  book_.pre_binds = true;
  BeginPod("web");
  EXPECT_EQ(cycles_->awaiting_bind(), 0u);
  cycles_->HandlePreBindDone("default/web");
  EXPECT_EQ(cycles_->awaiting_bind(), 1u);
}

TEST_F(BindingCyclesTest, APodThatPermitHoldsBackGoesOnOnceItIsAllowed) {
  BeginPod("web", "Gang");
  cycles_->HandlePermitOutcomes(Now());
  EXPECT_FALSE(BindSent("web"));
  EXPECT_TRUE(queue().IsInFlight("default/web")) << "a rejection can still be healed by an event";
  state().waiting_pods.Find("default/web")->Allow("Gang");
  cycles_->HandlePermitOutcomes(Now());
  EXPECT_TRUE(BindSent("web"));
  EXPECT_EQ(cycles_->awaiting_bind(), 1u);
}

TEST_F(BindingCyclesTest, APodThatPermitRejectsWakesOthersButNotItself) {
  AddPod(test::MakePod().Name("other").Priority(1));
  Attempt other = Pop();
  failures_->Handle(std::move(other),
                    {.code = Code::kUnschedulable, .unschedulable_plugins = {"NodeResourcesFit"}},
                    Now());
  BeginPod("web", "Gang");
  state().waiting_pods.Find("default/web")->Reject("Gang", "too few");
  cycles_->HandlePermitOutcomes(Now());
  EXPECT_THAT(book_.unreserved, ElementsAre("web on n1"));
  EXPECT_EQ(cycles_->size(), 0u);
  EXPECT_EQ(queue().WhereIs("default/web"), queue::Place::kUnschedulable);
  EXPECT_THAT(queue().Find("default/web")->unschedulable_plugins, ElementsAre("Gang"));
  EXPECT_EQ(queue().WhereIs("default/other"), queue::Place::kBackoff);
}

TEST_F(BindingCyclesTest, AWaitingPodThatIsBeingDeletedIsNotTriedAgain) {
  BeginPod("web", "Gang");
  state().waiting_pods.Find("default/web")->Reject("", "removed");
  cycles_->HandlePermitOutcomes(Now());
  EXPECT_EQ(queue().WhereIs("default/web"), queue::Place::kUnschedulable);
  EXPECT_THAT(Events("FailedScheduling"), testing::SizeIs(1));
}

TEST_F(BindingCyclesTest, APluginThatRejectsWhileThePodIsBoundIsNoneThatAnEventMayChange) {
  BeginPod("web");
  End("default/web", {Code::kUnschedulable, "not now"});
  EXPECT_EQ(queue().WhereIs("default/web"), queue::Place::kBackoff);
  EXPECT_THAT(queue().Find("default/web")->unschedulable_plugins, IsEmpty());
  EXPECT_EQ(queue().Find("default/web")->unschedulable_count, 0);
  EXPECT_EQ(queue().Find("default/web")->consecutive_errors_count, 1);
}

TEST_F(BindingCyclesTest, AnErrorBeforePreBindEndsTheCycleWhetherPermitWaitsOrNot) {
  book_.pre_flight = Code::kError;
  for (const std::string waits_for : {"", "Gang"}) {
    SCOPED_TRACE(waits_for);
    Begin();
    book_.unreserved.clear();
    BeginPod("web", waits_for);
    EXPECT_EQ(cycles_->size(), 0u);
    EXPECT_EQ(state().waiting_pods.size(), 0u);
    EXPECT_THAT(book_.unreserved, ElementsAre("web on n1"));
    EXPECT_THAT(Events("FailedScheduling"), ElementsAre(HasSubstr("no claim")));
    EXPECT_THAT(StatusPatches("web"), ElementsAre(HasSubstr("\"SchedulerError\"")));
  }
}

TEST_F(BindingCyclesTest, ThePodIsNominatedForItsNodeWhileItsWayThereTakesTime) {
  const struct {
    const char* name;
    bool pre_binds;
    const char* waits_for;
    size_t patches;
  } cases[] = {{"it is bound at once", false, "", 0},
               {"PreBind has work", true, "", 1},
               {"Permit waits", false, "Gang", 1}};
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    book_.pre_binds = c.pre_binds;
    Begin();
    BeginPod("web", c.waits_for);
    EXPECT_THAT(StatusPatches("web"), testing::SizeIs(c.patches));
  }
}

TEST_F(BindingCyclesTest, PodsAreCountedByTheirProfile) {
  BeginPod("web");
  EXPECT_EQ(cycles_->CountPodsOf("default-scheduler"), 1u);
  EXPECT_EQ(cycles_->CountPodsOf("other"), 0u);
}

}  // namespace
}  // namespace berth::scheduler
