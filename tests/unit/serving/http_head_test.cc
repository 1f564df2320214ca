// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/serving/connection.h"

namespace berth::serving {
namespace {

using testing::ElementsAre;
using testing::Pair;

TEST(HttpHeadTest, ARequestIsTakenApart) {
  const auto head = ParseRequestHead(
      "GET /debug/explain%20x?pod=ns%2Fweb+1&verbose&&bad=%zz HTTP/1.1\r\n"
      "Host: a\r\nX-Remote-Group:  one \r\nx-remote-group: two\r\nContent-Length: 12\r\n\r\n");
  ASSERT_TRUE(head.has_value());
  EXPECT_EQ(head->request.method, "GET");
  EXPECT_EQ(head->request.path, "/debug/explain x");
  EXPECT_THAT(head->request.query, ElementsAre(Pair("pod", "ns/web 1"), Pair("verbose", "")));
  EXPECT_THAT(head->request.headers,
              ElementsAre(Pair("host", "a"), Pair("x-remote-group", "one"),
                          Pair("x-remote-group", "two"), Pair("content-length", "12")));
  EXPECT_EQ(head->content_length, 12u);
  EXPECT_TRUE(head->keep_alive);
}

TEST(HttpHeadTest, ConnectionsAreKeptUnlessTheClientSaysOtherwise) {
  const struct {
    const char* text;
    bool keep_alive;
  } cases[] = {
      {"GET / HTTP/1.1\r\nHost: a\r\n\r\n", true},
      {"GET / HTTP/1.1\r\nHost: a\r\nConnection: Close\r\n\r\n", false},
      {"GET / HTTP/1.0\r\n\r\n", false},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.text);
    const auto head = ParseRequestHead(c.text);
    ASSERT_TRUE(head.has_value());
    EXPECT_EQ(head->keep_alive, c.keep_alive);
  }
}

TEST(HttpHeadTest, WhatIsNotPlainHttpIsRefused) {
  const struct {
    const char* name;
    const char* text;
    int code;
  } cases[] = {
      {"no line at all", "\r\n\r\n", 400},
      {"no version", "GET /\r\nHost: a\r\n\r\n", 400},
      {"no blank", "GET\r\nHost: a\r\n\r\n", 400},
      {"another version", "GET / HTTP/2.0\r\nHost: a\r\n\r\n", 505},
      {"a method that is no word", "G{T / HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"a whole address", "GET http://a/metrics HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"a star", "OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"a blank in the target", "GET /a b HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"a bad escape", "GET /%4 HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"no host", "GET / HTTP/1.1\r\n\r\n", 400},
      {"two hosts", "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400},
      {"a header without a colon", "GET / HTTP/1.1\r\nHost: a\r\nfoo\r\n\r\n", 400},
      {"a blank before the colon", "GET / HTTP/1.1\r\nHost : a\r\n\r\n", 400},
      {"a folded header", "GET / HTTP/1.1\r\nHost: a\r\n b\r\n\r\n", 400},
      {"a bare line feed", "GET / HTTP/1.1\r\nHost: a\nX: b\r\n\r\n", 400},
      {"a chunked body", "GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n", 501},
      {"a length that is none", "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n", 400},
      {"two lengths", "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
       400},
      {"a length beyond all",
       "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999999999999999\r\n\r\n", 413},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    const auto head = ParseRequestHead(c.text);
    ASSERT_FALSE(head.has_value());
    EXPECT_EQ(head.error(), c.code);
  }
}

TEST(HttpHeadTest, WhatIsTooLongOrTooMuchIsRefused) {
  const auto code = [](const std::string& target, int headers) {
    std::string text = "GET " + target + " HTTP/1.1\r\nHost: a\r\n";
    for (int i = 1; i < headers; ++i) text += "X: y\r\n";
    const auto head = ParseRequestHead(text + "\r\n");
    return head ? 200 : head.error();
  };
  std::string pairs;
  for (int i = 0; i < 100; ++i) pairs += "a&";
  EXPECT_EQ(code("/" + std::string(2047, 'a'), 100), 200);
  EXPECT_EQ(code("/" + std::string(2048, 'a'), 1), 414);
  EXPECT_EQ(code("/", 101), 431);
  EXPECT_EQ(code("/?" + pairs, 1), 200);
  EXPECT_EQ(code("/?" + pairs + "a", 1), 414);
}

TEST(HttpHeadTest, AnAnswerSaysItsLengthAlsoWithoutItsBody) {
  Response response;
  response.body = "ok";
  response.headers.emplace_back("X-Y", "z");
  const std::string head =
      "HTTP/1.1 200 OK\r\nX-Y: z\r\nContent-Type: text/plain; charset=utf-8\r\n"
      "Content-Length: 2\r\n";
  EXPECT_EQ(Serialize(response, Parts::kHeadAndBody, Persistence::kKeepAlive), head + "\r\nok");
  EXPECT_EQ(Serialize(response, Parts::kHead, Persistence::kClose),
            head + "Connection: close\r\n\r\n");
}

}  // namespace
}  // namespace berth::serving
