// SPDX-License-Identifier: Apache-2.0
#include "src/serving/reviewer.h"

#include <utility>

#include "src/base/logging.h"
#include "src/documents/parse.h"

namespace berth::serving {
namespace {

ConfigValue Text(std::string_view text) { return ConfigValue(std::string(text)); }

// The status of the review in an answer of the API server.
Answer<ConfigValue> StatusIn(const client::ResponseResult& result, std::string_view kind) {
  const auto failed = [](std::string message) {
    return tl::unexpected(NoAnswer{std::move(message)});
  };
  if (!result) return failed(result.error().ToString());
  const auto object = documents::ParseJson(result->body, kind);
  // The parser's words may quote the answer, and with it the token.
  if (!object) return failed(std::string(kind) + ": an answer that is no JSON");
  const ConfigValue* status = object->Find("status");
  if (status == nullptr) return failed(std::string(kind) + ": an answer without status");
  return *status;
}

}  // namespace

void Reviewer::Ask(const std::string& question, ConfigValue::Map spec, Departure& client,
                   OnStatus done) {
  auto found = questions_.find(question);
  if (found == questions_.end()) {
    if (questions_.size() >= kMaxUnderWay) {
      return done(tl::unexpected(NoAnswer{"too many reviews are under way", true}));
    }
    found = questions_.emplace(question, Question{.number = ++last_number_}).first;
    Send(question, found->second.number, std::move(spec));
  }
  const uint64_t number = found->second.number;
  const uint64_t waiter = ++last_number_;
  found->second.waiting.emplace(waiter, std::move(done));
  client.OnGone([weak = weak_from_this(), question, number, waiter] {
    if (const auto self = weak.lock()) self->Leave(question, number, waiter);
  });
}

void Reviewer::Send(const std::string& question, uint64_t number, ConfigValue::Map spec) {
  client::Request request;
  request.verb = client::Verb::kCreate;
  request.path = kind_.path;
  request.content_type = "application/json";
  request.body = ConfigValue(ConfigValue::Map{{"apiVersion", Text(kind_.api_version)},
                                              {"kind", Text(kind_.kind)},
                                              {"spec", ConfigValue(std::move(spec))}})
                     .ToJson();
  request.timeout = kPatience;
  request.max_retries = 3;
  const auto finish = [weak = weak_from_this(), question,
                       number](const Answer<ConfigValue>& status) {
    if (const auto self = weak.lock()) self->Finish(question, number, status);
  };
  Question& asked = questions_.at(question);
  // The answer comes on the client's thread.
  asked.call = api_.Send(std::move(request), [&executor = executor_, finish,
                                              kind = kind_.kind](client::ResponseResult result) {
    executor.Post([finish, kind, result = std::move(result)] { finish(StatusIn(result, kind)); });
  });
  asked.deadline = executor_.PostAfter(
      kPatience, [finish] { finish(tl::unexpected(NoAnswer{"no answer came in time"})); });
}

void Reviewer::Finish(const std::string& question, uint64_t number,
                      const Answer<ConfigValue>& status) {
  const auto found = questions_.find(question);
  if (found == questions_.end() || found->second.number != number) return;
  const Question asked = std::move(found->second);
  questions_.erase(found);
  executor_.Cancel(asked.deadline);
  asked.call->Cancel();
  TellOf(status);
  for (const auto& [waiter, done] : asked.waiting) done(status);
}

void Reviewer::TellOf(const Answer<ConfigValue>& status) {
  if (status) {
    failing_ = false;
  } else if (!std::exchange(failing_, true)) {
    base::LogError("Failed to ask the API server about a request",
                   {{"review", kind_.kind}, {"err", status.error().message}});
  } else {
    base::LogV(2, "Failed again to ask the API server about a request",
               {{"review", kind_.kind}, {"err", status.error().message}});
  }
}

void Reviewer::Leave(const std::string& question, uint64_t number, uint64_t waiter) {
  const auto found = questions_.find(question);
  if (found == questions_.end() || found->second.number != number) return;
  found->second.waiting.erase(waiter);
  if (!found->second.waiting.empty()) return;
  executor_.Cancel(found->second.deadline);
  found->second.call->Cancel();
  questions_.erase(found);
}

}  // namespace berth::serving
