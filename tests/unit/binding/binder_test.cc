// SPDX-License-Identifier: Apache-2.0
#include "src/binding/binder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>

#include "src/base/thread.h"
#include "src/base/virtual_time.h"
#include "src/binding/cancel_source.h"
#include "tests/support/builders.h"
#include "tests/support/fake_api.h"
#include "tests/unit/binding/fake_plugins.h"

namespace berth::binding {
namespace {

using std::chrono::seconds;
using test::FakeBind;
using test::FakePostBind;
using test::FakePreBind;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Marker {
  int value = 7;
};

class BinderTest : public testing::Test {
 protected:
  BinderTest() { bind_.ObeyCancel(); }

  BindingCycle Cycle(const std::string& name = "web",
                     std::vector<framework::Entry<PreBindPlugin>> pre_bind = {}) {
    BindingCycle cycle;
    auto info = std::make_shared<PodInfo>();
    info->pod = test::PodBuilder().Name(name).Uid("uid-" + name).Ptr();
    cycle.pod = info;
    cycle.node_name = "node-1";
    cycle.state.Write(Marker());
    cycle.pre_bind = std::move(pre_bind);
    cycle.bind = {bind_.entry()};
    cycle.post_bind = {post_bind_.entry()};
    return cycle;
  }
  void Start(BindingCycle cycle) {
    binder_->Start(std::move(cycle));
    executor_.RunDue();
  }
  void Finish(test::AsyncCalls& plugin, AsyncStatus status = {}) {
    plugin.calls.back()->Finish(std::move(status));
    executor_.RunDue();
  }
  // On a thread that is not the executor's.
  void Elsewhere(std::function<void()> call) { base::NamedThread("plugin", std::move(call)); }
  // How often something has been posted: ids are given out in turn.
  uint64_t NumPosted() {
    const base::Executor::TimerId id = executor_.PostAfter({}, [] {});
    executor_.Cancel(id);
    return id - ++probes_;
  }
  // The one outcome there is.
  const BindOutcome& Outcome() {
    EXPECT_EQ(outcomes_.size(), 1u);
    if (outcomes_.empty()) outcomes_.emplace_back();
    return outcomes_.back();
  }

  uint64_t probes_ = 0;
  base::VirtualClock clock_;
  base::VirtualExecutor executor_{clock_};
  test::FakeApi api_{executor_};
  FakeBind bind_{"Bind"};
  FakePostBind post_bind_;
  std::vector<BindOutcome> outcomes_;
  std::vector<std::string> pre_bind_done_;
  std::vector<std::string> unconfirmed_;
  std::unique_ptr<Binder> binder_ = std::make_unique<Binder>(
      api_, clock_, 1,
      BinderCallbacks{[this](BindOutcome outcome) { outcomes_.push_back(std::move(outcome)); },
                      [this](std::string uid) { pre_bind_done_.push_back(std::move(uid)); },
                      [this](std::string uid) { unconfirmed_.push_back(std::move(uid)); }});
};

TEST_F(BinderTest, ACycleRunsPreBindBindAndPostBindInThatOrder) {
  FakePreBind volumes("Volumes");
  Start(Cycle("web", {volumes.entry()}));
  ASSERT_EQ(volumes.calls.size(), 1u);
  EXPECT_EQ(volumes.calls[0]->node_name, "node-1");
  EXPECT_THAT(bind_.calls, IsEmpty());
  EXPECT_THAT(pre_bind_done_, IsEmpty());

  Finish(volumes);
  EXPECT_THAT(pre_bind_done_, ElementsAre("uid-web"));
  ASSERT_EQ(bind_.calls.size(), 1u);
  EXPECT_THAT(post_bind_.bound, IsEmpty());

  Finish(bind_);
  EXPECT_THAT(post_bind_.bound, ElementsAre("web on node-1"));
  const BindOutcome& outcome = Outcome();
  EXPECT_TRUE(outcome.status.ok());
  EXPECT_EQ(outcome.pod_uid, "uid-web");
  EXPECT_EQ(outcome.node_name, "node-1");
  EXPECT_EQ(outcome.stage, BindingStage::kPostBind);
  EXPECT_FALSE(outcome.unknown);
  ASSERT_NE(outcome.state.Find<Marker>(), nullptr);
  EXPECT_EQ(outcome.state.Read<Marker>().value, 7);
}

// To the executor's thread with Start(), and back with the outcome.
TEST_F(BinderTest, APlainBindIsPostedOnce) {
  struct ByApi final : BindPlugin {
    void Bind(CycleState&, const PodInfo& pod, std::string_view node_name,
              Cancellation& cancellation, AsyncDone done) override {
      binder->BindPod(pod.pod, node_name, cancellation, std::move(done));
    }
    Binder* binder = nullptr;
  } by_api;
  by_api.binder = binder_.get();
  BindingCycle cycle = Cycle();
  cycle.bind = {{.plugin = &by_api, .name = "ByApi"}};
  Start(std::move(cycle));
  EXPECT_EQ(NumPosted(), 1u);
  api_.last().Reply(201);
  executor_.RunDue();
  EXPECT_EQ(NumPosted(), 2u) << "the second is the API server's answer";
  EXPECT_TRUE(Outcome().status.ok());
  EXPECT_THAT(post_bind_.bound, ElementsAre("web on node-1"));
}

TEST_F(BinderTest, PluginsMayAnswerWithinTheirCalls) {
  FakePreBind volumes("Volumes"), first("First", true), second("Second", true);
  FakeBind skips("Skips");
  for (test::AsyncCalls* plugin :
       std::initializer_list<test::AsyncCalls*>{&volumes, &first, &second, &bind_}) {
    plugin->AnswerAtOnce({});
  }
  skips.AnswerAtOnce({Code::kSkip});
  BindingCycle cycle = Cycle("web", {volumes.entry(), first.entry(), second.entry()});
  cycle.bind.insert(cycle.bind.begin(), 1000, skips.entry());
  Start(std::move(cycle));
  EXPECT_EQ(NumPosted(), 1u);
  EXPECT_TRUE(Outcome().status.ok());
  EXPECT_EQ(skips.calls.size(), 1000u);
  EXPECT_THAT(post_bind_.bound, ElementsAre("web on node-1"));
}

TEST_F(BinderTest, AFailureWithinTheCallCancelsTheNeighboursThatComeAfter) {
  FakePreBind first("First", true), second("Second", true);
  first.AnswerAtOnce({Code::kError, "no disk"});
  Start(Cycle("web", {first.entry(), second.entry()}));
  ASSERT_EQ(second.calls.size(), 1u);
  EXPECT_TRUE(second.calls[0]->heard_cancel);
  EXPECT_THAT(outcomes_, IsEmpty()) << "Second still holds the state";
  Finish(second);
  EXPECT_EQ(Outcome().status.message, "running PreBind plugin \"First\": no disk");
}

TEST_F(BinderTest, AnExtenderIsAskedBeforeThePlugins) {
  const struct {
    AsyncStatus answer;
    const char* message;
    size_t plugins_asked;
  } cases[] = {
      {{}, "", 0},
      {{Code::kError, "its own words"}, "its own words", 0},
      {{Code::kSkip}, "", 1},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(CodeName(c.answer.code));
    outcomes_.clear();
    bind_.calls.clear();
    FakeBind extender("Extender");
    extender.AnswerAtOnce(c.answer);
    bind_.AnswerAtOnce({});
    BindingCycle cycle = Cycle();
    cycle.extender = extender.entry();
    cycle.time_plugins = true;
    Start(std::move(cycle));
    EXPECT_EQ(Outcome().status.message, c.message);
    EXPECT_EQ(bind_.calls.size(), c.plugins_asked);
    for (const BindingTiming& timing : Outcome().timings) EXPECT_NE(timing.plugin, "Extender");
  }
}

TEST_F(BinderTest, ACycleWithoutPreBindGoesStraightToBind) {
  Start(Cycle());
  EXPECT_EQ(bind_.calls.size(), 1u);
  EXPECT_THAT(pre_bind_done_, IsEmpty());
}

TEST_F(BinderTest, NeighboursThatAllowItRunTogetherAndOthersAlone) {
  FakePreBind a("A", true), b("B", true), c("C"), d("D", true);
  Start(Cycle("web", {a.entry(), b.entry(), c.entry(), d.entry()}));
  EXPECT_EQ(a.calls.size(), 1u);
  EXPECT_EQ(b.calls.size(), 1u);
  EXPECT_THAT(c.calls, IsEmpty());
  Finish(b);
  EXPECT_THAT(c.calls, IsEmpty()) << "the group was not over";
  Finish(a);
  EXPECT_EQ(c.calls.size(), 1u);
  EXPECT_THAT(d.calls, IsEmpty());
  Finish(c);
  EXPECT_EQ(d.calls.size(), 1u);
  Finish(d);
  EXPECT_EQ(bind_.calls.size(), 1u);
}

TEST_F(BinderTest, AFailureNamesThePointThePluginAndTheReason) {
  const struct {
    const char* name;
    AsyncStatus answer;
    Code code;
    const char* text;
  } cases[] = {
      {"error", {Code::kError, "no disk"}, Code::kError, "running %s plugin \"P\": no disk"},
      {"rejection", {Code::kUnschedulable, "no disk"}, Code::kUnschedulable, "no disk"},
      {"a code without a meaning here",
       {Code::kWait, "later"},
       Code::kError,
       "running %s plugin \"P\": later"},
  };
  for (const auto& c : cases) {
    for (const bool in_bind : {false, true}) {
      SCOPED_TRACE(std::string(c.name) + (in_bind ? " in Bind" : " in PreBind"));
      outcomes_.clear();
      FakePreBind pre_bind("P");
      FakeBind bind("P");
      BindingCycle cycle = Cycle();
      pre_bind.AnswerAtOnce(in_bind ? AsyncStatus{} : c.answer);
      bind.AnswerAtOnce(c.answer);
      cycle.pre_bind = {pre_bind.entry()};
      cycle.bind = {bind.entry()};
      Start(std::move(cycle));
      std::string text = c.text;
      if (const size_t at = text.find("%s"); at != std::string::npos) {
        text.replace(at, 2, in_bind ? "Bind" : "PreBind");
      }
      const BindOutcome& outcome = Outcome();
      EXPECT_EQ(outcome.status.code, c.code);
      EXPECT_EQ(outcome.status.message, text);
      EXPECT_EQ(outcome.stage, in_bind ? BindingStage::kBind : BindingStage::kPreBind);
      EXPECT_NE(outcome.state.Find<Marker>(), nullptr);
      EXPECT_THAT(post_bind_.bound, IsEmpty());
    }
  }
}

TEST_F(BinderTest, TheFirstFailureOfAGroupCancelsTheOthersAndWaitsForThem) {
  FakePreBind a("A", true), b("B", true), c("C", true);
  Start(Cycle("web", {a.entry(), b.entry(), c.entry()}));
  Finish(b, {Code::kError, "first"});
  EXPECT_TRUE(a.calls[0]->heard_cancel);
  EXPECT_TRUE(c.calls[0]->heard_cancel);
  EXPECT_FALSE(b.calls[0]->heard_cancel) << "it has ended already";
  Finish(a, {Code::kError, "second"});
  EXPECT_THAT(outcomes_, IsEmpty()) << "C still holds the state";
  Finish(c);
  EXPECT_EQ(Outcome().status.message, "running PreBind plugin \"B\": first");
  EXPECT_THAT(bind_.calls, IsEmpty());
}

TEST_F(BinderTest, BindPassesThePodOnUntilAPluginDoesNotSkip) {
  FakeBind skips("Skips"), other("Other");
  skips.AnswerAtOnce({Code::kSkip});
  BindingCycle cycle = Cycle();
  cycle.bind = {skips.entry(), bind_.entry(), other.entry()};
  Start(std::move(cycle));
  Finish(bind_);
  EXPECT_TRUE(Outcome().status.ok());
  EXPECT_EQ(skips.calls.size(), 1u);
  EXPECT_THAT(other.calls, IsEmpty());
}

TEST_F(BinderTest, APodThatEveryBindPluginSkipsFails) {
  FakeBind skips("Skips");
  skips.AnswerAtOnce({Code::kSkip});
  BindingCycle cycle = Cycle();
  cycle.bind = {skips.entry()};
  Start(std::move(cycle));
  EXPECT_EQ(Outcome().status.code, Code::kError);
  EXPECT_THAT(Outcome().status.message, HasSubstr("skipped"));
}

TEST_F(BinderTest, APluginThatLosesItsCompletionHasFailed) {
  FakePreBind forgets("Forgets");
  forgets.LoseCompletions();
  Start(Cycle("web", {forgets.entry()}));
  EXPECT_EQ(Outcome().status.message,
            "running PreBind plugin \"Forgets\": the plugin ended without a verdict");
}

TEST_F(BinderTest, APluginThatThrowsHasFailed) {
  for (const bool in_bind : {false, true}) {
    SCOPED_TRACE(in_bind ? "in Bind" : "in PreBind");
    outcomes_.clear();
    FakePreBind pre_bind("P");
    FakeBind bind("P");
    pre_bind.AnswerAtOnce({});
    if (in_bind) {
      bind.Throw("out of order");
    } else {
      pre_bind.Throw("out of order");
    }
    BindingCycle cycle = Cycle("web", {pre_bind.entry()});
    cycle.bind = {bind.entry()};
    Start(std::move(cycle));
    EXPECT_EQ(Outcome().status.code, Code::kError);
    EXPECT_EQ(Outcome().status.message,
              in_bind ? "running Bind plugin \"P\": plugin threw: out of order"
                      : "running PreBind plugin \"P\": plugin threw: out of "
                        "order");
    EXPECT_FALSE(Outcome().unknown);
  }
}

TEST_F(BinderTest, APostBindThatThrowsChangesNothing) {
  FakePostBind second;
  post_bind_.throws = true;
  bind_.AnswerAtOnce({});
  BindingCycle cycle = Cycle();
  cycle.post_bind = {post_bind_.entry(), second.entry()};
  Start(std::move(cycle));
  EXPECT_TRUE(Outcome().status.ok());
  EXPECT_THAT(second.bound, ElementsAre("web on node-1"));
}

TEST_F(BinderTest, ASecondCompletionIsIgnored) {
  Start(Cycle());
  const AsyncDone done = bind_.calls[0]->done;
  done({});
  done({Code::kError, "changed its mind"});
  executor_.RunDue();
  EXPECT_TRUE(Outcome().status.ok());
}

TEST_F(BinderTest, CancelReachesAPodOnlyInPreBind) {
  FakePreBind volumes("Volumes");
  volumes.ObeyCancel();
  EXPECT_FALSE(binder_->CancelPreBind("uid-web", "x")) << "unknown pod";

  Start(Cycle("web", {volumes.entry()}));
  EXPECT_TRUE(binder_->CancelPreBind("uid-web", "preempted by DefaultPreemption"));
  EXPECT_TRUE(binder_->CancelPreBind("uid-web", "again"));
  executor_.RunDue();
  EXPECT_EQ(Outcome().status.code, Code::kError);
  EXPECT_EQ(Outcome().status.message,
            "running PreBind plugin \"Volumes\": preempted by DefaultPreemption");
  EXPECT_FALSE(Outcome().unknown);
  EXPECT_FALSE(binder_->CancelPreBind("uid-web", "x")) << "the cycle is over";

  Start(Cycle("late", {volumes.entry()}));
  volumes.calls.back()->Finish();
  executor_.RunDue();
  EXPECT_FALSE(binder_->CancelPreBind("uid-late", "x")) << "in Bind";
  EXPECT_FALSE(bind_.calls.back()->heard_cancel);
}

TEST_F(BinderTest, ACancelThatPreBindDoesNotNoticeStillStopsTheBind) {
  FakePreBind deaf("Deaf");
  Start(Cycle("web", {deaf.entry()}));
  Elsewhere([&] { deaf.calls[0]->Finish(); });
  // PreBind has answered, but the binder has not heard of it yet.
  EXPECT_TRUE(binder_->CancelPreBind("uid-web", "preempted by DefaultPreemption"));
  executor_.RunDue();
  EXPECT_EQ(Outcome().status.message, "preempted by DefaultPreemption");
  EXPECT_THAT(bind_.calls, IsEmpty());
  EXPECT_THAT(pre_bind_done_, IsEmpty());
}

TEST_F(BinderTest, ACancelBetweenTwoGroupsStopsTheSecond) {
  FakePreBind first("First"), second("Second");
  Start(Cycle("web", {first.entry(), second.entry()}));
  Elsewhere([&] { first.calls[0]->Finish(); });
  EXPECT_TRUE(binder_->CancelPreBind("uid-web", "preempted"));
  executor_.RunDue();
  EXPECT_THAT(second.calls, IsEmpty());
  EXPECT_EQ(Outcome().status.message, "preempted");
}

TEST_F(BinderTest, ACancelBeforeTheFirstStepStopsTheCycle) {
  FakePreBind first("First");
  binder_->Start(Cycle("web", {first.entry()}));
  EXPECT_TRUE(binder_->CancelPreBind("uid-web", "preempted"));
  executor_.RunDue();
  EXPECT_THAT(first.calls, IsEmpty());
  EXPECT_EQ(Outcome().status.message, "preempted");
}

TEST_F(BinderTest, TimingsCoverEachPointAndEachPluginWhenAsked) {
  FakePreBind a("A"), b("B");
  BindingCycle cycle = Cycle("web", {a.entry(), b.entry()});
  cycle.time_plugins = true;
  Start(std::move(cycle));
  executor_.Advance(seconds(1));
  Finish(a);
  executor_.Advance(seconds(2));
  Finish(b);
  executor_.Advance(seconds(4));
  Finish(bind_);
  const struct {
    BindingStage stage;
    std::string_view plugin;
    Duration duration;
  } want[] = {
      {BindingStage::kPreBind, "A", seconds(1)}, {BindingStage::kPreBind, "B", seconds(2)},
      {BindingStage::kPreBind, "", seconds(3)},  {BindingStage::kBind, "Bind", seconds(4)},
      {BindingStage::kBind, "", seconds(4)},     {BindingStage::kPostBind, "Post", seconds(0)},
      {BindingStage::kPostBind, "", seconds(0)},
  };
  const auto& timings = Outcome().timings;
  ASSERT_EQ(timings.size(), std::size(want));
  for (size_t i = 0; i < timings.size(); ++i) {
    SCOPED_TRACE(i);
    EXPECT_EQ(timings[i].stage, want[i].stage);
    EXPECT_EQ(timings[i].plugin, want[i].plugin);
    EXPECT_EQ(timings[i].duration, want[i].duration);
    EXPECT_EQ(timings[i].code, Code::kSuccess);
  }
}

TEST_F(BinderTest, EachPointIsTimedOfEachPodAlsoWhereNoPluginHasWork) {
  Start(Cycle("web", {}));
  Finish(bind_);
  std::vector<BindingStage> points;
  for (const BindingTiming& timing : Outcome().timings) {
    EXPECT_EQ(timing.plugin, "");
    points.push_back(timing.stage);
  }
  EXPECT_THAT(points, testing::ElementsAre(BindingStage::kPreBind, BindingStage::kBind,
                                           BindingStage::kPostBind));
}

TEST_F(BinderTest, CloseCancelsPreBindsWaitsForBindsAndStartsNothing) {
  FakePreBind volumes("Volumes"), slow("Slow");
  volumes.ObeyCancel();
  Start(Cycle("in-pre-bind", {volumes.entry()}));
  Start(Cycle("ends-anyway", {slow.entry()}));
  Start(Cycle("in-bind"));
  binder_->Start(Cycle("not-begun"));
  std::optional<size_t> closed;
  binder_->Close(seconds(30), [&](size_t given_up) { closed = given_up; });
  executor_.RunDue();
  binder_->Start(Cycle("too-late"));
  executor_.RunDue();
  slow.calls[0]->Finish();
  executor_.RunDue();

  EXPECT_EQ(bind_.calls.size(), 2u) << "only those that had begun before Close";
  EXPECT_FALSE(closed.has_value());
  ASSERT_EQ(outcomes_.size(), 3u);
  for (const BindOutcome& outcome : outcomes_) {
    EXPECT_THAT(outcome.status.message, HasSubstr("shutting down")) << outcome.pod_uid;
    EXPECT_FALSE(outcome.unknown);
  }
  executor_.Advance(seconds(5));
  for (const auto& call : bind_.calls) call->Finish();
  executor_.RunDue();
  ASSERT_EQ(outcomes_.size(), 5u);
  EXPECT_TRUE(outcomes_.back().status.ok());
  EXPECT_EQ(closed, 0u);
}

TEST_F(BinderTest, CloseWithNothingInHandReportsAtOnce) {
  std::optional<size_t> closed;
  binder_->Close(seconds(30), [&](size_t given_up) { closed = given_up; });
  executor_.RunDue();
  EXPECT_EQ(closed, 0u);
}

TEST_F(BinderTest, CloseGivesUpWhatTakesTooLong) {
  FakeBind deaf("Deaf");
  BindingCycle cycle = Cycle("deaf");
  cycle.bind = {deaf.entry()};
  Start(std::move(cycle));
  Start(Cycle("obeys"));
  int closed = 0;
  size_t given_up = 0;
  binder_->Close(seconds(30), [&](size_t count) {
    ++closed;
    given_up = count;
  });
  executor_.Advance(seconds(29));
  EXPECT_EQ(closed, 0);
  executor_.Advance(seconds(1));
  EXPECT_EQ(closed, 1);
  EXPECT_EQ(given_up, 2u);
  EXPECT_TRUE(deaf.calls[0]->heard_cancel);
  ASSERT_EQ(outcomes_.size(), 1u);
  EXPECT_EQ(outcomes_[0].pod_uid, "uid-obeys");
  EXPECT_TRUE(outcomes_[0].unknown);
  deaf.calls[0]->Finish();
  executor_.Advance(seconds(60));
  EXPECT_EQ(closed, 1);
}

TEST_F(BinderTest, CloseGivesUpInAnOrderOfItsOwn) {
  std::vector<std::string> want;
  for (int i = 25; i >= 0; --i) Start(Cycle(std::string(1, static_cast<char>('a' + i))));
  for (char name = 'a'; name <= 'z'; ++name) want.push_back(std::string("uid-") + name);
  binder_->Close(seconds(30), [](size_t) {});
  executor_.Advance(seconds(30));
  std::vector<std::string> given_up;
  for (const BindOutcome& outcome : outcomes_) given_up.push_back(outcome.pod_uid);
  EXPECT_EQ(given_up, want) << "the same in every process, whatever order the cycles began in";
}

TEST_F(BinderTest, BindPodReportsTheEndOfTheBind) {
  const struct {
    const char* name;
    int code;
    AsyncStatus want;
  } cases[] = {
      {"bound", 201, {}},
      {"refused", 403, {Code::kError, "forbidden"}},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    CancelSource cancel;
    std::optional<AsyncStatus> got;
    binder_->BindPod(test::PodBuilder().Name("web").Ptr(), "node-1", cancel,
                     [&](AsyncStatus status) { got = std::move(status); });
    executor_.RunDue();
    api_.last().Reply(c.code, "forbidden");
    executor_.RunDue();
    ASSERT_TRUE(got.has_value());
    EXPECT_EQ(got->code, c.want.code);
    EXPECT_EQ(got->message, c.want.message);
  }
}

TEST_F(BinderTest, ABindPodWhoseOutcomeHasToBeReadIsTold) {
  CancelSource cancel;
  binder_->BindPod(test::PodBuilder().Name("web").Uid("uid-web").Ptr(), "node-1", cancel,
                   [](AsyncStatus) {});
  executor_.RunDue();
  EXPECT_THAT(unconfirmed_, IsEmpty());
  api_.last().Reply(500, "out of order");
  executor_.RunDue();
  EXPECT_THAT(unconfirmed_, ElementsAre("uid-web"));
}

TEST_F(BinderTest, BindPodObeysItsCancellation) {
  CancelSource before;
  before.Cancel();
  std::optional<AsyncStatus> got;
  const auto done = [&](AsyncStatus status) { got = std::move(status); };
  binder_->BindPod(test::PodBuilder().Ptr(), "node-1", before, done);
  executor_.RunDue();
  EXPECT_EQ(api_.size(), 0u);
  ASSERT_TRUE(got.has_value());
  EXPECT_EQ(got->code, Code::kError);

  got.reset();
  CancelSource during;
  binder_->BindPod(test::PodBuilder().Ptr(), "node-1", during, done);
  executor_.RunDue();
  during.Cancel();
  executor_.RunDue();
  EXPECT_TRUE(api_.last().cancelled());
  ASSERT_TRUE(got.has_value());
  EXPECT_EQ(got->code, Code::kError);
}

TEST_F(BinderTest, ABinderThatIsGoneReportsNothing) {
  FakePreBind volumes("Volumes");
  Start(Cycle("waits", {volumes.entry()}));
  binder_->Start(Cycle("not-begun"));
  binder_.reset();
  volumes.calls[0]->Finish();
  executor_.Advance(seconds(60));
  EXPECT_THAT(outcomes_, IsEmpty());
  EXPECT_THAT(bind_.calls, IsEmpty());
}

}  // namespace
}  // namespace berth::binding
