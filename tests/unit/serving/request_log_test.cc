// SPDX-License-Identifier: Apache-2.0
#include "src/serving/request_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "src/base/logging.h"

namespace berth::serving {
namespace {

using testing::HasSubstr;

class RequestLogTest : public testing::Test {
 protected:
  ~RequestLogTest() override { base::SetUpLogging({}); }

  static std::string Written(const Request& request, int code) {
    testing::internal::CaptureStderr();
    const RequestLog log(request, "127.0.0.1:48366", Time(std::chrono::seconds(5)));
    log.Answered(code, Time(std::chrono::seconds(5)) + std::chrono::nanoseconds(65'744));
    base::FlushLogs();
    return testing::internal::GetCapturedStderr();
  }
};

// The fields are those of kube-scheduler 1.37.1.
TEST_F(RequestLogTest, TellsWhoAskedForWhatAndWhatCameOfIt) {
  base::SetUpLogging({.verbosity = 3});
  EXPECT_TRUE(RequestLog::Wanted());
  EXPECT_THAT(
      Written({.method = "GET",
               .path = "/readyz",
               .target = "/readyz?verbose",
               .headers = {{"user-agent", "curl/7.88.1"}}},
              500),
      HasSubstr("] \"HTTP\" verb=\"GET\" URI=\"/readyz?verbose\" latency=\"65.744\xC2\xB5s\" "
                "userAgent=\"curl/7.88.1\" contentType=\"\" audit-ID=\"\" "
                "srcIP=\"127.0.0.1:48366\" resp=500\n"));
}

TEST_F(RequestLogTest, NothingIsWrittenBelow) {
  base::SetUpLogging({.verbosity = 2});
  EXPECT_FALSE(RequestLog::Wanted());
  EXPECT_EQ(Written({.method = "GET"}, 200), "");
}

TEST(RemoteOfTest, OfNoSocketThereIsNone) { EXPECT_EQ(RemoteOf(-1), ""); }

}  // namespace
}  // namespace berth::serving
