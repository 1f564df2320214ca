// SPDX-License-Identifier: Apache-2.0
#include "src/serving/shared_page.h"

#include <gmock/gmock.h>

#include <atomic>
#include <future>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace berth::serving {
namespace {

constexpr auto kPatience = std::chrono::seconds(20);

// A page whose text is how often it was made. What it is made of comes when the test says so.
class SharedPageTest : public testing::Test {
 protected:
  struct Asked {
    std::shared_ptr<Request> request = std::make_shared<Request>();
    std::future<Response> response;
  };
  Asked Ask(const std::string& encodings = "") {
    Asked asked;
    if (!encodings.empty()) asked.request->headers.emplace_back("accept-encoding", encodings);
    const auto promise = std::make_shared<std::promise<Response>>();
    asked.response = promise->get_future();
    page_->Serve(
        asked.request, [promise](Response response) { promise->set_value(std::move(response)); },
        Response());
    return asked;
  }
  static Response Get(Asked& asked) {
    EXPECT_EQ(asked.response.wait_for(kPatience), std::future_status::ready);
    return asked.response.get();
  }
  // Lets what was asked for first be made.
  void Collected() {
    auto made_by = collecting_.get_future().get();
    collecting_ = {};
    made_by([this] { return "page " + std::to_string(++made_) + rest_; });
  }

  int made_ = 0;
  std::string rest_;  // of the text
  int collects_ = 0;
  std::promise<std::function<void(SharedPage::Make)>> collecting_;
  std::shared_ptr<PageThread> thread_ =
      std::make_shared<PageThread>("test-pages", PageThread::Priority::kLowest);
  std::unique_ptr<SharedPage> page_ =
      std::make_unique<SharedPage>(thread_, [this](std::function<void(SharedPage::Make)> made_by) {
        ++collects_;
        collecting_.set_value(std::move(made_by));
      });
};

TEST_F(SharedPageTest, WhoAsksMeanwhileSharesTheNextOne) {
  Asked first = Ask();
  std::vector<Asked> others;
  for (int i = 0; i < 256; ++i) others.push_back(Ask());
  EXPECT_EQ(collects_, 1);
  Collected();
  EXPECT_EQ(*Get(first).shared_body, "page 1");
  Collected();
  std::set<const std::string*> bodies;
  std::vector<Response> responses;
  for (Asked& other : others) responses.push_back(Get(other));
  for (const Response& response : responses) bodies.insert(response.shared_body.get());
  EXPECT_EQ(bodies.size(), 1u);
  EXPECT_EQ(*responses[0].shared_body, "page 2");
  EXPECT_EQ(made_, 2);
}

TEST_F(SharedPageTest, ThoseThatTakeGzipShareThat) {
  rest_ = std::string(2000, ' ');
  Asked first = Ask("gzip");
  Collected();
  const Response response = Get(first);
  EXPECT_THAT(*response.shared_body, testing::StartsWith("\x1f\x8b"));
  EXPECT_THAT(response.headers, testing::Contains(testing::Pair("Content-Encoding", "gzip")));
  EXPECT_THAT(response.headers, testing::Contains(testing::Pair("Vary", "Accept-Encoding")));
}

TEST_F(SharedPageTest, AShortPageIsSentAsItIs) {
  Asked first = Ask("gzip");
  Collected();
  const Response response = Get(first);
  EXPECT_EQ(*response.shared_body, "page 1");
  EXPECT_THAT(response.headers, testing::ElementsAre(testing::Pair("Vary", "Accept-Encoding")));
}

TEST_F(SharedPageTest, PagesOfOneThreadAreMadeOneAfterTheOther) {
  std::promise<void> begun;
  std::promise<void> go;
  std::atomic<int> at_once = 0;
  SharedPage other(thread_, [&](const std::function<void(SharedPage::Make)>& made_by) {
    made_by([&] {
      ++at_once;
      begun.set_value();
      go.get_future().wait();
      --at_once;
      return std::string("other");
    });
  });
  std::promise<Response> of_other;
  other.Serve(
      std::make_shared<Request>(),
      [&of_other](Response response) { of_other.set_value(std::move(response)); }, Response());
  begun.get_future().wait();
  Asked first = Ask();
  auto made_by = collecting_.get_future().get();
  collecting_ = {};
  made_by([&at_once] { return std::to_string(at_once); });
  go.set_value();
  EXPECT_EQ(*of_other.get_future().get().shared_body, "other");
  EXPECT_EQ(*Get(first).shared_body, "0");
}

TEST_F(SharedPageTest, NothingIsMadeForThoseWhoHaveGone) {
  Asked first = Ask();
  Asked second = Ask();
  first.request->departure->Announce();
  second.request->departure->Announce();
  auto before = collecting_.get_future().get();
  collecting_ = {};
  before([this] { return std::to_string(++made_); });
  // The page is free again by the time that a later one is collected.
  Asked third = Ask();
  Collected();
  EXPECT_EQ(*Get(third).shared_body, "page 1");
}

TEST_F(SharedPageTest, WhatIsCollectedMayComeAfterItHasGone) {
  Asked first = Ask();
  page_.reset();
  thread_.reset();
  Collected();
  EXPECT_EQ(made_, 0);
}

}  // namespace
}  // namespace berth::serving
