// SPDX-License-Identifier: Apache-2.0
#include "src/client/api_client.h"

#include <utility>

#include "src/base/text.h"

namespace berth::client {
namespace {

bool IsRead(Verb verb) { return verb == Verb::kGet || verb == Verb::kList || verb == Verb::kWatch; }

// Answered before it could be cancelled.
class AnsweredCall final : public Call {
 public:
  void Cancel() override {}
};

}  // namespace

bool ApiError::object_is_gone() const {
  const auto says = [this](std::string_view words) {
    return message.find(words) != std::string::npos;
  };
  return code == 404 || (code == 422 && says("metadata.uid")) ||
         (code == 409 && (says("UID in precondition") || says("UID in the precondition")));
}

std::string ApiError::ToString() const {
  std::string text = message.empty() ? "no message" : message;
  if (code != 0) {
    text += base::Concat(" (", code, reason.empty() ? "" : " ", reason, ")");
  } else if (!reason.empty()) {
    text += base::Concat(" (", reason, ")");
  }
  return text;
}

std::shared_ptr<Call> ReadOnlyClient::Send(Request request, OnResponse done) {
  if (IsRead(request.verb)) return client_.Send(std::move(request), std::move(done));
  Response response{.code = request.verb == Verb::kCreate ? 201 : 200};
  if (request.verb == Verb::kUpdate) {
    response.content_type = request.content_type;
    response.body = std::move(request.body);
  }
  executor().Post([done = std::move(done), response = std::move(response)] { done(response); });
  return std::make_shared<AnsweredCall>();
}

std::shared_ptr<Call> ReadOnlyClient::Stream(Request request, Duration silence,
                                             std::shared_ptr<StreamHandler> handler) {
  return client_.Stream(std::move(request), silence, std::move(handler));
}

}  // namespace berth::client
