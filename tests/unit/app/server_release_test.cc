// SPDX-License-Identifier: Apache-2.0
#include "src/app/daemon/server_release.h"

#include <gmock/gmock.h>

#include <string>

#include "src/app/version.h"
#include "src/base/logging.h"
#include "src/base/virtual_time.h"
#include "tests/support/fake_api.h"

namespace berth::app {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// What the log has after the API server answered with that status and body.
std::string LogOfAnswer(int code, const std::string& body) {
  base::VirtualClock clock;
  base::VirtualExecutor executor(clock);
  test::FakeApi api(executor);
  base::SetLogVerbosity(0);  // whatever other tests of this program have set
  testing::internal::CaptureStderr();
  TellServerRelease(api);
  EXPECT_EQ(api.size(), 1u);
  EXPECT_EQ(api.last().request.path, "/version");
  EXPECT_EQ(api.last().request.verb, client::Verb::kGet);
  api.last().Reply(code, body);
  executor.RunDue();
  return testing::internal::GetCapturedStderr();
}

std::string OfMinor(const std::string& minor) {
  return R"({"major":"1","minor":")" + minor + R"(","gitVersion":"v1.)" + minor + R"(.3"})";
}

TEST(ServerReleaseTest, AnOlderServerIsToldWithWhatItCosts) {
  for (const char* minor : {"36", "35+"}) {
    EXPECT_THAT(LogOfAnswer(200, OfMinor(minor)),
                AllOf(HasSubstr("of an older release"), HasSubstr("kinds"), HasSubstr("fields"),
                      HasSubstr("gates"), HasSubstr("server=\"v1." + std::string(minor) + ".3\""),
                      HasSubstr("--emulated-version=1." + std::string(minor, 2))));
  }
}

TEST(ServerReleaseTest, ANewerServerIsTold) {
  EXPECT_THAT(LogOfAnswer(200, OfMinor(std::to_string(kKubernetesMinor + 1))),
              HasSubstr("of a newer release"));
}

TEST(ServerReleaseTest, OfTheSameReleaseAndOfNoAnswerNothingIsTold) {
  EXPECT_THAT(LogOfAnswer(200, OfMinor(std::to_string(kKubernetesMinor))), IsEmpty());
  EXPECT_THAT(LogOfAnswer(403, "forbidden"), IsEmpty());
  for (const char* body : {"", "no JSON", "[]", "{}", R"({"major":"1","minor":"x"})",
                           R"({"major":2,"minor":36})", R"({"major":"1","minor":36})"}) {
    EXPECT_THAT(LogOfAnswer(200, body), IsEmpty()) << body;
  }
}

}  // namespace
}  // namespace berth::app
