// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "src/base/executor.h"
#include "src/base/thread.h"
#include "src/base/virtual_time.h"

namespace berth::base {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class ExecutorLinkTest : public testing::Test {
 protected:
  void Note(std::string what) {
    link_->Run([this, what = std::move(what)] { notes_.push_back(what); });
  }

  base::VirtualClock clock_;
  std::optional<base::VirtualExecutor> executor_{std::in_place, clock_};
  std::shared_ptr<ExecutorLink> link_ = std::make_shared<ExecutorLink>(*executor_);
  std::vector<std::string> notes_;
};

TEST_F(ExecutorLinkTest, FromAnotherThreadATaskIsPosted) {
  Note("first");
  EXPECT_THAT(notes_, IsEmpty()) << "which thread is the executor's is not known yet";
  executor_->RunDue();
  {
    NamedThread other("other", [this] { Note("second"); });
  }
  EXPECT_THAT(notes_, ElementsAre("first"));
  executor_->RunDue();
  EXPECT_THAT(notes_, ElementsAre("first", "second"));
}

TEST_F(ExecutorLinkTest, OnTheExecutorsThreadATaskRunsAtOnceUnlessItIsPosted) {
  link_->Post([this] {
    link_->Post([this] { notes_.push_back("posted"); });
    Note("run");
    EXPECT_THAT(notes_, ElementsAre("run"));
  });
  executor_->RunDue();
  EXPECT_THAT(notes_, ElementsAre("run", "posted"));
}

TEST_F(ExecutorLinkTest, ClosedItDropsWhatWasPostedAndWhatComes) {
  Note("posted before");
  link_->Post([this] {
    link_->Close();
    Note("on the thread");
  });
  Note("posted, runs after Close()");
  executor_->RunDue();
  EXPECT_THAT(notes_, ElementsAre("posted before"));
  EXPECT_TRUE(link_->closed());
  executor_.reset();
  Note("the executor is gone");
  link_->Post([this] { notes_.push_back("posted"); });
  EXPECT_THAT(notes_, ElementsAre("posted before"));
}

}  // namespace
}  // namespace berth::base
