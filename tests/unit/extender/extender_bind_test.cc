// SPDX-License-Identifier: Apache-2.0
#include "src/extender/extender_bind.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/api/decode.h"
#include "src/base/virtual_time.h"
#include "src/binding/cancel_source.h"
#include "tests/support/builders.h"
#include "tests/support/fake_api.h"
#include "tests/support/fake_extender.h"

namespace berth::extender {
namespace {

using Kind = binding::RequestEnd::Kind;

using binding::kServerTimeout;
using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;

class ExtenderBindTest : public testing::Test {
 protected:
  ExtenderBindTest() {
    first_->binds = second_->binds = true;
    info_.pod = test::MakePod().Name("web").Uid("u1").Ptr();
  }
  ~ExtenderBindTest() override { context_->link->Close(); }

  void Bind() {
    executor_.Post([this] {
      bind_->Bind(state_, info_, "n1", cancel_,
                  [this](AsyncStatus status) { outcomes_.push_back(std::move(status)); });
    });
    executor_.RunDue();
  }
  void Answer(test::FakeExtender& extender, binding::RequestEnd end) {
    extender.open_binds.back()(std::move(end));
    executor_.RunDue();
  }
  // Lets time pass until the pod is read, and answers that.
  void Read(const test::PodBuilder& pod) {
    AwaitRead();
    api_.last().Reply(200, api::EncodeJson(pod.Obj()));
    executor_.RunDue();
  }
  void FailRead() {
    AwaitRead();
    api_.last().Fail(test::NoAnswer());
    executor_.RunDue();
  }
  void AwaitRead() {
    const auto open = [this] { return api_.size() > 0 && api_.last().open(); };
    for (int i = 0; i < 200 && !open(); ++i) executor_.Advance(milliseconds(100));
    ASSERT_TRUE(open());
    EXPECT_EQ(api_.last().request.verb, client::Verb::kGet);
  }
  // "Code message" of every end so far.
  std::vector<std::string> Outcomes() const {
    std::vector<std::string> lines;
    for (const AsyncStatus& status : outcomes_) {
      lines.push_back(std::string(CodeName(status.code)) + " " + status.message);
    }
    return lines;
  }

  base::VirtualClock clock_;
  base::VirtualExecutor executor_{clock_};
  test::FakeApi api_{executor_};
  std::shared_ptr<test::FakeExtender> first_ = std::make_shared<test::FakeExtender>("first");
  std::shared_ptr<test::FakeExtender> second_ = std::make_shared<test::FakeExtender>("second");
  PodInfo info_;
  CycleState state_;
  binding::CancelSource cancel_;
  std::vector<AsyncStatus> outcomes_;
  std::vector<std::string> unconfirmed_;
  std::shared_ptr<binding::BindContext> context_ = std::make_shared<binding::BindContext>(
      binding::BindContext{api_, clock_, std::make_shared<base::ExecutorLink>(executor_), Random(1),
                           [this](const std::string& uid) { unconfirmed_.push_back(uid); }});
  std::unique_ptr<ExtenderBind> bind_ =
      std::make_unique<ExtenderBind>(ExtenderList{first_, second_}, context_);
  const test::PodBuilder without_node_ = test::MakePod().Name("web").Uid("u1");
  const test::PodBuilder on_node_ = test::MakePod().Name("web").Uid("u1").OnNode("n1");
};

TEST_F(ExtenderBindTest, TheFirstThatIsInterestedHasTheLastWord) {
  first_->interested_in = "gpu";
  Bind();
  EXPECT_THAT(second_->calls, ElementsAre("bind web: n1"));
  Answer(*second_, {Kind::kRefused, "no"});
  EXPECT_THAT(Outcomes(), ElementsAre("Error no"));
  EXPECT_EQ(api_.size(), 0u) << "a definite answer needs no check";
  EXPECT_THAT(unconfirmed_, IsEmpty());
}

TEST_F(ExtenderBindTest, AnAnswerThatIsLateLeavesTheBindUnconfirmed) {
  Bind();
  executor_.Advance(client::kLateAfter - std::chrono::milliseconds(1));
  EXPECT_THAT(unconfirmed_, IsEmpty());
  executor_.Advance(std::chrono::milliseconds(1));
  EXPECT_THAT(unconfirmed_, ElementsAre("u1"));
  Answer(*first_, {});
  EXPECT_THAT(Outcomes(), ElementsAre("Success "));
  EXPECT_THAT(unconfirmed_, ElementsAre("u1"));
}

TEST_F(ExtenderBindTest, WithoutAnInterestedOneThePluginsAreAsked) {
  first_->interested_in = second_->interested_in = "gpu";
  EXPECT_FALSE(bind_->IsInterested(*info_.pod));
  Bind();
  EXPECT_THAT(Outcomes(), ElementsAre("Skip "));
}

TEST_F(ExtenderBindTest, WithoutTheLeaseOrWhileClosingNoneIsAsked) {
  const struct {
    const char* outcome;
    std::function<void(bool)> forbid;
  } cases[] = {
      {"Error not asked to bind: this process does not hold the lease",
       [this](bool forbid) { api_.may_write = !forbid; }},
      {"Error not asked to bind: the scheduler is shutting down",
       [this](bool forbid) { context_->closing = forbid; }},
  };
  first_->ignorable = true;
  for (const auto& c : cases) {
    SCOPED_TRACE(c.outcome);
    outcomes_.clear();
    first_->calls.clear();
    c.forbid(true);
    Bind();
    EXPECT_THAT(first_->calls, IsEmpty());
    EXPECT_THAT(Outcomes(), ElementsAre(c.outcome));

    // Between two extenders.
    c.forbid(false);
    Bind();
    c.forbid(true);
    Answer(*first_, {Kind::kRefused, "no"});
    EXPECT_THAT(second_->calls, IsEmpty());
    EXPECT_THAT(Outcomes(), ElementsAre(c.outcome, c.outcome));
    c.forbid(false);
  }
}

TEST_F(ExtenderBindTest, OneThatMayFailHandsThePodOn) {
  first_->ignorable = second_->ignorable = true;
  Bind();
  Answer(*first_, {Kind::kRefused, "no"});
  Answer(*second_, {Kind::kRefused, "neither"});
  EXPECT_THAT(Outcomes(), ElementsAre("Skip "));
}

TEST_F(ExtenderBindTest, AnAnswerThatTellsNothingIsFollowedByARead) {
  const struct {
    const char* name;
    test::PodBuilder pod;
    std::string outcome;
  } cases[] = {
      {"bound", on_node_, "Success "},
      {"not bound", without_node_, "Error broken"},
      {"elsewhere", test::MakePod().Name("web").Uid("u1").OnNode("n2"),
       "Error the pod is already assigned to node \"n2\""},
      {"another pod", test::MakePod().Name("web").Uid("u2").OnNode("n1"),
       "Error the pod was deleted and created again with another UID"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    outcomes_.clear();
    Bind();
    Answer(*first_, {Kind::kFailed, "broken"});
    EXPECT_THAT(Outcomes(), IsEmpty());
    Read(c.pod);
    EXPECT_THAT(Outcomes(), ElementsAre(c.outcome));
  }
}

// The extender may still be at it: the room is kept until the server would not listen any more.
TEST_F(ExtenderBindTest, AnAnswerThatNeverCameKeepsTheRoomUntilTheServersTimeout) {
  Bind();
  Answer(*first_, {Kind::kLost, "lost"});
  EXPECT_THAT(unconfirmed_, ElementsAre("u1"));
  const Time lost = clock_.Now();
  while (outcomes_.empty()) Read(without_node_);
  EXPECT_GE(clock_.Now() - lost, kServerTimeout);
  EXPECT_LE(clock_.Now() - lost, kServerTimeout + seconds(20));
  EXPECT_GT(api_.size(), 3u);
  EXPECT_THAT(Outcomes(), ElementsAre("Error lost"));
  EXPECT_THAT(unconfirmed_, ElementsAre("u1"));
  EXPECT_THAT(first_->calls, ElementsAre("bind web: n1")) << "one request an attempt";
}

TEST_F(ExtenderBindTest, AnAnswerThatNeverCameIsHeededWhenThePodTurnsUpOnItsNode) {
  first_->ignorable = true;
  Bind();
  Answer(*first_, {Kind::kLost, "lost"});
  Read(without_node_);
  FailRead();
  Read(on_node_);
  EXPECT_THAT(Outcomes(), ElementsAre("Success "));
  EXPECT_THAT(second_->calls, IsEmpty());
}

TEST_F(ExtenderBindTest, WhatWasAnsweredIsGivenUpWhereNoReadEverIs) {
  Bind();
  Answer(*first_, {Kind::kFailed, "broken"});
  const Time answered = clock_.Now();
  while (outcomes_.empty()) FailRead();
  EXPECT_GE(clock_.Now() - answered, kServerTimeout);
  EXPECT_THAT(Outcomes(), ElementsAre("Error broken"));
}

TEST_F(ExtenderBindTest, TheTimeoutEndsTheCall) {
  Bind();
  executor_.Advance(milliseconds(4999));
  EXPECT_EQ(api_.size(), 0u);
  executor_.Advance(milliseconds(1));
  EXPECT_THAT(unconfirmed_, ElementsAre("u1")) << "nothing tells what the extender did";
  Read(on_node_);
  EXPECT_THAT(Outcomes(), ElementsAre("Success "));
}

TEST_F(ExtenderBindTest, CancelledItEndsAtOnceAndOnlyOnce) {
  first_->ignorable = true;
  Bind();
  cancel_.Cancel();
  executor_.RunDue();
  EXPECT_THAT(Outcomes(), ElementsAre("Error the bind was given up before its outcome was known"));
  executor_.Advance(seconds(100));
  EXPECT_EQ(outcomes_.size(), 1u);
  EXPECT_THAT(second_->calls, IsEmpty());
}

TEST_F(ExtenderBindTest, AnswersAfterItsEndReachNothing) {
  first_->ignorable = true;
  Bind();
  bind_.reset();
  Answer(*first_, {Kind::kRefused, "no"});
  EXPECT_THAT(Outcomes(), IsEmpty());
}

}  // namespace
}  // namespace berth::extender
