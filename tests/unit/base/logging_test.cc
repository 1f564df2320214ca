// SPDX-License-Identifier: Apache-2.0
#include "src/base/logging.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <source_location>
#include <string>

namespace berth::base {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;
using testing::StartsWith;

class LoggingTest : public testing::Test {
 protected:
  ~LoggingTest() override { SetUpLogging({}); }

  // What `log` writes on standard error.
  static std::string Written(const std::function<void()>& log) {
    testing::internal::CaptureStderr();
    log();
    FlushLogs();
    return testing::internal::GetCapturedStderr();
  }
};

TEST_F(LoggingTest, TextHasKlogsForm) {
  SetUpLogging({});
  const int line = __LINE__ + 2;
  const std::string text =
      Written([] { LogInfo("Pod bound", {{"pod", "default/web"}, {"attempts", 2}}); });
  EXPECT_THAT(text, MatchesRegex("I[01][0-9][0-3][0-9] [0-2][0-9]:[0-5][0-9]:[0-6][0-9]\\."
                                 "[0-9][0-9][0-9][0-9][0-9][0-9] +[0-9]+ .*\n"));
  EXPECT_THAT(
      text, HasSubstr(" " + std::to_string(getpid()) + " logging_test.cc:" + std::to_string(line) +
                      "] \"Pod bound\" pod=\"default/web\" attempts=2\n"));
}

TEST_F(LoggingTest, TheFirstLetterIsTheSeverity) {
  SetUpLogging({});
  EXPECT_THAT(Written([] { LogInfo("m"); }), StartsWith("I"));
  EXPECT_THAT(Written([] { LogWarning("m"); }), StartsWith("W"));
  EXPECT_THAT(Written([] { LogError("m"); }), StartsWith("E"));
}

TEST_F(LoggingTest, BelowZeroOnlyWarningsAndErrorsAreWritten) {
  SetUpLogging({.verbosity = -1});
  EXPECT_EQ(Written([] { LogInfo("m"); }), "");
  EXPECT_THAT(Written([] { LogWarning("m"); }), StartsWith("W"));
  EXPECT_THAT(Written([] { LogError("m"); }), StartsWith("E"));
}

TEST_F(LoggingTest, TextOfSeveralLinesIsIndented) {
  SetUpLogging({});
  EXPECT_THAT(Written([] { LogInfo("m", {{"config", "a: 1\nb: 2"}, {"n", 1}}); }),
              HasSubstr("] \"m\" config=<\n\ta: 1\n\tb: 2\n > n=1\n"));
}

TEST_F(LoggingTest, NothingElseBreaksALine) {
  SetUpLogging({});
  const std::string text = Written([] { LogInfo("a\nb", {{"v", "\"x\"\\\t\r\x01"}}); });
  EXPECT_THAT(text, HasSubstr(R"("a\nb" v="\"x\"\\\t\r\u0001")"));
  EXPECT_EQ(text.find('\n'), text.size() - 1);
}

TEST_F(LoggingTest, ALineStandsAsItIs) {
  SetUpLogging({.verbosity = 1});
  EXPECT_THAT(Written([] { LogLineV(1, "FLAG: --v=\"1\""); }), HasSubstr("] FLAG: --v=\"1\"\n"));
  EXPECT_EQ(Written([] { LogLineV(2, "m"); }), "");
  SetUpLogging({.format = LogFormat::kJson});
  EXPECT_EQ(nlohmann::json::parse(Written([] { LogLineV(0, "a \"b\""); })).at("msg"), "a \"b\"");
}

TEST_F(LoggingTest, JsonHasTimeCallerMessageAndFields) {
  SetUpLogging({.verbosity = 4, .format = LogFormat::kJson});
  const int line = __LINE__ + 1;
  const std::string text = Written([] { LogV(4, "a \"b\"\n", {{"node", "n\x01"}, {"count", 3}}); });
  EXPECT_EQ(text.find('\n'), text.size() - 1);
  const auto json = nlohmann::json::parse(text);
  EXPECT_EQ(json.at("msg"), "a \"b\"\n");
  EXPECT_EQ(json.at("caller"), "base/logging_test.cc:" + std::to_string(line));
  EXPECT_EQ(json.at("v"), 4);
  EXPECT_EQ(json.at("node"), "n\x01");
  EXPECT_EQ(json.at("count"), 3);
  EXPECT_GT(json.at("ts").get<double>(), 1.7e12);  // milliseconds
}

TEST_F(LoggingTest, AnErrorInJsonHasNoVerbosity) {
  SetUpLogging({.format = LogFormat::kJson});
  EXPECT_TRUE(nlohmann::json::parse(Written([] { LogInfo("m"); })).contains("v"));
  EXPECT_FALSE(nlohmann::json::parse(Written([] { LogError("m"); })).contains("v"));
}

TEST_F(LoggingTest, AnErrorInJsonHasItsCausesBehindIt) {
  const auto write = [] {
    LogError("m", {{"err", "[a, \"b\"]", {"a", "\"b\""}}, {"other", "c", {}}});
  };
  SetUpLogging({.format = LogFormat::kJson});
  EXPECT_THAT(Written(write),
              HasSubstr(R"("err":"[a, \"b\"]","errCauses":[{"error":"a"},{"error":"\"b\""}],)"
                        R"("other":"c"})"));
  SetUpLogging({});
  EXPECT_THAT(Written(write), HasSubstr(R"(err="[a, \"b\"]" other="c")"));
}

TEST_F(LoggingTest, VerbosityDecidesWhatIsWritten) {
  SetUpLogging({.verbosity = 2});
  EXPECT_EQ(LogVerbosity(), 2);
  EXPECT_NE(Written([] { LogV(2, "m"); }), "");
  EXPECT_EQ(Written([] { LogV(3, "m"); }), "");
  SetUpLogging({.verbosity = 3});
  EXPECT_NE(Written([] { LogV(3, "m"); }), "");
}

TEST_F(LoggingTest, APodIsAnObjectInJson) {
  SetUpLogging({.format = LogFormat::kJson});
  const auto json = nlohmann::json::parse(
      Written([] { LogWarning("m", {{"pod", "default/web"}, {"sent", true}}); }));
  EXPECT_EQ(json.at("pod"), nlohmann::json({{"name", "web"}, {"namespace", "default"}}));
  EXPECT_EQ(json.at("sent"), true);
  EXPECT_EQ(json.at("v"), 0);
}

TEST_F(LoggingTest, VModuleMakesTheFilesItNamesMoreVerbose) {
  std::string path = std::source_location::current().file_name();
  path.resize(path.rfind('.'));
  const struct {
    std::vector<VModule> vmodule;
    bool want;  // a message of level 3 from here
  } cases[] = {
      {{}, false},
      {{{"logging_test", 3}}, true},
      {{{"logging_test", 2}}, false},
      {{{"log*", 9}}, true},
      {{{"log", 9}}, false},
      {{{"logging_test.cc", 9}}, false},
      {{{"logging_test", 2}, {"*", 9}}, false},
      {{{"other", 9}, {"logging_????", 3}}, true},
      {{{path, 3}}, true},
      {{{"*/logging_test", 3}}, false},  // a star stands for one part of the path
      {{{"unit/logging_test", 3}}, false},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.vmodule.empty() ? "" : c.vmodule.back().pattern);
    SetUpLogging({.verbosity = 1, .vmodule = c.vmodule});
    EXPECT_EQ(!Written([] { LogV(3, "m"); }).empty(), c.want);
    EXPECT_EQ(LogVerbosity() >= 3, std::any_of(c.vmodule.begin(), c.vmodule.end(),
                                               [](const VModule& m) { return m.verbosity >= 3; }));
  }
}

TEST_F(LoggingTest, ASplitStreamLeavesErrorsAndWarningsOnStandardError) {
  SetUpLogging({.split_stream = true});
  testing::internal::CaptureStdout();
  EXPECT_EQ(Written([] { LogInfo("m"); }), "");
  EXPECT_THAT(testing::internal::GetCapturedStdout(), StartsWith("I"));
  EXPECT_THAT(Written([] { LogError("m"); }), StartsWith("E"));
}

TEST_F(LoggingTest, VerbosityCanBeChangedAlone) {
  SetUpLogging({.format = LogFormat::kJson});
  SetLogVerbosity(5);
  EXPECT_THAT(Written([] { LogV(5, "m"); }), StartsWith("{"));
}

}  // namespace
}  // namespace berth::base
