// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>

#include "src/app/endpoints/endpoints.h"
#include "src/base/logging.h"
#include "src/base/thread.h"

namespace berth::app {
namespace {

class DebugFlagsTest : public testing::Test {
 protected:
  DebugFlagsTest() { InstallDebugFlags(router_); }
  ~DebugFlagsTest() override { base::SetUpLogging({}); }

  serving::Response Ask(const std::string& method, const std::string& body = "",
                        const std::string& path = "/debug/flags/v") {
    const auto request = std::make_shared<const serving::Request>(
        serving::Request{.method = method, .path = path, .body = body});
    serving::Response answer;
    router_.Serve(request, [&answer](serving::Response response) { answer = std::move(response); });
    return answer;
  }

  serving::Router router_;
};

TEST_F(DebugFlagsTest, PutSetsTheVerbosity) {
  EXPECT_EQ(Ask("PUT", "4").body, "successfully set klog.logging.verbosity to 4\n");
  EXPECT_EQ(base::LogVerbosity(), 4);
  EXPECT_EQ(Ask("GET").body, "4\n");
  for (const char* bad : {"", "-1", "+5", "many", "99999999999"}) {
    EXPECT_EQ(Ask("PUT", bad).code, 400) << bad;
  }
  EXPECT_EQ(Ask("PUT", "x").body, "strconv.ParseUint: parsing \"x\": invalid syntax\n");
  EXPECT_EQ(Ask("PUT", "3000000000").body,
            "failed set klog.logging.verbosity 3000000000: strconv.ParseInt: parsing "
            "\"3000000000\": value out of range\n");
  EXPECT_EQ(base::LogVerbosity(), 4);
}

TEST_F(DebugFlagsTest, TheVerbosityIsThatOfAllFiles) {
  base::SetUpLogging({.verbosity = 2, .vmodule = {{"nothing_here", 9}}});
  EXPECT_EQ(Ask("GET").body, "2\n");
  EXPECT_EQ(Ask("PUT", "3").code, 200);
  EXPECT_EQ(Ask("GET").body, "3\n");
}

TEST_F(DebugFlagsTest, OtherMethodsAreNotAcceptable) {
  EXPECT_EQ(Ask("POST", "4").code, 406);
  EXPECT_EQ(Ask("DELETE").body, "unsupported http method\n");
}

TEST_F(DebugFlagsTest, TheFolderNamesTheFlag) {
  for (const char* path : {"/debug/flags", "/debug/flags/"}) {
    const serving::Response index = Ask("GET", "", path);
    EXPECT_EQ(index.code, 200) << path;
    EXPECT_THAT(index.body, testing::HasSubstr("/debug/flags/v")) << path;
  }
}

// Nothing that a thread may be reading is written over; ThreadSanitizer would tell.
TEST_F(DebugFlagsTest, ThreadsMayLogWhileTheVerbosityIsSet) {
  base::SetUpLogging({.verbosity = 0, .vmodule = {{"nothing_here", 9}}});
  std::atomic<bool> done = false;
  base::NamedThread logger("test-logger", [&done] {
    while (!done) base::LogV(8, "never written");
  });
  for (int i = 0; i < 1000; ++i) Ask("PUT", std::to_string(i % 5));
  done = true;
  logger.Join();
  EXPECT_EQ(base::LogVerbosity(), 9) << "--vmodule keeps its say";
}

}  // namespace
}  // namespace berth::app
