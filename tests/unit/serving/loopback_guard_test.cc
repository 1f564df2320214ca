// SPDX-License-Identifier: Apache-2.0
#include "src/serving/loopback_guard.h"

#include <gmock/gmock.h>

#include <set>

namespace berth::serving {
namespace {

const std::string kToken = "0123456789abcdef0123456789abcdef";

// 200, or the code of the refusal.
int Ask(const Fields& headers, bool needs_token = true, int port = 8080) {
  const LoopbackGuard guard(port, kToken);
  const auto refused =
      guard.Refuse({.method = "GET", .path = "/", .headers = headers}, needs_token);
  return refused ? refused->code : 200;
}

TEST(LoopbackGuardTest, TheHostMustBeThisServer) {
  for (const char* host : {"127.0.0.1:8080", "localhost:8080", "LOCALHOST:8080"}) {
    EXPECT_EQ(Ask({{"host", host}}, false), 200) << host;
    EXPECT_EQ(Ask({{"host", host}, {"x-berth-token", kToken}}), 200) << host;
  }
  // A name that some site has made resolve to 127.0.0.1, another server's port, none at all.
  for (const char* host : {"rebound.example:8080", "127.0.0.1:8081", "127.0.0.1", "localhost", "",
                           "127.0.0.1:8080.rebound.example", "127.0.0.1:80800", "[::1]:8080"}) {
    EXPECT_EQ(Ask({{"host", host}}, false), 403) << host;
    EXPECT_EQ(Ask({{"host", host}, {"x-berth-token", kToken}}), 403) << host;
  }
  EXPECT_EQ(Ask({{"x-berth-token", kToken}}), 403);
  // Browsers leave out the port that http has anyway.
  EXPECT_EQ(Ask({{"host", "localhost"}}, false, 80), 200);
}

TEST(LoopbackGuardTest, TheTokenMustBeTheWholeToken) {
  const auto with = [](const std::string& token) {
    return Ask({{"host", "127.0.0.1:8080"}, {"x-berth-token", token}});
  };
  EXPECT_EQ(with(kToken), 200);
  EXPECT_EQ(with(""), 401);
  EXPECT_EQ(with(kToken.substr(1)), 401);
  EXPECT_EQ(with(kToken + "0"), 401);
  for (size_t i = 0; i < kToken.size(); ++i) {
    std::string other = kToken;
    other[i] = other[i] == 'x' ? 'y' : 'x';
    EXPECT_EQ(with(other), 401);
  }
  EXPECT_EQ(Ask({{"host", "127.0.0.1:8080"}}), 401);
}

TEST(LoopbackGuardTest, OtherSitesAreRefusedEvenWithTheToken) {
  const auto with = [](const char* header, const char* value) {
    return Ask({{"host", "127.0.0.1:8080"}, {"x-berth-token", kToken}, {header, value}});
  };
  EXPECT_EQ(with("origin", "http://127.0.0.1:8080"), 200);
  EXPECT_EQ(with("origin", "http://localhost:8080"), 403);
  EXPECT_EQ(with("origin", "https://site.example"), 403);
  EXPECT_EQ(with("origin", "null"), 403);
  EXPECT_EQ(with("sec-fetch-site", "same-origin"), 200);
  // Another port of this machine is another's page.
  EXPECT_EQ(with("sec-fetch-site", "same-site"), 403);
  EXPECT_EQ(with("sec-fetch-site", "cross-site"), 403);
}

TEST(LoopbackGuardTest, TokensHave128BitsAndDiffer) {
  std::set<std::string> tokens;
  for (int i = 0; i < 100; ++i) {
    const auto token = MakeToken();
    ASSERT_TRUE(token);
    EXPECT_THAT(*token, testing::MatchesRegex("[0-9a-f]+"));
    EXPECT_EQ(token->size(), 32u);
    tokens.insert(*token);
  }
  EXPECT_EQ(tokens.size(), 100u);
}

}  // namespace
}  // namespace berth::serving
