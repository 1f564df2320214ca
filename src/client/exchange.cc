// SPDX-License-Identifier: Apache-2.0
#include "src/client/exchange.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "src/api/decode.h"
#include "src/base/text.h"
#include "src/base/utf8.h"
#include "src/client/rate_limiter.h"

namespace berth::client {
namespace {

// It goes into logs and events.
constexpr size_t kMostMessage = 4096;

// A Status says so; whatever else stands where one is expected is not taken for one.
std::optional<api::ApiStatus> StatusOf(std::string_view content_type, std::string_view body) {
  if (content_type.starts_with("text/")) return std::nullopt;
  const api::Encoding encoding = api::EncodingOf(content_type);
  if (api::ReadTypeMeta(encoding, body).kind != api::KindOf<api::ApiStatus>::kKind) {
    return std::nullopt;
  }
  auto status = api::Decode<api::ApiStatus>(encoding, body);
  if (!status) return std::nullopt;
  return *std::move(status);
}

constexpr auto kReasons = std::to_array<std::pair<int, std::string_view>>({
    {400, "BadRequest"},
    {401, "Unauthorized"},
    {403, "Forbidden"},
    {404, "NotFound"},
    {409, "Conflict"},
    {410, "Gone"},
    {422, "Invalid"},
    {429, "TooManyRequests"},
    {500, "InternalError"},
    {503, "ServiceUnavailable"},
    {504, "Timeout"},
});

std::string ReasonFromCode(int code) {
  const auto known = std::ranges::find(kReasons, code, &decltype(kReasons)::value_type::first);
  return known == kReasons.end() ? "" : std::string(known->second);
}

// More of an error's body tells nothing.
constexpr size_t kMostErrorBody = size_t{64} << 10;

// The longest body that a request is answered with. Leases, events, reviews and what is created for
// a bind get a small object or a Status; the rest an object as large as etcd may hold it (1.5 MiB
// unless configured otherwise), written as JSON.
size_t MostBody(const Request& request) {
  constexpr size_t kSmall = size_t{1} << 20;
  constexpr size_t kLargest = size_t{16} << 20;
  switch (request.priority) {
    case Priority::kBind:
      return request.verb == Verb::kCreate ? kSmall : kLargest;
    case Priority::kEvent:
    case Priority::kUnlimited:
      return kSmall;
    case Priority::kEviction:
    case Priority::kStatusPatch:
    case Priority::kOther:
      break;
  }
  return kLargest;
}

bool IsSuccess(int code) { return code >= 200 && code < 300; }

}  // namespace

ApiError ErrorFromResponse(int code, std::string_view content_type, std::string_view body,
                           std::optional<Duration> retry_after) {
  ApiError error;
  error.code = code;
  error.retry_after = retry_after;
  std::optional<api::ApiStatus> status = StatusOf(content_type, body);
  if (status) {
    error.reason = std::move(status->reason);
    error.message = std::move(status->message);
    const int32_t seconds = status->details ? status->details->retry_after_seconds : 0;
    if (!error.retry_after && seconds > 0) error.retry_after = std::chrono::seconds(seconds);
  }
  error.message.resize(base::Utf8Front(error.message, kMostMessage).size());
  if (error.reason.empty()) error.reason = ReasonFromCode(code);
  if (error.message.empty()) {
    constexpr size_t kMost = 200;
    const std::string_view line = status ? "" : body.substr(0, body.find_first_of("\r\n"));
    const bool printable = line.find('\0') == std::string_view::npos;
    error.message = line.empty() || !printable ? base::Concat("the server answered ", code)
                                               : std::string(line.substr(0, kMost));
  }
  return error;
}

Exchange::Exchange(uint64_t call_id, Request call, OnResponse on_response, const Clock& clock)
    : id(call_id),
      request(std::move(call)),
      owner(NamespaceOf(request.path)),
      done_(std::move(on_response)),
      clock_(clock) {}

Exchange::Exchange(uint64_t call_id, Request call, Duration silence_limit,
                   std::shared_ptr<StreamHandler> stream_handler, const Clock& clock)
    : id(call_id),
      request(std::move(call)),
      owner(NamespaceOf(request.path)),
      silence(silence_limit),
      handler_(std::move(stream_handler)),
      clock_(clock) {}

const char* Exchange::method() const {
  switch (request.verb) {
    case Verb::kGet:
    case Verb::kList:
    case Verb::kWatch:
      return "GET";
    case Verb::kCreate:
      return "POST";
    case Verb::kUpdate:
      return "PUT";
    case Verb::kPatch:
      return "PATCH";
    case Verb::kDelete:
      return "DELETE";
  }
  return "GET";
}

void Exchange::BeginAttempt() {
  ++attempts;
  was_read = false;
  body_.clear();
  received = 0;
  code_ = 0;
  too_large_ = false;
  attempt_began = clock_.Now();
  last_data = attempt_began;
  head_came = Time{};
}

void Exchange::OnHead(int code, std::string_view content_type) {
  code_ = code;
  head_came = last_data = clock_.Now();
  answered(*this, code);
  if (handler_ == nullptr || !IsSuccess(code)) return;
  stream_started_ = true;
  handler_->OnStart(Response{code, std::string(content_type), {}});
}

bool Exchange::OnBody(std::string_view data) {
  received += data.size();
  if (stream_started_) {
    last_data = clock_.Now();
    return handler_->OnData(data);
  }
  if (!IsSuccess(code_)) {
    body_.append(data.substr(0, kMostErrorBody - body_.size()));
    return true;
  }
  too_large_ = body_.size() + data.size() > MostBody(request);
  if (!too_large_) body_.append(data);
  return !too_large_;
}

std::optional<ApiError> Exchange::ErrorOf(const AttemptResult& result) const {
  if (result.complete) {
    if (IsSuccess(result.code)) return std::nullopt;
    return ErrorFromResponse(result.code, result.content_type, body_, result.retry_after);
  }
  ApiError error;
  error.never_sent = !result.sent;
  if (too_large_) {
    error.reason = kReasonTooLarge;
    error.message =
        base::Concat(method(), ": the answer is longer than ", MostBody(request), " bytes");
    return error;
  }
  if (result.stopped_by_listener) {
    error.reason = kReasonCancelled;
    error.message = "the reader has ended the stream";
    return error;
  }
  error.reason = result.not_leader  ? kReasonNotLeader
                 : !result.sent     ? kReasonUnreachable
                 : result.timed_out ? kReasonTimeout
                                    : kReasonConnectionLost;
  const std::string_view path = std::string_view(request.path).substr(0, request.path.find('?'));
  error.message = base::Concat(method(), " ", path, ": ", result.error);
  return error;
}

void Exchange::Succeed(const AttemptResult& result) {
  if (handler_ != nullptr) {
    handler_->OnEnd(std::nullopt);
  } else {
    done_(Response{result.code, result.content_type, std::move(body_)});
  }
}

void Exchange::Fail(ApiError error) {
  if (handler_ != nullptr) {
    handler_->OnEnd(std::move(error));
  } else {
    done_(tl::unexpected<ApiError>(std::move(error)));
  }
}

}  // namespace berth::client
