// SPDX-License-Identifier: Apache-2.0
#include "src/extender/request.h"

#include <algorithm>
#include <map>
#include <vector>

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

// What Go's client says of its timeout.
constexpr std::string_view kNoHead =
    "context deadline exceeded (Client.Timeout exceeded while awaiting headers)";
constexpr std::string_view kNoEnd =
    "context deadline exceeded (Client.Timeout or context cancellation while reading body)";

// What Go's decoder says of a text in which no value begins; "" where one does.
std::string ProblemOfStart(std::string_view body) {
  const size_t start = body.find_first_not_of(" \t\r\n");
  if (start == std::string_view::npos) return "EOF";
  const char first = body[start];
  constexpr std::string_view kStarts = "{[\"-0123456789tfn";
  if (kStarts.find(first) != std::string_view::npos || first < ' ' || first > '~') return "";
  const std::string quoted =
      first == '\'' || first == '\\' ? std::string("\\") + first : std::string(1, first);
  return "invalid character '" + quoted + "' looking for beginning of value";
}

double Seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

}  // namespace

Request::Request(Options options, const Clock& clock, metrics::Registry& registry)
    : options_(std::move(options)), clock_(clock), registry_(registry), started_(clock.Now()) {}

std::string WithoutPassword(const std::string& url) {
  const size_t scheme = url.find("://");
  if (scheme == std::string::npos) return url;
  const size_t user = scheme + 3;
  const size_t end = std::min(url.find_first_of("/?#", user), url.size());
  const size_t at = url.substr(0, end).rfind('@');
  const size_t colon = url.find(':', user);
  if (at == std::string::npos || at < user || colon > at) return url;
  return url.substr(0, colon + 1) + "***" + url.substr(at);
}

void Request::set_call(std::shared_ptr<HttpCall> call) {
  base::MutexLock lock(mutex_);
  call_ = std::move(call);
}

void Request::Cancel() {
  std::shared_ptr<HttpCall> call;
  {
    base::MutexLock lock(mutex_);
    call = call_;
  }
  const bool has_head = call != nullptr && call->has_head();
  EndWith({Outcome::kTimeout, Kind::kLost,
           has_head ? std::string(kNoEnd) : Lost(std::string(kNoHead))});
  // What the library still has to say is of no use.
  if (call != nullptr) call->Cancel();
}

void Request::Finish(const tl::expected<HttpAnswer, HttpFailure>& answer) {
  {
    base::MutexLock lock(mutex_);
    if (end_) return;
  }
  EndWith(EndOf(answer));
}

std::string Request::Lost(const std::string& why) const {
  return "Post " + Quoted(WithoutPassword(options_.url)) + ": " + why;
}

Request::End Request::EndOf(const tl::expected<HttpAnswer, HttpFailure>& answer) const {
  if (!answer) {
    return {Outcome::kFailed, answer.error().never_sent ? Kind::kRefused : Kind::kLost,
            Lost(answer.error().message)};
  }
  if (answer->code != kOk) {
    return {Outcome::kBadStatus, answer->code >= kServerError ? Kind::kFailed : Kind::kRefused,
            "failed " + options_.verb + " with extender at URL " + options_.url + ", code " +
                std::to_string(answer->code)};
  }
  if (std::string problem = ProblemOfStart(answer->body); !problem.empty()) {
    return {Outcome::kBadAnswer, Kind::kFailed, std::move(problem)};
  }
  if (const Result<void> read = options_.read(answer->body); !read) {
    return {Outcome::kBadAnswer, Kind::kFailed,
            Lost("the answer cannot be read: " + read.error().message)};
  }
  return {};
}

void Request::EndWith(End end) {
  {
    base::MutexLock lock(mutex_);
    if (end_) return;
    end_ = std::move(end);
  }
  ended_.NotifyAll();
  if (options_.on_done) options_.on_done(*this);
}

void Request::AwaitEnd() {
  {
    base::MutexLock lock(mutex_);
    while (!end_) {
      const Duration left = started_ + options_.timeout - clock_.Now();
      if (left <= Duration::zero()) break;
      ended_.WaitFor(mutex_, left);
    }
    if (end_) return;
  }
  Cancel();
}

Result<void> Request::Wait() {
  AwaitEnd();
  base::MutexLock lock(mutex_);
  if (end_->outcome == Outcome::kSuccess) return {};
  Count(end_->outcome);
  return Fail(end_->error);
}

Request::Kind Request::kind() const {
  base::MutexLock lock(mutex_);
  return end_ ? end_->kind : Kind::kLost;
}

void Request::Count(Outcome outcome) {
  registry_.Add(registry_.Intern(Metric::kExtenderRequests,
                                 {options_.extender, options_.verb, NameOf(outcome)}));
  registry_.Observe(
      registry_.Intern(Metric::kExtenderRequestDuration, {options_.extender, options_.verb}),
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

std::shared_ptr<Request> Requests::Post(Question question) {
  const std::string url = base_url_ + "/" + question.verb;
  auto request = std::make_shared<Request>(
      Request::Options{name_, std::move(question.verb), url, timeout_, std::move(question.read),
                       std::move(question.on_done)},
      clock_, registry_);
  const uint64_t id = under_way_->Add(request);
  request->set_call(client_->Post(
      {url, std::move(question.body), question.max_answer_bytes, question.once},
      [under_way = under_way_, id, request](const tl::expected<HttpAnswer, HttpFailure>& answer) {
        request->Finish(answer);
        under_way->Remove(id);
      }));
  return request;
}

}  // namespace berth::extender
