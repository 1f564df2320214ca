// SPDX-License-Identifier: Apache-2.0
#include "src/client/retry.h"

#include <algorithm>

#include "berth/config_value.h"
#include "src/base/logging.h"

namespace berth::client {
namespace {

bool IsGetOrList(Verb verb) { return verb == Verb::kGet || verb == Verb::kList; }

bool IsRetriable(const Request& request, const ApiError& error) {
  if (error.reason == kReasonCancelled || error.reason == kReasonTooLarge) return false;
  if (error.code == 429 || error.never_sent) return true;
  if (error.code >= 500 && error.retry_after && request.repeats_5xx) return true;
  if (!IsGetOrList(request.verb)) return false;
  if (error.code == 0) return error.reason != kReasonTimeout;
  if (error.code >= 500 && error.retry_after) return true;
  return error.code == 502 || error.code == 503 || error.code == 504;
}

Duration Scale(Duration duration, double factor) {
  return Duration(static_cast<int64_t>(static_cast<double>(duration.count()) * factor));
}

std::string Seconds(Duration duration) {
  return FormatGoDuration(std::chrono::round<std::chrono::milliseconds>(duration));
}

}  // namespace

Duration Stretched(Duration wait, Random& random) { return Scale(wait, 1 + 0.1 * random.Unit()); }

Duration AskedWait(Duration retry_after, Random& random) {
  return Stretched(std::min(retry_after, kMostRetryAfter), random);
}

std::optional<Duration> RetryDelay(const Request& request, const ApiError& error, int retries,
                                   Random& random) {
  if (retries >= request.max_retries || !IsRetriable(request, error)) return std::nullopt;
  if (error.retry_after) return AskedWait(*error.retry_after, random);
  return base::Backoff::Wait(kRetryBackoff, retries, random);
}

Duration Availability::OnUnreachable(Time now, const std::string& host, const std::string& why,
                                     Random& random) {
  if (since_ && now < step_ends_) return step_ends_ - now;
  if (!since_) {
    since_ = now;
    steps_ = 0;
  }
  const Duration wait = base::Backoff::Wait(kRetryBackoff, steps_++, random);
  step_ends_ = now + wait;
  base::LogWarning("API server cannot be reached", {{"server", host},
                                                    {"err", why},
                                                    {"for", Seconds(now - *since_)},
                                                    {"retryIn", Seconds(wait)}});
  return wait;
}

void Availability::OnAnswer(Time now, const std::string& host) {
  if (!since_) return;
  base::LogInfo("API server can be reached again",
                {{"server", host}, {"after", Seconds(now - *since_)}});
  since_.reset();
  steps_ = 0;
}

}  // namespace berth::client
