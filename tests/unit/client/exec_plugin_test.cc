// SPDX-License-Identifier: Apache-2.0
#include "src/client/exec_plugin.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>

#include "src/base/clock.h"
#include "src/base/event_loop.h"
#include "tests/unit/client/temp_folder.h"

namespace berth::client {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;

constexpr char kV1[] = "client.authentication.k8s.io/v1";

Result<std::string> Shell(const std::string& script, Duration timeout = seconds(30),
                          int cancel_fd = -1) {
  return RunProgram("sh", {"-c", script}, {"PATH=/usr/bin:/bin", "A=b c"}, StandardInput::kNone,
                    timeout, cancel_fd);
}

TEST(RunProgramTest, OutputEnvironmentAndInputAreThePrograms) {
  const auto output = Shell("printf '%s|' \"$A\"; cat; printf end");
  ASSERT_TRUE(output) << output.error().message;
  EXPECT_EQ(*output, "b c|end");
}

TEST(RunProgramTest, MuchOutputIsReadWhole) {
  const auto output = Shell("head -c 300000 /dev/zero");
  ASSERT_TRUE(output) << output.error().message;
  EXPECT_EQ(output->size(), 300000u);
}

TEST(RunProgramTest, FailuresSayWhatHappened) {
  EXPECT_EQ(Shell("exit 7").error().message, "exec: executable sh failed with exit code 7");
  EXPECT_EQ(Shell("kill -TERM $$").error().message, "exec: executable sh was ended by signal 15");
  EXPECT_EQ(Shell("sleep 1000", milliseconds(20)).error().message,
            "exec: executable sh took too long and was killed");
  EXPECT_EQ(Shell("cat /dev/zero").error().message,
            "exec: executable sh printed too much and was killed");
  EXPECT_EQ(RunProgram("berth-no-such-program", {}, {}, StandardInput::kNone, seconds(1), -1)
                .error()
                .message,
            "exec: executable berth-no-such-program not found");
}

TEST(RunProgramTest, ACancelledProgramIsKilled) {
  const int cancel = eventfd(1, EFD_CLOEXEC);
  EXPECT_EQ(Shell("sleep 1000", seconds(100), cancel).error().message,
            "exec: executable sh was cancelled");
  close(cancel);
}

TEST(RunProgramTest, AProgramThatClosesItsOutputAndLivesOnIsKilledAtItsTimeLimit) {
  const base::RealClock clock;
  const Time began = clock.Now();
  EXPECT_EQ(Shell("exec >&-; exec sleep 20", milliseconds(300)).error().message,
            "exec: executable sh took too long and was killed");
  RecordProperty("ended_after_ms", std::to_string((clock.Now() - began) / milliseconds(1)));
  EXPECT_LT(clock.Now() - began, seconds(10));
}

TEST(RunProgramTest, WhatAProgramDoesAfterItClosedItsOutputCounts) {
  const auto output = Shell("printf said; exec >&-; exit 7");
  EXPECT_EQ(output.error().message, "exec: executable sh failed with exit code 7");
  EXPECT_EQ(Shell("printf said; exec >&-; true").value_or(""), "said");
}

TEST(RunProgramTest, NoDescriptorOfOursIsInherited) {
  const int open = dup(STDERR_FILENO);  // without close-on-exec
  const auto output = Shell("ls /proc/self/fd | tr '\\n' ' '");
  close(open);
  ASSERT_TRUE(output);
  EXPECT_EQ(*output, "0 1 2 3 ");  // 3 is ls's own
}

TEST(ExecInfoTest, ClusterIsTheresOnlyWhenAskedFor) {
  ClusterConfig cluster;
  cluster.server = "https://s";
  cluster.tls_server_name = "n";
  cluster.exec_extension =
      ConfigValue(ConfigValue::Map{{"audience", ConfigValue(std::string("x"))}});
  ExecConfig exec;
  exec.api_version = kV1;
  EXPECT_EQ(nlohmann::json::parse(ExecInfo(exec, cluster, "CA", StandardInput::kNone)),
            nlohmann::json::parse(R"({"apiVersion":"client.authentication.k8s.io/v1",
              "kind":"ExecCredential","spec":{"interactive":false}})"));
  exec.provide_cluster_info = true;
  EXPECT_EQ(nlohmann::json::parse(ExecInfo(exec, cluster, "CA", StandardInput::kTerminal)),
            nlohmann::json::parse(R"({"apiVersion":"client.authentication.k8s.io/v1",
              "kind":"ExecCredential","spec":{"interactive":true,"cluster":{"server":"https://s",
              "tls-server-name":"n","certificate-authority-data":"Q0E=",
              "config":{"audience":"x"}}}})"));
}

std::string Printed(const std::string& status) {
  return std::string(R"({"apiVersion":")") + kV1 + R"(","kind":"ExecCredential","status":)" +
         status + "}";
}

TEST(ParseExecCredentialTest, TokenCertificateAndExpiryAreRead) {
  const auto credential =
      ParseExecCredential(Printed(R"({"token":"t","clientCertificateData":"C","clientKeyData":"K",
                  "expirationTimestamp":"2026-01-01T00:00:10Z"})"),
                          kV1);
  ASSERT_TRUE(credential) << credential.error().message;
  EXPECT_EQ(credential->token, "t");
  EXPECT_EQ(credential->client_certificate, "C");
  EXPECT_EQ(credential->client_key, "K");
  const Time new_year = std::chrono::sys_days(std::chrono::year(2026) / 1 / 1);
  EXPECT_EQ(credential->expires, new_year + seconds(10));
}

TEST(ParseExecCredentialTest, WhatIsNoCredentialIsRefused) {
  const struct {
    const char* name;
    std::string text;
    const char* want;
  } cases[] = {
      {"no JSON", "Error: log in first", "printed no ExecCredential"},
      {"other kind", R"({"kind":"Pod"})", "printed no ExecCredential"},
      {"other version",
       R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1beta1"})",
       "is configured for client.authentication.k8s.io/v1 but printed "
       "client.authentication.k8s.io/v1beta1"},
      {"no status", R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1"})",
       "printed no status"},
      {"empty status", Printed("{}"), "printed neither a token nor a client certificate"},
      {"half a certificate", Printed(R"({"clientKeyData":"K"})"), "printed only one of"},
      {"bad time", Printed(R"({"token":"t","expirationTimestamp":"soon"})"),
       "status.expirationTimestamp"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    const auto credential = ParseExecCredential(c.text, kV1);
    ASSERT_FALSE(credential);
    EXPECT_THAT(credential.error().message, HasSubstr(c.want));
  }
}

ExecConfig Program(const std::string& script) {
  ExecConfig exec;
  exec.command = "sh";
  exec.args = {"-c", script};
  exec.api_version = kV1;
  exec.interactive_mode = "Never";
  return exec;
}

// Runs the plugin in a loop until it answers.
Result<ExecCredential> RunPlugin(const ExecConfig& config) {
  const base::RealClock clock;
  base::EventLoop loop(clock);
  auto plugin = MakeExecPlugin(config, {}, loop);
  Result<ExecCredential> out = Fail("no answer");
  loop.Post([&] {
    plugin->Run("", [&](Result<ExecCredential> result) {
      out = std::move(result);
      loop.Stop();
    });
  });
  loop.Run();
  return out;
}

TEST(ExecPluginTest, TheProgramGetsItsEnvironmentAndItsOutputIsTheCredential) {
  ExecConfig exec = Program(
      R"(test "$KUBERNETES_EXEC_INFO" = "$WANT" && printf '{"kind":"ExecCredential","apiVersion":")"
      R"(client.authentication.k8s.io/v1","status":{"token":"%s"}}' "$TOKEN")");
  exec.env = {{"TOKEN", "abc"}, {"WANT", ExecInfo(exec, {}, "", StandardInput::kNone)}};
  const auto credential = RunPlugin(exec);
  ASSERT_TRUE(credential) << credential.error().message;
  EXPECT_EQ(credential->token, "abc");
}

TEST(ExecPluginTest, AMissingProgramBringsItsInstallHint) {
  ExecConfig exec = Program("");
  exec.command = "berth-no-such-program";
  exec.install_hint = "Get it from example.com\n";
  const auto credential = RunPlugin(exec);
  ASSERT_FALSE(credential);
  EXPECT_EQ(credential.error().message,
            "exec: executable berth-no-such-program not found. Get it from example.com");
}

TEST(ExecPluginTest, ADestroyedPluginKillsItsProgramAndNeverCallsBack) {
  const base::RealClock clock;
  base::EventLoop loop(clock);
  auto plugin = MakeExecPlugin(Program("sleep 1000"), {}, loop);
  bool called = false;
  loop.Post([&] {
    plugin->Run("", [&](Result<ExecCredential>) { called = true; });
    plugin.reset();
    loop.Stop();
  });
  loop.Run();
  EXPECT_FALSE(called);
}

// Ends of pipes that this process has open.
size_t OpenPipes() {
  size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    const auto target = std::filesystem::read_symlink(entry.path(), gone);
    if (!gone && target.string().starts_with("pipe:")) ++count;
  }
  return count;
}

// As at shutdown.
TEST(ExecPluginTest, ADestroyedPluginDoesNotWaitForAProgramThatClosedItsOutput) {
  const test::TempFolder folder;
  const base::RealClock clock;
  base::EventLoop loop(clock);
  auto plugin = MakeExecPlugin(
      Program("exec >&-; : > " + folder.Path("closed") + "; exec sleep 20"), {}, loop);
  Duration took{};
  loop.Post([&] {
    const size_t before = OpenPipes();
    plugin->Run("", [](Result<ExecCredential>) {});
    // Closed by the program, and seen to be by the plugin.
    while (access(folder.Path("closed").c_str(), F_OK) != 0) std::this_thread::yield();
    while (OpenPipes() > before) std::this_thread::yield();
    const Time began = clock.Now();
    plugin.reset();
    took = clock.Now() - began;
    loop.Stop();
  });
  loop.Run();
  RecordProperty("shutdown_ms", std::to_string(took / milliseconds(1)));
  EXPECT_LT(took, seconds(10));
}

}  // namespace
}  // namespace berth::client
