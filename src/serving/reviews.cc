// SPDX-License-Identifier: Apache-2.0
#include "src/serving/reviews.h"

#include <openssl/evp.h>

#include <array>

#include "src/base/logging.h"
#include "src/documents/parse.h"

namespace berth::serving {
namespace {

constexpr size_t kMaxTokens = 1024;
constexpr size_t kMaxDecisions = 4096;

std::string Digest(std::string_view text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  EVP_Digest(text.data(), text.size(), digest.data(), &size, EVP_sha256(), nullptr);
  return std::string(reinterpret_cast<const char*>(digest.data()), size);
}

ConfigValue Texts(const std::vector<std::string>& texts) {
  ConfigValue::List list;
  for (const std::string& text : texts) list.push_back(ConfigValue(text));
  return ConfigValue(std::move(list));
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

Answer<User> UserOf(const ConfigValue& status) {
  if (!FlagIn(status, "authenticated")) {
    const std::string error = TextIn(status, "error");
    return tl::unexpected(NoAnswer{error.empty() ? "invalid bearer token" : error});
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

std::pair<std::string, ConfigValue> AskedFor(const AccessAttributes& attributes) {
  ConfigValue::Map asked;
  if (!attributes.resource) {
    asked = {{"path", ConfigValue(attributes.path)}, {"verb", ConfigValue(attributes.verb)}};
    return {"nonResourceAttributes", ConfigValue(std::move(asked))};
  }
  const ResourceAttributes& resource = *attributes.resource;
  asked = {{"group", ConfigValue(resource.group)},
           {"name", ConfigValue(resource.name)},
           {"namespace", ConfigValue(resource.namespace_)},
           {"resource", ConfigValue(resource.resource)},
           {"verb", ConfigValue(resource.verb)}};
  return {"resourceAttributes", ConfigValue(std::move(asked))};
}

ConfigValue::Map SpecOf(const AccessAttributes& attributes) {
  ConfigValue::Map spec{AskedFor(attributes),
                        {"user", ConfigValue(attributes.user.name)},
                        {"groups", Texts(attributes.user.groups)}};
  if (!attributes.user.uid.empty()) spec.emplace_back("uid", ConfigValue(attributes.user.uid));
  ConfigValue::Map extra;
  for (const auto& [key, values] : attributes.user.extra) extra.emplace_back(key, Texts(values));
  if (!extra.empty()) spec.emplace_back("extra", ConfigValue(std::move(extra)));
  return spec;
}

AccessDecision DecisionOf(const ConfigValue& status) {
  AccessDecision decision;
  decision.denied = FlagIn(status, "denied");
  decision.allowed = FlagIn(status, "allowed") && !decision.denied;
  decision.reason = TextIn(status, "reason");
  return decision;
}

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

std::string TextIn(const ConfigValue& map, std::string_view key) {
  const ConfigValue* value = map.Find(key);
  return value == nullptr || value->string() == nullptr ? "" : *value->string();
}

TokenReviews::TokenReviews(client::ApiClient& api, base::Executor& executor, const Clock& clock,
                           Duration ttl, AccessObserver* observer)
    : clock_(clock),
      ttl_(ttl),
      good_(kMaxTokens),
      bad_(kMaxTokens),
      acquainted_(kMaxTokens),
      of_acquaintances_(std::make_shared<Reviewer>(api, executor, clock, kTokenReview, observer)),
      of_strangers_(std::make_shared<Reviewer>(api, executor, clock, kTokenReview, observer)) {}

void TokenReviews::Review(const std::string& token, const std::string& peer, Departure& client,
                          OnUser done) {
  const std::string key = Digest(token);
  const Time now = clock_.Now();
  if (const User* user = good_.Find(key, now)) return done(*user);
  if (const NoAnswer* refusal = bad_.Find(key, now)) return done(tl::unexpected(*refusal));
  const bool acquainted = acquainted_.Find(key, now) != nullptr;
  Reviewer& reviewer = acquainted ? *of_acquaintances_ : *of_strangers_;
  // One that has been good asks for itself: many may come from one proxy.
  reviewer.Ask(key, {{"token", ConfigValue(token)}}, acquainted ? key : peer, client,
               [this, key, done = std::move(done)](const Answer<ConfigValue>& status) {
                 if (!status) return done(tl::unexpected(status.error()));
                 const Answer<User> user = UserOf(*status);
                 Keep(key, user);
                 done(user);
               });
}

void TokenReviews::Keep(const std::string& key, const Answer<User>& user) {
  const Time now = clock_.Now();
  if (!user) return bad_.Put(key, user.error(), now + ttl_);
  good_.Put(key, *user, now + ttl_);
  acquainted_.Put(key, true, now + kAcquaintance);
}

AccessReviews::AccessReviews(client::ApiClient& api, base::Executor& executor, const Clock& clock,
                             Duration allowed_ttl, Duration denied_ttl, AccessObserver* observer)
    : clock_(clock),
      allowed_ttl_(allowed_ttl),
      denied_ttl_(denied_ttl),
      known_(kMaxDecisions),
      of_users_(std::make_shared<Reviewer>(api, executor, clock, kSubjectAccessReview, observer)),
      of_strangers_(
          std::make_shared<Reviewer>(api, executor, clock, kSubjectAccessReview, observer)) {}

void AccessReviews::Review(const AccessAttributes& attributes, const std::string& peer,
                           Departure& client, OnDecision done) {
  ConfigValue::Map spec = SpecOf(attributes);
  const std::string key = Digest(ConfigValue(spec).ToJson());
  if (const AccessDecision* known = known_.Find(key, clock_.Now())) return done(*known);
  const bool stranger = attributes.user.name == kAnonymousUser;
  Reviewer& reviewer = stranger ? *of_strangers_ : *of_users_;
  reviewer.Ask(key, std::move(spec), stranger ? peer : attributes.user.name, client,
               [this, key, done = std::move(done)](const Answer<ConfigValue>& status) {
                 if (!status) return done(tl::unexpected(status.error()));
                 const AccessDecision decision = DecisionOf(*status);
                 known_.Put(key, decision,
                            clock_.Now() + (decision.allowed ? allowed_ttl_ : denied_ttl_));
                 done(decision);
               });
}

void Reviewer::Ask(const std::string& question, ConfigValue::Map spec, const std::string& asker,
                   Departure& client, OnStatus done) {
  auto found = questions_.find(question);
  if (found == questions_.end()) {
    const auto others = of_askers_.find(asker);
    if (questions_.size() >= kMaxUnderWay ||
        (others != of_askers_.end() && others->second >= kMaxOfOneAsker)) {
      return done(tl::unexpected(NoAnswer{"too many reviews are under way", true}));
    }
    ++of_askers_[asker];
    found = questions_.emplace(question, Question{.number = ++last_number_, .asker = asker}).first;
    Send(question, found->second.number, std::move(spec));
  }
  const uint64_t number = found->second.number;
  const uint64_t waiter = ++last_number_;
  found->second.waiting.emplace(waiter, std::move(done));
  client.OnGone([weak = weak_from_this(), question, number, waiter] {
    if (const auto self = weak.lock()) self->Leave(question, number, waiter);
  });
}

Reviewer::Question Reviewer::Remove(Questions::iterator question) {
  Question removed = std::move(question->second);
  questions_.erase(question);
  const auto share = of_askers_.find(removed.asker);
  if (--share->second == 0) of_askers_.erase(share);
  return removed;
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
  const auto take = [weak = weak_from_this(), finish, kind = kind_.kind,
                     begun = clock_.Now()](const client::ResponseResult& result) {
    if (const auto self = weak.lock()) self->Observe(result, begun);
    finish(StatusIn(result, kind));
  };
  Question& asked = questions_.at(question);
  // The answer comes on the client's thread.
  asked.call =
      api_.Send(std::move(request), [&executor = executor_, take](client::ResponseResult result) {
        executor.Post([take, result = std::move(result)] { take(result); });
      });
  asked.deadline = executor_.PostAfter(
      kPatience, [finish] { finish(tl::unexpected(NoAnswer{"no answer came in time"})); });
}

void Reviewer::Observe(const client::ResponseResult& result, Time begun) const {
  if (observer_ == nullptr) return;
  const int code = result ? result->code : result.error().code;
  observer_->OnReviewed(kind_, code, clock_.Now() - begun);
}

void Reviewer::Finish(const std::string& question, uint64_t number,
                      const Answer<ConfigValue>& status) {
  const auto found = questions_.find(question);
  if (found == questions_.end() || found->second.number != number) return;
  const Question asked = Remove(found);
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
  const Question asked = Remove(found);
  executor_.Cancel(asked.deadline);
  asked.call->Cancel();
}

}  // namespace berth::serving
