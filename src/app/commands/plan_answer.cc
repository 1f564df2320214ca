// SPDX-License-Identifier: Apache-2.0
#include "src/app/commands/plan_answer.h"

#include <string>
#include <utility>

#include "src/app/commands/server_error.h"

namespace berth::app {

plan::Answer PlanAnswerOf(const client::ResponseResult& result, std::string_view server) {
  if (result) return {};
  const client::ApiError& error = result.error();
  if (error.code == 409 && error.reason == "AlreadyExists") return {};  // an earlier run made it
  std::string message = InKubectlsWords(error, server);
  const bool later =
      error.code == 409 || error.code == 429 || (!IsFinal(error) && error.unknown_outcome());
  return {.kind = error.object_is_gone() ? plan::Answer::Kind::kGone
                  : later                ? plan::Answer::Kind::kLater
                                         : plan::Answer::Kind::kRefused,
          .message = std::move(message)};
}

}  // namespace berth::app
