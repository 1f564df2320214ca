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
#include "src/binding/bind_attempt.h"
#include "src/extender/extender.h"
#include "src/extender/http_client.h"
#include "src/metrics/registry.h"

namespace berth::extender {

// One call of a verb. The caller either waits for it or is called back. It counts as failed after
// the timeout, whatever becomes of the connection.
//
// Thread safety: any thread.
class Request final : public client::Call {
 public:
  enum class Outcome { kSuccess, kRefused, kBadAnswer, kBadStatus, kTimeout, kFailed };
  using Kind = binding::RequestEnd::Kind;
  // Takes the body of the answer; called once at most, on the thread that it came on, also when
  // the timeout passes meanwhile: what it fills in may be looked at only once Wait() said success.
  using Read = std::function<Result<void>(std::string_view body)>;
  using OnDone = std::function<void(Request&)>;

  struct Options {
    std::string extender;  // what it is counted under, with the verb
    std::string verb;
    std::string url;
    Duration timeout;
    Read read;
    OnDone on_done = nullptr;  // called once the call has ended
  };
  Request(Options options, const Clock& clock, metrics::Registry& registry);

  // Ends it as the timeout does.
  void Cancel() override;

  // Blocks until the answer has been read, or until the timeout. Errors, which have been counted:
  // no answer, a status other than 200, an answer that cannot be read. Call it once.
  Result<void> Wait();
  // Counts a call that Wait() found no fault with.
  void Count(Outcome outcome);
  // What a call that failed may have done all the same.
  Kind kind() const;

  // For the sender: the answer, or why there is none. The first call counts.
  void Finish(const tl::expected<HttpAnswer, HttpFailure>& answer);
  void set_call(std::shared_ptr<HttpCall> call);

 private:
  struct End {
    Outcome outcome = Outcome::kSuccess;
    Kind kind = Kind::kBound;
    std::string error;
  };

  // The error of a request that failed on its way.
  std::string Lost(const std::string& why) const;
  End EndOf(const tl::expected<HttpAnswer, HttpFailure>& answer) const;
  // The first end counts.
  void EndWith(End end);
  void AwaitEnd();

  const Options options_;
  const Clock& clock_;
  metrics::Registry& registry_;
  const Time started_;

  mutable base::Mutex mutex_;
  base::CondVar ended_;
  std::optional<End> end_ BERTH_GUARDED_BY(mutex_);
  std::shared_ptr<HttpCall> call_ BERTH_GUARDED_BY(mutex_);
};

// The URL with "***" in place of a password, as errors and metrics name it.
std::string WithoutPassword(const std::string& url);

// What is to be asked.
struct Question {
  std::string verb;
  std::string body;
  size_t max_answer_bytes = 0;
  // Not sent again where it is not known whether it was heeded.
  bool once = false;
  Request::Read read;
  Request::OnDone on_done = nullptr;  // on whatever thread, also inside Requests::Post()
};

// Has `read` fill `*out`, which the reader keeps.
template <typename T>
Request::Read ReadInto(std::shared_ptr<T> out, Result<T> (*read)(std::string_view)) {
  return [out = std::move(out), read](std::string_view body) -> Result<void> {
    Result<T> value = read(body);
    if (!value) return Fail(std::move(value.error()));
    *out = *std::move(value);
    return {};
  };
}

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

  std::shared_ptr<Request> Post(Question question);

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
