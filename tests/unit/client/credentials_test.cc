// SPDX-License-Identifier: Apache-2.0
#include "src/client/credentials.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/base/text.h"
#include "src/base/virtual_time.h"
#include "tests/support/test_certificates.h"
#include "tests/unit/client/temp_folder.h"

namespace berth::client {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
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

// What is told at once; an answer may come later, too.
IdentityPtr Now(Credentials& credentials) {
  const auto out = std::make_shared<IdentityPtr>();
  credentials.Get([out](Result<IdentityPtr> identity) {
    if (identity) *out = *identity;
  });
  return *out;
}

std::string Failure(Credentials& credentials) {
  const auto out = std::make_shared<std::string>();
  credentials.Get(
      [out](Result<IdentityPtr> identity) { *out = identity ? "none" : identity.error().message; });
  return *out;
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
    base::VirtualClock clock;
    Credentials credentials(config, clock, nullptr);
    ASSERT_NE(Now(credentials), nullptr);
    EXPECT_EQ(Now(credentials)->authorization, c.want);
    EXPECT_EQ(Now(credentials)->ca_pem, "CA");
    EXPECT_FALSE(credentials.Reject(Now(credentials)));
  }
}

TEST(CredentialsTest, ARotatedTokenFileIsReadAgainAfterAMinute) {
  const TempFolder folder;
  base::VirtualClock clock;
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
  base::VirtualClock clock;
  Credentials credentials(TokenFile(folder.Write("token", "one")), clock, nullptr);
  const IdentityPtr first = Now(credentials);
  folder.Write("token", "two");
  EXPECT_TRUE(credentials.Reject(first));
  EXPECT_EQ(Now(credentials)->authorization, "Bearer two");
}

TEST(CredentialsTest, ATokenFileThatIsGoneLeavesTheOldToken) {
  const TempFolder folder;
  base::VirtualClock clock;
  Credentials credentials(TokenFile(folder.Write("token", "one")), clock, nullptr);
  ASSERT_NE(Now(credentials), nullptr);
  folder.Remove("token");
  clock.Advance(minutes(5));
  EXPECT_EQ(Now(credentials)->authorization, "Bearer one");
}

TEST(CredentialsTest, ATokenFileThatNeverWasIsAnErrorUnlessThereIsAToken) {
  const TempFolder folder;
  base::VirtualClock clock;
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
  base::VirtualClock clock;
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

struct Rotated {
  Rotated() {
    config.cluster.ca_file = folder.Write("ca", authority.certificate_pem());
    WritePair(authority.Issue("old", {}));
    config.user.client_certificate_file = folder.Path("crt");
    config.user.client_key_file = folder.Path("key");
    config.user.token_file = folder.Write("token", kToken);
  }
  void WritePair(const test::CertifiedKey& pair) {
    folder.Write("crt", pair.certificate_pem);
    folder.Write("key", pair.key_pem);
  }

  static constexpr char kToken[] = "e30.e30.c2lnbmF0dXJl";
  const test::TestAuthority authority;
  const TempFolder folder;
  base::VirtualClock clock;
  ServerConfig config;
};

TEST(CredentialsTest, WhatIsEmptyOrHalfWrittenLeavesTheLastGoodContent) {
  Rotated t;
  Credentials credentials(t.config, t.clock, nullptr);
  const IdentityPtr first = Now(credentials);
  ASSERT_NE(first, nullptr);
  const struct {
    const char* file;
    std::string good;
  } files[] = {
      {"ca", first->ca_pem + test::TestAuthority("next").certificate_pem()},
      {"crt", first->client_certificate_pem},
      {"key", first->client_key_pem},
      {"token", Rotated::kToken},
  };
  for (const auto& file : files) {
    SCOPED_TRACE(file.file);
    const size_t whole = file.good.size();
    for (size_t size = 0; size < whole; size += size + 60 < whole ? 13 : 1) {
      // The whole but for blanks at its end; or, of a bundle, its first certificate alone.
      if (base::Trim(file.good.substr(size)).empty() ||
          file.good.substr(0, size) == first->ca_pem ||
          file.good.substr(0, size) + "\n" == first->ca_pem) {
        continue;
      }
      t.folder.Write(file.file, file.good.substr(0, size));
      t.clock.Advance(minutes(1));
      ASSERT_EQ(Now(credentials), first) << "after " << size << " bytes";
    }
    t.folder.Write(file.file, file.file == files[0].file ? first->ca_pem : file.good);
  }
  t.folder.Write("ca", files[0].good);
  t.clock.Advance(minutes(1));
  EXPECT_EQ(Now(credentials)->ca_pem, files[0].good) << "what is whole is used";
}

TEST(CredentialsTest, ACertificateIsUsedOnceItsKeyIsThere) {
  Rotated t;
  Credentials credentials(t.config, t.clock, nullptr);
  const IdentityPtr first = Now(credentials);
  const test::CertifiedKey next = t.authority.Issue("new", {});
  t.folder.Write("crt", next.certificate_pem);
  t.clock.Advance(minutes(1));
  EXPECT_EQ(Now(credentials), first);
  t.folder.Write("key", next.key_pem);
  t.clock.Advance(minutes(1));
  const IdentityPtr second = Now(credentials);
  EXPECT_EQ(second->client_certificate_pem, next.certificate_pem);
  EXPECT_EQ(second->client_key_pem, next.key_pem);
}

// Else an empty file would mean: the system's authorities, or no certificate.
TEST(CredentialsTest, AnEmptyFileIsAnErrorWhereNothingGoodWasRead) {
  for (const char* file : {"ca", "crt", "key", "token"}) {
    SCOPED_TRACE(file);
    Rotated t;
    Credentials credentials(t.config, t.clock, nullptr);
    t.folder.Write(file, "\n");
    EXPECT_THAT(Failure(credentials), HasSubstr("file is empty: " + t.folder.Path(file)));
  }
}

TEST(CredentialsTest, ATokenMayBecomeShorterWithAnotherKeyAndAnythingOnceItWasRefused) {
  Rotated t;
  Credentials credentials(t.config, t.clock, nullptr);
  Now(credentials);
  t.folder.Write("token", "e31.e30.c2ln");
  t.clock.Advance(minutes(1));
  const IdentityPtr second = Now(credentials);
  EXPECT_EQ(second->authorization, "Bearer e31.e30.c2ln");
  t.folder.Write("token", "opaque");
  t.clock.Advance(minutes(1));
  EXPECT_EQ(Now(credentials), second);
  EXPECT_TRUE(credentials.Reject(second));
  EXPECT_EQ(Now(credentials)->authorization, "Bearer opaque");
}

struct WithPlugin {
  explicit WithPlugin(ServerConfig config = {}) {
    config.cluster.ca_data = "CA";
    auto made = std::make_unique<FakeExecPlugin>();
    plugin = made.get();
    credentials = std::make_unique<Credentials>(config, clock, std::move(made));
  }
  base::VirtualClock clock;
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

TEST(CredentialsTest, ExpiryFollowsTheMachinesClock) {
  WithPlugin t;
  Now(*t.credentials);
  t.plugin->Finish(ExecCredential{.token = "one",
                                  .client_certificate = "",
                                  .client_key = "",
                                  .expires = t.clock.Now() + minutes(10)});
  EXPECT_NE(Now(*t.credentials), nullptr);
  t.clock.Correct(minutes(11));
  EXPECT_EQ(Now(*t.credentials), nullptr);
  EXPECT_EQ(t.plugin->runs, 2);
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
  base::VirtualClock clock;
  auto plugin = std::make_unique<FakeExecPlugin>();
  Credentials credentials(config, clock, std::move(plugin));
  ASSERT_NE(Now(credentials), nullptr);
  EXPECT_EQ(Now(credentials)->authorization, "Bearer fixed");
}

}  // namespace
}  // namespace berth::client
