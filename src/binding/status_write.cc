// SPDX-License-Identifier: Apache-2.0
#include "src/binding/status_write.h"

#include <utility>

#include "src/binding/paths.h"

namespace berth::binding {
namespace {

constexpr int kTries = 4;
constexpr base::Backoff::Shape kRetryBackoff = {std::chrono::milliseconds(10), 5,
                                                std::chrono::seconds(1), 0.1};

// As kube-scheduler's RetriableWithConflict.
bool IsRetriable(const client::ApiError& error) {
  return error.never_sent || error.code == 409 || error.code == 500 || error.code == 503;
}

}  // namespace

StatusWrite::StatusWrite(client::ApiClient& api, std::string_view path, std::string body,
                         client::Priority priority, uint64_t seed, Done done,
                         std::string_view content_type)
    : api_(api),
      path_(std::string(path) + "/status"),
      body_(std::move(body)),
      priority_(priority),
      content_type_(content_type),
      random_(seed),
      backoff_(kRetryBackoff),
      done_(std::move(done)) {}

void StatusWrite::Start(Duration waited) {
  waited_ = waited;
  Send();
}

void StatusWrite::Send() {
  ++tries_;
  client::Request request;
  request.verb = client::Verb::kPatch;
  request.priority = priority_;
  request.path = path_;
  request.content_type = content_type_;
  request.repeats_5xx = true;
  request.body = body_;
  request.waited = waited_;
  call_ = api_.Send(std::move(request),
                    [self = shared_from_this()](const client::ResponseResult& result) {
                      self->OnAnswer(result);
                    });
}

void StatusWrite::OnAnswer(const client::ResponseResult& result) {
  call_.reset();
  if (result.has_value()) {
    Finish(std::nullopt);
  } else if (!cancelled_ && IsRetriable(result.error()) && tries_ < kTries) {
    timer_ = api_.executor().PostAfter(backoff_.Next(random_), [self = shared_from_this()] {
      self->timer_.reset();
      self->Send();
    });
  } else {
    Finish(result.error());
  }
}

void StatusWrite::Cancel() {
  cancelled_ = true;
  if (timer_) {
    api_.executor().Cancel(*std::exchange(timer_, std::nullopt));
    client::ApiError error;
    error.reason = client::kReasonCancelled;
    error.message = "the patch was cancelled";
    Finish(error);
  } else if (call_ != nullptr) {
    call_->Cancel();
  }
}

void StatusWrite::Finish(const std::optional<client::ApiError>& error) {
  if (const Done done = std::exchange(done_, nullptr)) done(error);
}

void PatchPodBeingBound(client::ApiClient& api, const api::Pod& pod, std::string body,
                        std::string_view content_type, AsyncDone done) {
  const auto write = std::make_shared<StatusWrite>(
      api, PodPath(pod.metadata.namespace_, pod.metadata.name), std::move(body),
      client::Priority::kBind, std::hash<std::string>()(pod.metadata.uid),
      [done = std::move(done)](const std::optional<client::ApiError>& error) {
        done(error ? AsyncStatus{Code::kError, Text(*error)} : AsyncStatus());
      },
      content_type);
  api.executor().Post([write] { write->Start({}); });
}

}  // namespace berth::binding
