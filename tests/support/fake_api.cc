// SPDX-License-Identifier: Apache-2.0
#include "tests/support/fake_api.h"

#include <algorithm>
#include <utility>

#include "berth/check.h"

namespace berth::test {

client::ApiError Rejection(int code, std::string message) {
  client::ApiError error;
  error.code = code;
  error.message = std::move(message);
  return error;
}

client::ApiError NoAnswer() {
  client::ApiError error;
  error.message = "connection reset";
  return error;
}

client::ApiError NeverSent() {
  client::ApiError error;
  error.message = "connection refused";
  error.never_sent = true;
  return error;
}

void FakeCall::Finish(client::ResponseResult result) {
  BERTH_CHECK(open_, "the request has been answered already");
  open_ = false;
  executor_.Post(
      [done = std::exchange(done_, nullptr), result = std::move(result)] { done(result); });
}

void FakeCall::Reply(int code, std::string body) {
  if (code >= 300) {
    Fail(Rejection(code, std::move(body)));
    return;
  }
  Finish(client::Response{code, "application/json", std::move(body)});
}

void FakeCall::Fail(client::ApiError error) {
  if (is_stream()) {
    End(std::move(error));
  } else {
    Finish(tl::unexpected(std::move(error)));
  }
}

void FakeCall::Begin(std::string content_type) {
  executor_.Post([handler = handler_, content_type = std::move(content_type)] {
    handler->OnStart(client::Response{200, content_type, ""});
  });
}

void FakeCall::Push(std::string data) {
  BERTH_CHECK(open_, "the stream has ended already");
  executor_.Post([this, handler = handler_, data = std::move(data)] {
    if (open_ && !handler->OnData(data)) End();
  });
}

void FakeCall::End(std::optional<client::ApiError> error) {
  BERTH_CHECK(open_, "the stream has ended already");
  // What was pushed before is still delivered.
  executor_.Post([this, handler = handler_, error = std::move(error)] {
    if (!std::exchange(open_, false)) return;
    handler->OnEnd(error);
  });
}

class FakeApi::Handle final : public client::Call {
 public:
  Handle(FakeApi& api, std::shared_ptr<FakeCall> call) : api_(api), call_(std::move(call)) {}

  void Cancel() override {
    if (!call_->open_ || call_->cancelled_) return;
    call_->cancelled_ = true;
    call_->Fail(api_.cancel_in_line ? NeverSent() : NoAnswer());
  }

 private:
  FakeApi& api_;
  std::shared_ptr<FakeCall> call_;
};

std::shared_ptr<client::Call> FakeApi::Send(client::Request request, client::OnResponse done) {
  auto call = std::make_shared<FakeCall>(executor_, std::move(request));
  call->done_ = std::move(done);
  calls_.push_back(call);
  if (model_) {
    if (auto answer = model_(call->request)) call->Finish(std::move(*answer));
  }
  return std::make_shared<Handle>(*this, std::move(call));
}

std::shared_ptr<client::Call> FakeApi::Stream(client::Request request, Duration silence,
                                              std::shared_ptr<client::StreamHandler> handler) {
  auto call = std::make_shared<FakeCall>(executor_, std::move(request));
  call->handler_ = std::move(handler);
  call->silence = silence;
  calls_.push_back(call);
  return std::make_shared<Handle>(*this, std::move(call));
}

FakeApi::~FakeApi() {
  for (const auto& call : calls_) {
    const client::OnResponse done = std::exchange(call->done_, nullptr);
    const auto handler = std::exchange(call->handler_, nullptr);
  }
}

size_t FakeApi::Count(client::Verb verb) const {
  return static_cast<size_t>(std::count_if(calls_.begin(), calls_.end(), [verb](const auto& call) {
    return call->request.verb == verb;
  }));
}

}  // namespace berth::test
