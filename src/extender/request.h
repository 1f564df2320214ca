// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "berth/result.h"
#include "berth/time.h"
#include "src/base/mutex.h"
#include "src/extender/http_client.h"
#include "src/framework/extender.h"
#include "src/metrics/registry.h"

namespace berth::extender {

// One call of a verb. Whoever asked either waits for it or is told. It counts as failed after the
// timeout, whatever becomes of the connection.
//
// Thread safety: any thread.
class Request final : public framework::ExtenderCall {
 public:
  enum class Outcome { kSuccess, kRefused, kBadAnswer, kBadStatus, kTimeout, kFailed };
  using OnDone = std::function<void(Request&)>;

  Request(std::string extender, std::string verb, std::string url, Duration timeout,
          const Clock& clock, metrics::Registry& registry, OnDone on_done);

  // Ends it as the timeout does.
  void Cancel() override;

  // The body of the answer, read by `read`; blocks until it is there, or until the timeout. Errors,
  // which have been counted: no answer, a status other than 200, an answer that cannot be read.
  // Call it once.
  template <typename T>
  Result<T> Wait(Result<T> (*read)(std::string_view)) {
    AwaitAnswer();
    const Result<std::string> body = TakeBody();
    if (!body) return Fail(body.error());
    Result<T> value = read(*body);
    if (!value) return BadAnswer(value.error());
    return value;
  }
  // Counts a call that Wait() found no fault with.
  void Count(Outcome outcome);
  // Whether a call that failed may have been heeded all the same.
  bool unknown_outcome() const { return unknown_outcome_; }

  // For whoever sends it: the answer, or why there is none. The first call counts.
  void Finish(Result<HttpAnswer> answer);
  void set_call(std::shared_ptr<HttpCall> call);

 private:
  void AwaitAnswer();
  void Tell();
  Result<std::string> TakeBody();
  tl::unexpected<Error> BadAnswer(const Error& error);

  const std::string extender_;
  const std::string verb_;
  const std::string url_;
  const Duration timeout_;
  const Clock& clock_;
  metrics::Registry& registry_;
  const OnDone on_done_;
  const Time started_;
  bool unknown_outcome_ = false;

  base::Mutex mutex_;
  base::CondVar finished_;
  bool late_ BERTH_GUARDED_BY(mutex_) = false;
  std::optional<Result<HttpAnswer>> answer_ BERTH_GUARDED_BY(mutex_);
  std::shared_ptr<HttpCall> call_ BERTH_GUARDED_BY(mutex_);
};

// The calls of one extender.
//
// Thread safety: any thread. Destroyed, it cancels those under way and waits until they have ended.
class Requests {
 public:
  // `name` is what the extender is counted under, `base_url` what verbs are added to.
  Requests(std::string name, std::string base_url, Duration timeout,
           std::unique_ptr<HttpClient> client, const Clock& clock, metrics::Registry& registry);
  ~Requests();
  Requests(const Requests&) = delete;
  Requests& operator=(const Requests&) = delete;

  // `on_done`, if there is one, is called once, on whatever thread, also inside this call.
  std::shared_ptr<Request> Post(const std::string& verb, std::string body,
                                Request::OnDone on_done = nullptr);

 private:
  class UnderWay;

  const std::string name_;
  const std::string base_url_;
  const Duration timeout_;
  const std::unique_ptr<HttpClient> client_;
  const Clock& clock_;
  metrics::Registry& registry_;
  const std::shared_ptr<UnderWay> under_way_;
};

}  // namespace berth::extender
