// SPDX-License-Identifier: Apache-2.0
#include "src/client/credentials.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "tests/support/fake_clock.h"
#include "tests/unit/client/temp_folder.h"

namespace berth::client {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using test::FakeClock;
using test::TempFolder;
using testing::HasSubstr;

// Answers when the test says so.
class FakeExecPlugin final : public ExecPlugin {
 public:
  void Run(const std::string& ca_pem, OnCredential done) override {
    ++runs;
    ca = ca_pem;
    pending = std::move(done);
  }
  void Finish(Result<ExecCredential> result) {
    auto done = std::move(pending);
    pending = nullptr;
    done(std::move(result));
  }

  int runs = 0;
  std::string ca;
  OnCredential pending;
};

IdentityPtr Now(Credentials& credentials) {
  IdentityPtr out;
  credentials.Get([&](Result<IdentityPtr> identity) {
    if (identity) out = *identity;
  });
  return out;
}

std::string Failure(Credentials& credentials) {
  std::string out;
  credentials.Get(
      [&](Result<IdentityPtr> identity) { out = identity ? "none" : identity.error().message; });
  return out;
}

ServerConfig TokenFile(const std::string& path) {
  ServerConfig config;
  config.user.token_file = path;
  return config;
}

TEST(CredentialsTest, EachKindBecomesItsHeader) {
  const struct {
    const char* name;
    const char* token;
    const char* username;
    const char* password;
    const char* want;
  } cases[] = {
      {"none", "", "", "", ""},
      {"token", "abc", "", "", "Bearer abc"},
      {"basic", "", "user", "pass", "Basic dXNlcjpwYXNz"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    ServerConfig config;
    config.user.token = c.token;
    config.user.username = c.username;
    config.user.password = c.password;
    config.cluster.ca_data = "CA";
    FakeClock clock;
    Credentials credentials(config, clock, nullptr);
    ASSERT_NE(Now(credentials), nullptr);
    EXPECT_EQ(Now(credentials)->authorization, c.want);
    EXPECT_EQ(Now(credentials)->ca_pem, "CA");
    EXPECT_FALSE(credentials.Reject(Now(credentials)));
  }
}

TEST(CredentialsTest, ARotatedTokenFileIsReadAgainAfterAMinute) {
  const TempFolder folder;
  FakeClock clock;
  Credentials credentials(TokenFile(folder.Write("token", " one\n")), clock, nullptr);
  const IdentityPtr first = Now(credentials);
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(first->authorization, "Bearer one");
  folder.Write("token", "two");
  clock.Advance(seconds(59));
  EXPECT_EQ(Now(credentials), first);
  clock.Advance(seconds(1));
  EXPECT_EQ(Now(credentials)->authorization, "Bearer two");
}

TEST(CredentialsTest, ARejectedTokenFileIsReadAgainAtOnce) {
  const TempFolder folder;
  FakeClock clock;
  Credentials credentials(TokenFile(folder.Write("token", "one")), clock, nullptr);
  const IdentityPtr first = Now(credentials);
  folder.Write("token", "two");
  EXPECT_TRUE(credentials.Reject(first));
  EXPECT_EQ(Now(credentials)->authorization, "Bearer two");
}

TEST(CredentialsTest, ATokenFileThatIsGoneLeavesTheOldToken) {
  const TempFolder folder;
  FakeClock clock;
  Credentials credentials(TokenFile(folder.Write("token", "one")), clock, nullptr);
  ASSERT_NE(Now(credentials), nullptr);
  folder.Remove("token");
  clock.Advance(minutes(5));
  EXPECT_EQ(Now(credentials)->authorization, "Bearer one");
}

TEST(CredentialsTest, ATokenFileThatNeverWasIsAnErrorUnlessThereIsAToken) {
  const TempFolder folder;
  FakeClock clock;
  ServerConfig config = TokenFile(folder.Path("token"));
  Credentials alone(config, clock, nullptr);
  EXPECT_THAT(Failure(alone), HasSubstr("getting credentials: open " + folder.Path("token")));
  config.user.token = "fixed";
  Credentials both(config, clock, nullptr);
  ASSERT_NE(Now(both), nullptr);
  EXPECT_EQ(Now(both)->authorization, "Bearer fixed");
  folder.Write("token", "  \n");
  Credentials empty(TokenFile(folder.Path("token")), clock, nullptr);
  EXPECT_THAT(Failure(empty), HasSubstr("token file is empty"));
}

TEST(CredentialsTest, RotatedCertificateFilesMakeAnotherTlsIdentity) {
  const TempFolder folder;
  FakeClock clock;
  ServerConfig config;
  config.user.client_certificate_file = folder.Write("crt", "C1");
  config.user.client_key_file = folder.Write("key", "K1");
  Credentials credentials(config, clock, nullptr);
  const IdentityPtr first = Now(credentials);
  clock.Advance(minutes(1));
  EXPECT_EQ(Now(credentials), first);
  folder.Write("crt", "C2");
  folder.Write("key", "K2");
  clock.Advance(minutes(1));
  const IdentityPtr second = Now(credentials);
  EXPECT_FALSE(first->SameTls(*second));
  EXPECT_EQ(second->client_certificate_pem + second->client_key_pem, "C2K2");
}

struct WithPlugin {
  explicit WithPlugin(ServerConfig config = {}) {
    config.cluster.ca_data = "CA";
    auto made = std::make_unique<FakeExecPlugin>();
    plugin = made.get();
    credentials = std::make_unique<Credentials>(config, clock, std::move(made));
  }
  FakeClock clock;
  FakeExecPlugin* plugin;
  std::unique_ptr<Credentials> credentials;
};

TEST(CredentialsTest, OneRunOfThePluginServesAllWhoWait) {
  WithPlugin t;
  int answers = 0;
  for (int i = 0; i < 3; ++i) {
    t.credentials->Get([&](Result<IdentityPtr> identity) {
      ASSERT_TRUE(identity);
      EXPECT_EQ((*identity)->authorization, "Bearer tok");
      ++answers;
    });
  }
  EXPECT_EQ(t.plugin->runs, 1);
  EXPECT_EQ(t.plugin->ca, "CA");
  EXPECT_EQ(answers, 0);
  t.plugin->Finish(
      ExecCredential{.token = "tok", .client_certificate = "", .client_key = "", .expires = {}});
  EXPECT_EQ(answers, 3);
  t.clock.Advance(std::chrono::hours(1000));
  EXPECT_NE(Now(*t.credentials), nullptr);
  EXPECT_EQ(t.plugin->runs, 1) << "without an expiry it is good for ever";
}

TEST(CredentialsTest, ThePluginIsRunAgainWhenItsCredentialHasExpired) {
  WithPlugin t;
  Now(*t.credentials);
  t.plugin->Finish(ExecCredential{.token = "one",
                                  .client_certificate = "C",
                                  .client_key = "K",
                                  .expires = t.clock.Now() + minutes(10)});
  const IdentityPtr first = Now(*t.credentials);
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(first->client_certificate_pem, "C");
  t.clock.Advance(minutes(10));
  EXPECT_EQ(Now(*t.credentials), first);
  t.clock.Advance(Duration(1));
  EXPECT_EQ(Now(*t.credentials), nullptr);
  EXPECT_EQ(t.plugin->runs, 2);
  t.plugin->Finish(
      ExecCredential{.token = "two", .client_certificate = "", .client_key = "", .expires = {}});
  EXPECT_EQ(Now(*t.credentials)->authorization, "Bearer two");
  EXPECT_EQ(Now(*t.credentials)->client_certificate_pem, "");
}

TEST(CredentialsTest, ARejectedCredentialOfThePluginIsFetchedAnewButOnlyOnce) {
  WithPlugin t;
  Now(*t.credentials);
  t.plugin->Finish(
      ExecCredential{.token = "one", .client_certificate = "", .client_key = "", .expires = {}});
  const IdentityPtr first = Now(*t.credentials);
  EXPECT_TRUE(t.credentials->Reject(first));
  Now(*t.credentials);
  EXPECT_EQ(t.plugin->runs, 2);
  t.plugin->Finish(
      ExecCredential{.token = "two", .client_certificate = "", .client_key = "", .expires = {}});
  EXPECT_EQ(Now(*t.credentials)->authorization, "Bearer two");
  // A late 401 to the old token changes nothing.
  EXPECT_TRUE(t.credentials->Reject(first));
  EXPECT_NE(Now(*t.credentials), nullptr);
  EXPECT_EQ(t.plugin->runs, 2);
}

TEST(CredentialsTest, AFailedPluginIsLeftAloneForAGrowingWhile) {
  WithPlugin t;
  Duration wait = seconds(1);
  for (int failure = 0; failure < 8; ++failure) {
    SCOPED_TRACE(failure);
    std::string error;
    t.credentials->Get([&](Result<IdentityPtr> identity) { error = identity.error().message; });
    ASSERT_EQ(t.plugin->runs, failure + 1);
    t.plugin->Finish(Fail("exit code 1"));
    EXPECT_EQ(error, "getting credentials: exit code 1");
    t.clock.Advance(wait - Duration(1));
    EXPECT_EQ(Failure(*t.credentials), error);
    EXPECT_EQ(t.plugin->runs, failure + 1);
    t.clock.Advance(Duration(1));
    wait = std::min<Duration>(wait * 2, seconds(30));
  }
}

TEST(CredentialsTest, OtherCredentialsGoBeforeThePlugin) {
  ServerConfig config;
  config.user.token = "fixed";
  config.cluster.ca_data = "CA";
  FakeClock clock;
  auto plugin = std::make_unique<FakeExecPlugin>();
  Credentials credentials(config, clock, std::move(plugin));
  ASSERT_NE(Now(credentials), nullptr);
  EXPECT_EQ(Now(credentials)->authorization, "Bearer fixed");
}

}  // namespace
}  // namespace berth::client
