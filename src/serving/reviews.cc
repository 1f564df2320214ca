// SPDX-License-Identifier: Apache-2.0
#include "src/serving/reviews.h"

#include <openssl/evp.h>

#include <array>
#include <utility>

#include "src/api/parse.h"
#include "src/base/logging.h"

namespace berth::serving {
namespace {

constexpr size_t kMaxTokens = 1024;
constexpr size_t kMaxDecisions = 4096;
// Longer questions are asked each time, so that a client cannot fill the memory with its answers.
constexpr size_t kMaxCachedQuestion = 10'000;

std::string Digest(std::string_view text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  EVP_Digest(text.data(), text.size(), digest.data(), &size, EVP_sha256(), nullptr);
  return std::string(reinterpret_cast<const char*>(digest.data()), size);
}

ConfigValue Text(std::string_view text) { return ConfigValue(std::string(text)); }

ConfigValue Texts(const std::vector<std::string>& texts) {
  ConfigValue::List list;
  for (const std::string& text : texts) list.push_back(Text(text));
  return ConfigValue(std::move(list));
}

std::string TextIn(const ConfigValue& map, std::string_view key) {
  const ConfigValue* value = map.Find(key);
  return value == nullptr || value->string() == nullptr ? "" : *value->string();
}

bool FlagIn(const ConfigValue& map, std::string_view key) {
  const ConfigValue* value = map.Find(key);
  return value != nullptr && value->boolean() != nullptr && *value->boolean();
}

std::vector<std::string> TextsOf(const ConfigValue* list) {
  std::vector<std::string> texts;
  if (list == nullptr || list->list() == nullptr) return texts;
  for (const ConfigValue& element : *list->list()) {
    if (element.string() != nullptr) texts.push_back(*element.string());
  }
  return texts;
}

Result<User> UserOf(const ConfigValue& status) {
  if (!FlagIn(status, "authenticated")) {
    const std::string error = TextIn(status, "error");
    return Fail(error.empty() ? "invalid bearer token" : error);
  }
  User user;
  const ConfigValue* described = status.Find("user");
  if (described == nullptr) return user;
  user.name = TextIn(*described, "username");
  user.uid = TextIn(*described, "uid");
  user.groups = TextsOf(described->Find("groups"));
  const ConfigValue* extra = described->Find("extra");
  if (extra != nullptr && extra->map() != nullptr) {
    for (const auto& [key, values] : *extra->map()) user.extra.emplace_back(key, TextsOf(&values));
  }
  return user;
}

ConfigValue::Map SpecOf(const AccessAttributes& attributes) {
  ConfigValue::Map spec{
      {"nonResourceAttributes", ConfigValue(ConfigValue::Map{{"path", Text(attributes.path)},
                                                             {"verb", Text(attributes.verb)}})},
      {"user", Text(attributes.user.name)},
      {"groups", Texts(attributes.user.groups)}};
  if (!attributes.user.uid.empty()) spec.emplace_back("uid", Text(attributes.user.uid));
  ConfigValue::Map extra;
  for (const auto& [key, values] : attributes.user.extra) extra.emplace_back(key, Texts(values));
  if (!extra.empty()) spec.emplace_back("extra", ConfigValue(std::move(extra)));
  return spec;
}

AccessDecision DecisionOf(const ConfigValue& status) {
  AccessDecision decision;
  decision.allowed = FlagIn(status, "allowed") && !FlagIn(status, "denied");
  decision.reason = TextIn(status, "reason");
  return decision;
}

}  // namespace

void Reviewer::Create(std::string_view path, std::string_view api_version, std::string_view kind,
                      ConfigValue::Map spec, OnStatus done) {
  client::Request request;
  request.verb = client::Verb::kCreate;
  request.path = path;
  request.content_type = "application/json";
  request.body = ConfigValue(ConfigValue::Map{{"apiVersion", Text(api_version)},
                                              {"kind", Text(kind)},
                                              {"spec", ConfigValue(std::move(spec))}})
                     .ToJson();
  request.timeout = std::chrono::seconds(10);
  request.max_retries = 3;
  // The answer comes on the client's thread.
  api_.Send(std::move(request), [&executor = executor_, done = std::move(done),
                                 what = std::string(kind)](client::ResponseResult result) {
    executor.Post([done, what, result = std::move(result)] {
      if (!result) {
        base::LogError("Failed to ask the API server about a request",
                       {{"review", what}, {"err", result.error().ToString()}});
        return done(Fail(result.error().ToString()));
      }
      const auto object = api::ParseJson(result->body, what);
      if (!object) return done(Fail(object.error()));
      const ConfigValue* status = object->Find("status");
      if (status == nullptr) return done(Fail(what + ": an answer without status"));
      done(*status);
    });
  });
}

TokenReviews::TokenReviews(Reviewer reviewer, const Clock& clock, Duration ttl)
    : reviewer_(reviewer), clock_(clock), ttl_(ttl), known_(kMaxTokens) {}

void TokenReviews::Review(const std::string& token, OnUser done) {
  std::string key = Digest(token);
  if (const Result<User>* known = known_.Find(key, clock_.Now())) return done(*known);
  auto& waiting = asked_[key];
  waiting.push_back(std::move(done));
  if (waiting.size() > 1) return;
  reviewer_.Create("/apis/authentication.k8s.io/v1/tokenreviews", "authentication.k8s.io/v1",
                   "TokenReview", {{"token", Text(token)}},
                   [weak = weak_from_this(), key](const Result<ConfigValue>& status) {
                     if (const auto self = weak.lock()) self->Finish(key, status);
                   });
}

void TokenReviews::Finish(const std::string& key, const Result<ConfigValue>& status) {
  const std::vector<OnUser> waiting = std::move(asked_[key]);
  asked_.erase(key);
  const Result<User> user = status ? UserOf(*status) : Result<User>(Fail(status.error()));
  if (status) known_.Put(key, user, clock_.Now() + ttl_);
  for (const OnUser& done : waiting) done(user);
}

AccessReviews::AccessReviews(Reviewer reviewer, const Clock& clock, Duration allowed_ttl,
                             Duration denied_ttl)
    : reviewer_(reviewer),
      clock_(clock),
      allowed_ttl_(allowed_ttl),
      denied_ttl_(denied_ttl),
      known_(kMaxDecisions) {}

void AccessReviews::Review(const AccessAttributes& attributes, OnDecision done) {
  ConfigValue::Map spec = SpecOf(attributes);
  const std::string key = ConfigValue(spec).ToJson();
  if (const AccessDecision* known = known_.Find(key, clock_.Now())) return done(*known);
  auto& waiting = asked_[key];
  waiting.push_back(std::move(done));
  if (waiting.size() > 1) return;
  reviewer_.Create("/apis/authorization.k8s.io/v1/subjectaccessreviews", "authorization.k8s.io/v1",
                   "SubjectAccessReview", std::move(spec),
                   [weak = weak_from_this(), key](const Result<ConfigValue>& status) {
                     if (const auto self = weak.lock()) self->Finish(key, status);
                   });
}

void AccessReviews::Finish(const std::string& key, const Result<ConfigValue>& status) {
  const std::vector<OnDecision> waiting = std::move(asked_[key]);
  asked_.erase(key);
  if (!status) {
    for (const OnDecision& done : waiting) done(Fail(status.error()));
    return;
  }
  const AccessDecision decision = DecisionOf(*status);
  if (key.size() <= kMaxCachedQuestion) {
    known_.Put(key, decision, clock_.Now() + (decision.allowed ? allowed_ttl_ : denied_ttl_));
  }
  for (const OnDecision& done : waiting) done(decision);
}

}  // namespace berth::serving
