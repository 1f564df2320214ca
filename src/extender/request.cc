// SPDX-License-Identifier: Apache-2.0
#include "src/extender/request.h"

#include <map>
#include <vector>

#include "berth/config_value.h"
#include "berth/field_errors.h"

namespace berth::extender {
namespace {

using metrics::Metric;

constexpr int kOk = 200;
constexpr int kServerError = 500;

std::string_view NameOf(Request::Outcome outcome) {
  switch (outcome) {
    case Request::Outcome::kSuccess:
      return "success";
    case Request::Outcome::kRefused:
      return "refused";
    case Request::Outcome::kBadAnswer:
      return "bad_answer";
    case Request::Outcome::kBadStatus:
      return "bad_status";
    case Request::Outcome::kTimeout:
      return "timeout";
    case Request::Outcome::kFailed:
      break;
  }
  return "failed";
}

double Seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

}  // namespace

Request::Request(std::string extender, std::string verb, std::string url, Duration timeout,
                 const Clock& clock, metrics::Registry& registry, OnDone on_done)
    : extender_(std::move(extender)),
      verb_(std::move(verb)),
      url_(std::move(url)),
      timeout_(timeout),
      clock_(clock),
      registry_(registry),
      on_done_(std::move(on_done)),
      started_(clock.Now()) {}

void Request::set_call(std::shared_ptr<HttpCall> call) {
  base::MutexLock lock(mutex_);
  call_ = std::move(call);
}

void Request::Cancel() {
  std::shared_ptr<HttpCall> call;
  bool first = false;
  {
    base::MutexLock lock(mutex_);
    call = call_;
    first = !answer_.has_value();
    if (first) {
      late_ = true;
      answer_ = Fail("context deadline exceeded: no answer within " + FormatGoDuration(timeout_));
    }
  }
  if (first) Tell();
  // Nobody waits for what the library still has to say.
  if (call != nullptr) call->Cancel();
}

void Request::Finish(Result<HttpAnswer> answer) {
  {
    base::MutexLock lock(mutex_);
    if (answer_) return;
    answer_ = std::move(answer);
  }
  Tell();
}

void Request::Tell() {
  finished_.NotifyAll();
  if (on_done_) on_done_(*this);
}

void Request::AwaitAnswer() {
  {
    base::MutexLock lock(mutex_);
    while (!answer_) {
      const Duration left = started_ + timeout_ - clock_.Now();
      if (left <= Duration::zero()) break;
      finished_.WaitFor(mutex_, left);
    }
    if (answer_) return;
  }
  Cancel();
}

Result<std::string> Request::TakeBody() {
  base::MutexLock lock(mutex_);
  Result<HttpAnswer>& answer = *answer_;
  if (!answer) {
    unknown_outcome_ = true;
    Count(late_ ? Outcome::kTimeout : Outcome::kFailed);
    return Fail("Post " + Quoted(url_) + ": " + answer.error().message);
  }
  if (answer->code != kOk) {
    unknown_outcome_ = answer->code >= kServerError;
    Count(Outcome::kBadStatus);
    return Fail("failed " + verb_ + " with extender at URL " + url_ + ", code " +
                std::to_string(answer->code));
  }
  return std::move(answer->body);
}

tl::unexpected<Error> Request::BadAnswer(const Error& error) {
  unknown_outcome_ = true;
  Count(Outcome::kBadAnswer);
  return Fail("Post " + Quoted(url_) + ": the answer cannot be read: " + error.message);
}

void Request::Count(Outcome outcome) {
  registry_.Add(registry_.Intern(Metric::kExtenderRequests, {extender_, verb_, NameOf(outcome)}));
  registry_.Observe(registry_.Intern(Metric::kExtenderRequestDuration, {extender_, verb_}),
                    Seconds(clock_.Now() - started_));
}

// What the library has not yet said its last word on.
class Requests::UnderWay {
 public:
  uint64_t Add(const std::shared_ptr<Request>& request) {
    base::MutexLock lock(mutex_);
    requests_.emplace(++last_, request);
    return last_;
  }
  void Remove(uint64_t id) {
    base::MutexLock lock(mutex_);
    requests_.erase(id);
    if (requests_.empty()) empty_.NotifyAll();
  }
  void CancelAll() {
    std::vector<std::shared_ptr<Request>> requests;
    {
      base::MutexLock lock(mutex_);
      for (const auto& [id, request] : requests_) requests.push_back(request);
    }
    for (const auto& request : requests) request->Cancel();
    base::MutexLock lock(mutex_);
    while (!requests_.empty()) empty_.Wait(mutex_);
  }

 private:
  base::Mutex mutex_;
  base::CondVar empty_;
  uint64_t last_ BERTH_GUARDED_BY(mutex_) = 0;
  std::map<uint64_t, std::shared_ptr<Request>> requests_ BERTH_GUARDED_BY(mutex_);
};

Requests::Requests(std::string name, std::string base_url, Duration timeout,
                   std::unique_ptr<HttpClient> client, const Clock& clock,
                   metrics::Registry& registry)
    : name_(std::move(name)),
      base_url_(std::move(base_url)),
      timeout_(timeout),
      client_(std::move(client)),
      clock_(clock),
      registry_(registry),
      under_way_(std::make_shared<UnderWay>()) {}

Requests::~Requests() { under_way_->CancelAll(); }

std::shared_ptr<Request> Requests::Post(const std::string& verb, std::string body,
                                        Request::OnDone on_done) {
  const std::string url = base_url_ + "/" + verb;
  auto request =
      std::make_shared<Request>(name_, verb, url, timeout_, clock_, registry_, std::move(on_done));
  const uint64_t id = under_way_->Add(request);
  request->set_call(client_->Post(url, std::move(body),
                                  [under_way = under_way_, id, request](Result<HttpAnswer> answer) {
                                    request->Finish(std::move(answer));
                                    under_way->Remove(id);
                                  }));
  return request;
}

}  // namespace berth::extender
