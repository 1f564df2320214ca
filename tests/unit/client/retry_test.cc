// SPDX-License-Identifier: Apache-2.0
#include "src/client/retry.h"

#include <gtest/gtest.h>

#include "src/base/virtual_time.h"
#include "src/client/exchange.h"

namespace berth::client {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

ApiError Answer(int code, std::optional<Duration> retry_after = std::nullopt) {
  ApiError error;
  error.code = code;
  error.retry_after = retry_after;
  return error;
}

ApiError Transport(std::string_view reason, bool never_sent) {
  ApiError error;
  error.reason = reason;
  error.never_sent = never_sent;
  return error;
}

TEST(RetryTest, OnlyWhatWasSurelyNotDoneIsTriedAgain) {
  const struct {
    const char* name;
    ApiError error;
    bool read;
    bool write;
  } cases[] = {
      {"429", Answer(429), true, true},
      {"429 with Retry-After", Answer(429, seconds(2)), true, true},
      {"refused", Transport(kReasonUnreachable, true), true, true},
      {"no credentials", Transport(kReasonCredentials, true), true, true},
      {"cancelled in line", Transport(kReasonCancelled, true), false, false},
      {"cancelled", Transport(kReasonCancelled, false), false, false},
      {"timed out", Transport(kReasonTimeout, false), false, false},
      {"connection cut", Transport(kReasonConnectionLost, false), true, false},
      {"500", Answer(500), false, false},
      {"500 with Retry-After", Answer(500, seconds(1)), true, false},
      {"503", Answer(503), true, false},
      {"503 with Retry-After", Answer(503, seconds(1)), true, false},
      {"504", Answer(504), true, false},
      {"404", Answer(404), false, false},
      {"409", Answer(409), false, false},
      {"401", Answer(401), false, false},
  };
  Random random(1);
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    for (const Verb verb : {Verb::kGet, Verb::kList}) {
      EXPECT_EQ(RetryDelay({.verb = verb}, c.error, 0, random).has_value(), c.read);
    }
    for (const Verb verb : {Verb::kCreate, Verb::kPatch, Verb::kUpdate, Verb::kDelete}) {
      EXPECT_EQ(RetryDelay({.verb = verb}, c.error, 0, random).has_value(), c.write);
    }
  }
}

TEST(RetryTest, AWriteThatMayBeDoneTwiceIsTriedAgainWhereTheServerAsksForIt) {
  Random random(1);
  for (const Verb verb : {Verb::kCreate, Verb::kPatch, Verb::kUpdate, Verb::kDelete}) {
    const Request request = {.verb = verb, .repeats_5xx = true};
    for (const int code : {500, 503}) {
      const auto wait = RetryDelay(request, Answer(code, seconds(2)), 0, random);
      ASSERT_TRUE(wait);
      EXPECT_GE(*wait, seconds(2));
      EXPECT_FALSE(RetryDelay(request, Answer(code), 0, random));
    }
    EXPECT_FALSE(RetryDelay(request, Transport(kReasonConnectionLost, false), 0, random));
    EXPECT_FALSE(RetryDelay(request, Answer(500, seconds(2)), 10, random));
  }
}

TEST(RetryTest, MaxRetriesBoundsTheRetries) {
  Random random(1);
  EXPECT_TRUE(RetryDelay({.max_retries = 2}, Answer(429), 1, random));
  EXPECT_FALSE(RetryDelay({.max_retries = 2}, Answer(429), 2, random));
  EXPECT_FALSE(RetryDelay({.max_retries = 0}, Answer(429), 0, random));
}

TEST(RetryTest, ServersWaitIsNeverShortened) {
  Random random(7);
  for (int i = 0; i < 100; ++i) {
    const auto wait = RetryDelay({}, Answer(429, seconds(20)), i % 10, random);
    ASSERT_TRUE(wait);
    EXPECT_GE(*wait, seconds(20));
    EXPECT_LE(*wait, seconds(22));
  }
}

TEST(RetryTest, AServersWaitHasABound) {
  Random random(7);
  const auto wait = RetryDelay({}, Answer(429, std::chrono::hours(1000)), 0, random);
  ASSERT_TRUE(wait);
  EXPECT_GE(*wait, kMostRetryAfter);
  EXPECT_LE(*wait, kMostRetryAfter * 11 / 10);
}

TEST(RetryTest, BackoffDoublesUpToTenSecondsWithJitter) {
  Random random(3);
  for (int attempt = 0; attempt < 20; ++attempt) {
    const Duration plain = std::min<Duration>(seconds(10), milliseconds(100) * (1 << attempt));
    Duration least = Duration::max();
    Duration most{};
    for (int i = 0; i < 200; ++i) {
      const Duration wait = base::Backoff::Wait(kRetryBackoff, attempt, random);
      least = std::min(least, wait);
      most = std::max(most, wait);
    }
    EXPECT_GE(least, plain / 2);
    EXPECT_LE(most, plain * 3 / 2);
    EXPECT_LT(least, plain * 7 / 10);
    EXPECT_GT(most, plain * 13 / 10);
  }
}

TEST(AvailabilityTest, ManyFailuresInOneStepAreOneStep) {
  base::VirtualClock clock;
  Random random(1);
  Availability availability;
  const Duration first = availability.OnUnreachable(clock.Now(), "h", "refused", random);
  EXPECT_GE(first, milliseconds(50));
  clock.Advance(milliseconds(10));
  for (int i = 0; i < 50; ++i) {
    EXPECT_EQ(availability.OnUnreachable(clock.Now(), "h", "refused", random),
              first - milliseconds(10));
  }
  Duration wait = first;
  for (int step = 1; step <= 4; ++step) {
    clock.Advance(wait);
    wait = availability.OnUnreachable(clock.Now(), "h", "refused", random);
    EXPECT_GE(wait, milliseconds(50) * (1 << step));
    EXPECT_LE(wait, milliseconds(150) * (1 << step));
  }
  availability.OnAnswer(clock.Now(), "h");
  EXPECT_LE(availability.OnUnreachable(clock.Now(), "h", "refused", random), milliseconds(150));
}

std::string ProtobufStatus() {
  const auto field = [](int number, const std::string& bytes) {
    return std::string{static_cast<char>(number << 3 | 2), static_cast<char>(bytes.size())} + bytes;
  };
  const std::string details = field(1, "web") + std::string{char{5 << 3}, char{7}};
  const std::string status = field(2, "Failure") + field(3, "slow down") +
                             field(4, "TooManyRequests") + field(5, details) +
                             std::string{char{6 << 3}, static_cast<char>(0xad), char{3}};
  const std::string type = field(1, "v1") + field(2, "Status");
  return std::string("k8s\0", 4) + field(1, type) + field(2, status);
}

TEST(StatusBodyTest, ReasonAndMessageComeFromAStatusOfEitherEncoding) {
  const std::string protobuf = ProtobufStatus();
  const struct {
    const char* name;
    int code;
    std::string type;
    std::string body;
    std::string reason;
    std::string message;
    Duration retry_after;
  } cases[] = {
      {"JSON",
       404,
       "application/json",
       R"({"kind":"Status","reason":"NotFound","message":"pods \"web\" not found","code":404})",
       "NotFound",
       "pods \"web\" not found",
       {}},
      {"JSON with retryAfterSeconds", 429, "application/json",
       R"({"kind":"Status","message":"m","details":{"retryAfterSeconds":3}})", "TooManyRequests",
       "m", seconds(3)},
      {"protobuf", 429, "application/vnd.kubernetes.protobuf", protobuf, "TooManyRequests",
       "slow down", seconds(7)},
      {"cut protobuf",
       429,
       "application/vnd.kubernetes.protobuf",
       protobuf.substr(0, protobuf.size() - 20),
       "TooManyRequests",
       "the server answered 429",
       {}},
      {"text", 502, "text/plain", "bad gateway\nmore", "", "bad gateway", {}},
      {"JSON of no kind",
       409,
       "application/json",
       R"({"message":"m"})",
       "Conflict",
       R"({"message":"m"})",
       {}},
      {"another kind",
       409,
       "application/json",
       R"({"kind":"Pod"})",
       "Conflict",
       R"({"kind":"Pod"})",
       {}},
      {"nothing", 403, "", "", "Forbidden", "the server answered 403", {}},
      {"broken JSON", 500, "application/json", "{", "InternalError", "{", {}},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    const ApiError error = ErrorFromResponse(c.code, c.type, c.body, std::nullopt);
    EXPECT_EQ(error.code, c.code);
    EXPECT_EQ(error.reason, c.reason);
    EXPECT_EQ(error.message, c.message);
    EXPECT_EQ(error.retry_after.value_or(Duration{}), c.retry_after);
  }
}

TEST(StatusBodyTest, EveryPrefixOfAProtobufStatusIsReadSafely) {
  const std::string whole = ProtobufStatus();
  for (size_t size = 0; size < whole.size(); ++size) {
    const ApiError error = ErrorFromResponse(500, "application/vnd.kubernetes.protobuf",
                                             whole.substr(0, size), std::nullopt);
    EXPECT_EQ(error.code, 500);
    EXPECT_EQ(error.reason, "InternalError");
  }
}

TEST(StatusBodyTest, AMessageIsCutBetweenCharacters) {
  std::string message;
  for (int i = 0; i < 3000; ++i) message += "\u00e4";
  const ApiError error = ErrorFromResponse(
      500, "application/json", R"({"kind":"Status","message":"x)" + message + "\"}", std::nullopt);
  EXPECT_EQ(error.message, "x" + message.substr(0, 4094));
}

TEST(StatusBodyTest, TheHeaderGoesBeforeTheBody) {
  const ApiError error = ErrorFromResponse(
      429, "", R"({"kind":"Status","details":{"retryAfterSeconds":3}})", seconds(9));
  EXPECT_EQ(error.retry_after, seconds(9));
}

TEST(ApiErrorTest, ToStringSaysWhatHappened) {
  ApiError error = Answer(404);
  error.reason = "NotFound";
  error.message = "pods \"web\" not found";
  EXPECT_EQ(error.ToString(), "pods \"web\" not found (404 NotFound)");
  error = Transport(kReasonUnreachable, true);
  error.message = "connection refused";
  EXPECT_EQ(error.ToString(), "connection refused (Unreachable)");
}

}  // namespace
}  // namespace berth::client
