// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "src/base/virtual_time.h"
#include "src/client/api_client.h"
#include "tests/support/fake_api.h"

namespace berth::client {
namespace {

class ReadOnlyClientTest : public testing::Test {
 protected:
  base::VirtualClock clock_;
  base::VirtualExecutor executor_{clock_};
  test::FakeApi api_{executor_};
  ReadOnlyClient read_only_{api_};
};

TEST_F(ReadOnlyClientTest, WritesAreAnsweredAndNotSent) {
  for (const Verb verb : {Verb::kCreate, Verb::kUpdate, Verb::kPatch, Verb::kDelete}) {
    std::optional<ResponseResult> answer;
    read_only_.Send({.verb = verb, .path = "/api/v1/pods"},
                    [&answer](const ResponseResult& result) { answer = result; });
    EXPECT_FALSE(answer) << "never inside the call";
    executor_.RunDue();
    ASSERT_TRUE(answer);
    ASSERT_TRUE(answer->has_value());
    EXPECT_EQ((*answer)->code / 100, 2);
  }
  EXPECT_EQ(api_.size(), 0u);
}

TEST_F(ReadOnlyClientTest, AnUpdateIsAnsweredWithWhatWasSent) {
  std::optional<ResponseResult> answer;
  read_only_.Send({.verb = Verb::kUpdate, .content_type = "application/json", .body = "{}"},
                  [&answer](const ResponseResult& result) { answer = result; });
  executor_.RunDue();
  ASSERT_TRUE(answer && answer->has_value());
  EXPECT_EQ((*answer)->content_type, "application/json");
  EXPECT_EQ((*answer)->body, "{}");
}

TEST_F(ReadOnlyClientTest, ReadsPass) {
  read_only_.Send({.verb = Verb::kGet, .path = "/api/v1/pods/a"}, [](const ResponseResult&) {});
  EXPECT_EQ(api_.size(), 1u);
}

}  // namespace
}  // namespace berth::client
