// SPDX-License-Identifier: Apache-2.0
#include "src/extender/extender_bind.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/api/decode.h"
#include "src/binding/bind_operation.h"
#include "src/binding/cancel_source.h"
#include "tests/support/builders.h"
#include "tests/support/fake_api.h"
#include "tests/support/fake_clock.h"
#include "tests/support/fake_extender.h"

namespace berth::extender {
namespace {

using Doubt = extender::BindResult::Doubt;

using std::chrono::seconds;
using testing::ElementsAre;

class ExtenderBindTest : public testing::Test {
 protected:
  ExtenderBindTest() {
    first_->binds = second_->binds = true;
    info_.pod = test::MakePod().Name("web").Uid("u1").Ptr();
    bind_ = std::make_unique<ExtenderBind>(
        extender::ExtenderList{first_, second_}, api_, clock_, 1,
        [this](const std::string& uid) { settling_.push_back(uid); });
  }
  void Bind() {
    bind_->Bind(state_, info_, "n1", cancel_,
                [this](AsyncStatus status) { outcomes_.push_back(std::move(status)); });
    executor_.RunDue();
  }
  void Answer(test::FakeExtender& extender, extender::BindResult result) {
    extender.open_binds.back()(std::move(result));
    executor_.RunDue();
  }
  void Read(const test::PodBuilder& pod) {
    api_.last().Reply(200, api::EncodeJson(pod.Obj()));
    executor_.RunDue();
  }
  // "Code message" of every end so far.
  std::vector<std::string> Outcomes() const {
    std::vector<std::string> lines;
    for (const AsyncStatus& status : outcomes_) {
      lines.push_back(std::string(CodeName(status.code)) + " " + status.message);
    }
    return lines;
  }

  test::FakeClock clock_;
  test::FakeExecutor executor_{clock_};
  test::FakeApi api_{executor_};
  std::shared_ptr<test::FakeExtender> first_ = std::make_shared<test::FakeExtender>("first");
  std::shared_ptr<test::FakeExtender> second_ = std::make_shared<test::FakeExtender>("second");
  PodInfo info_;
  CycleState state_;
  binding::CancelSource cancel_;
  std::vector<AsyncStatus> outcomes_;
  std::vector<std::string> settling_;
  std::unique_ptr<ExtenderBind> bind_;
};

TEST_F(ExtenderBindTest, TheFirstThatIsInterestedHasTheLastWord) {
  first_->interested_in = "gpu";
  Bind();
  EXPECT_THAT(second_->calls, ElementsAre("bind web: n1"));
  Answer(*second_, {"no"});
  EXPECT_THAT(Outcomes(), ElementsAre("Error no"));
  EXPECT_EQ(api_.size(), 0u) << "a definite answer needs no check";
}

TEST_F(ExtenderBindTest, WithoutAnInterestedOneThePluginsAreAsked) {
  first_->interested_in = second_->interested_in = "gpu";
  EXPECT_FALSE(bind_->IsInterested(*info_.pod));
  Bind();
  EXPECT_THAT(Outcomes(), ElementsAre("Skip "));
}

TEST_F(ExtenderBindTest, WithoutTheLeaseNobodyIsAsked) {
  first_->ignorable = true;
  api_.may_write = false;
  Bind();
  EXPECT_THAT(first_->calls, testing::IsEmpty());
  EXPECT_THAT(second_->calls, testing::IsEmpty());
  EXPECT_THAT(Outcomes(),
              ElementsAre("Error not asked to bind: this process does not hold the lease"));

  // Lost between two extenders.
  api_.may_write = true;
  Bind();
  api_.may_write = false;
  Answer(*first_, {"no"});
  EXPECT_THAT(second_->calls, testing::IsEmpty());
}

TEST_F(ExtenderBindTest, OneThatMayFailHandsThePodOn) {
  first_->ignorable = second_->ignorable = true;
  Bind();
  Answer(*first_, {"no"});
  Answer(*second_, {"neither"});
  EXPECT_THAT(Outcomes(), ElementsAre("Skip "));
}

TEST_F(ExtenderBindTest, AnAnswerThatTellsNothingIsSettledByReading) {
  const struct {
    const char* name;
    test::PodBuilder pod;
    std::string outcome;
  } cases[] = {
      {"bound", test::MakePod().Name("web").Uid("u1").OnNode("n1"), "Success "},
      {"not bound", test::MakePod().Name("web").Uid("u1"), "Error lost"},
      {"elsewhere", test::MakePod().Name("web").Uid("u1").OnNode("n2"), "Error lost"},
      {"another pod", test::MakePod().Name("web").Uid("u2").OnNode("n1"), "Error lost"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    outcomes_.clear();
    Bind();
    Answer(*first_, {"lost", Doubt::kAnswered});
    EXPECT_THAT(Outcomes(), testing::IsEmpty());
    Read(c.pod);
    EXPECT_THAT(Outcomes(), ElementsAre(c.outcome));
  }
}

// The extender may still be at it: the room is kept until the server would not listen any more.
TEST_F(ExtenderBindTest, AnAnswerThatNeverCameKeepsTheRoomUntilTheServersTimeout) {
  const test::PodBuilder unassigned = test::MakePod().Name("web").Uid("u1");
  Bind();
  Answer(*first_, {"lost", Doubt::kNoAnswer});
  EXPECT_THAT(settling_, ElementsAre("u1"));
  size_t reads = 1;
  for (Duration waited{}; waited < binding::BindOperation::kServerTimeout - seconds(1);
       waited += seconds(1)) {
    EXPECT_THAT(Outcomes(), testing::IsEmpty());
    if (api_.size() == reads) {
      Read(unassigned);
      ++reads;
    }
    clock_.Advance(seconds(1));
    executor_.RunDue();
  }
  EXPECT_GT(reads, 3u);
  clock_.Advance(seconds(30));
  executor_.RunDue();
  ASSERT_EQ(api_.size(), reads);
  Read(unassigned);
  EXPECT_THAT(Outcomes(), ElementsAre("Error lost"));
  EXPECT_THAT(settling_, ElementsAre("u1"));
  EXPECT_THAT(first_->calls, ElementsAre("bind web: n1"));
}

TEST_F(ExtenderBindTest, AnAnswerThatNeverCameIsHeededWhenThePodTurnsUpOnItsNode) {
  first_->ignorable = true;
  Bind();
  Answer(*first_, {"lost", Doubt::kNoAnswer});
  Read(test::MakePod().Name("web").Uid("u1"));
  clock_.Advance(seconds(20));
  executor_.RunDue();
  Read(test::MakePod().Name("web").Uid("u1").OnNode("n1"));
  EXPECT_THAT(Outcomes(), ElementsAre("Success "));
  EXPECT_THAT(second_->calls, testing::IsEmpty());
}

TEST_F(ExtenderBindTest, WhatWasAnsweredIsGivenUpWhereNoReadEverIs) {
  Bind();
  Answer(*first_, {"broken", Doubt::kAnswered});
  api_.last().Fail(test::NoAnswer());
  executor_.RunDue();
  EXPECT_THAT(Outcomes(), testing::IsEmpty());
  clock_.Advance(binding::BindOperation::kServerTimeout);
  executor_.RunDue();
  api_.last().Fail(test::NoAnswer());
  executor_.RunDue();
  EXPECT_THAT(Outcomes(), ElementsAre("Error broken"));
}

TEST_F(ExtenderBindTest, ReadingGoesOnUntilItIsAnswered) {
  Bind();
  Answer(*first_, {"lost", Doubt::kNoAnswer});
  api_.last().Fail(test::NoAnswer());
  executor_.RunDue();
  EXPECT_THAT(Outcomes(), testing::IsEmpty());
  clock_.Advance(seconds(2));
  executor_.RunDue();
  EXPECT_EQ(api_.size(), 2u);
  Read(test::MakePod().Name("web").Uid("u1").OnNode("n1"));
  EXPECT_THAT(Outcomes(), ElementsAre("Success "));
}

TEST_F(ExtenderBindTest, TheTimeoutEndsTheCall) {
  Bind();
  clock_.Advance(seconds(4));
  executor_.RunDue();
  EXPECT_EQ(api_.size(), 0u);
  clock_.Advance(seconds(1));
  executor_.RunDue();
  ASSERT_EQ(api_.size(), 1u) << "nobody knows what the extender did";
  Read(test::MakePod().Name("web").Uid("u2"));
  EXPECT_THAT(Outcomes(), ElementsAre("Error too late"));
}

TEST_F(ExtenderBindTest, CancelledItEndsAtOnceAndOnlyOnce) {
  Bind();
  cancel_.Cancel();
  executor_.RunDue();
  EXPECT_THAT(Outcomes(), ElementsAre("Error the bind was given up"));
  clock_.Advance(seconds(10));
  executor_.RunDue();
  EXPECT_EQ(outcomes_.size(), 1u);
}

TEST_F(ExtenderBindTest, AnswersAfterItsEndFindNobody) {
  Bind();
  bind_.reset();
  first_->open_binds.back()({});
  executor_.RunDue();
  EXPECT_THAT(Outcomes(), testing::IsEmpty());
}

}  // namespace
}  // namespace berth::extender
