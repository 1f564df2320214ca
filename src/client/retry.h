// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "berth/random.h"
#include "berth/time.h"
#include "src/base/backoff.h"
#include "src/client/api_client.h"

namespace berth::client {

// 100 ms doubled with each failure, at most 10 s, times a random factor in [0.5, 1.5).
inline constexpr base::Backoff::Shape kRetryBackoff = {.first = std::chrono::milliseconds(50),
                                                       .factor = 2,
                                                       .cap = std::chrono::seconds(5),
                                                       .jitter = 2};

// `wait` and up to a tenth more, at random, so that those who got the same answer do not all come
// back at once.
Duration Stretched(Duration wait, Random& random);

// What a server may ask for by Retry-After; more than this it cannot make us wait.
inline constexpr Duration kMostRetryAfter = std::chrono::minutes(1);
// A wait that a server asked for: never shortened but to kMostRetryAfter, and stretched.
Duration AskedWait(Duration retry_after, Random& random);

// How long to wait before trying the request again; nullopt: it must not be, or must no longer be,
// tried again. `retries` is how often it was retried before.
//
//   429, any verb                        Retry-After (AskedWait), else backoff
//   never sent (refused, unresolved)     backoff, any verb
//   5xx with Retry-After                 reads, and what repeats_5xx; Retry-After
//   502, 503, 504                        reads only; backoff
//   connection cut                       reads only; backoff
//   cancelled, timed out, too large,
//   anything else                        no
std::optional<Duration> RetryDelay(const Request& request, const ApiError& error, int retries,
                                   Random& random);

// What is known of the server's presence, so that its absence costs one log line and one attempt
// for each backoff step instead of one for each request.
//
// Thread safety: one owner.
class Availability {
 public:
  // No connection could be made. Returns how long requests should wait before they try again:
  // until the running step is over. The first failure after its end begins the next step and logs.
  Duration OnUnreachable(Time now, const std::string& host, const std::string& why, Random& random);
  // The server answered something. Logs if it had been away.
  void OnAnswer(Time now, const std::string& host);

 private:
  std::optional<Time> since_;
  Time step_ends_{};
  int steps_ = 0;
};

}  // namespace berth::client
