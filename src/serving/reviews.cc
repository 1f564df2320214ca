// SPDX-License-Identifier: Apache-2.0
#include "src/serving/reviews.h"

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "src/base/backoff.h"
#include "src/base/clock.h"
#include "src/base/logging.h"
#include "src/documents/parse.h"

namespace berth::serving {
namespace {

constexpr size_t kMaxTokens = 1024;
constexpr size_t kMaxDecisions = 4096;
// How often a question is sent at most, and how long lies between: as kube-scheduler does it.
constexpr int kMostTries = 5;
constexpr base::Backoff::Shape kBetweenTries = {.first = std::chrono::milliseconds(500),
                                                .factor = 1.5,
                                                .cap = std::chrono::seconds(10),
                                                .jitter = 0.2};

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

Answer<AccessDecision> DecisionOf(const ConfigValue& status) {
  AccessDecision decision;
  decision.denied = FlagIn(status, "denied");
  decision.allowed = FlagIn(status, "allowed");
  decision.reason = TextIn(status, "reason");
  if (decision.allowed && decision.denied) {
    return tl::unexpected(
        NoAnswer{"webhook subject access review returned both allow and deny response"});
  }
  return decision;
}

// Whether the server may answer the same question better soon.
bool MayPass(const client::ApiError& error) {
  if (error.code == 0) return error.reason == client::kReasonConnectionLost;
  constexpr std::string_view kPassing[] = {"InternalError", "Timeout", "ServerTimeout",
                                           "TooManyRequests"};
  constexpr int kPassingCodes[] = {429, 500, 504};
  return error.retry_after ||
         std::ranges::find(kPassingCodes, error.code) != std::end(kPassingCodes) ||
         std::ranges::find(kPassing, error.reason) != std::end(kPassing);
}

ConfigValue Text(std::string_view text) { return ConfigValue(std::string(text)); }

// The status of the review in an answer of the API server.
Answer<ConfigValue> StatusIn(const client::ResponseResult& result, std::string_view kind) {
  const auto failed = [](std::string message) {
    return tl::unexpected(NoAnswer{std::move(message)});
  };
  if (!result) return failed(result.error().message);
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
                 const Answer<AccessDecision> decision = DecisionOf(*status);
                 if (!decision) return done(decision);
                 known_.Put(key, *decision,
                            clock_.Now() + (decision->allowed ? allowed_ttl_ : denied_ttl_));
                 done(decision);
               });
}

Reviewer::Reviewer(client::ApiClient& api, base::Executor& executor, const Clock& clock,
                   const ReviewKind& kind, AccessObserver* observer)
    : api_(api),
      executor_(executor),
      clock_(clock),
      kind_(kind),
      observer_(observer),
      random_(base::RandomSeed()) {}

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
    Begin(question, found->second, std::move(spec));
  }
  const uint64_t number = found->second.number;
  const uint64_t waiter = ++last_number_;
  found->second.waiting.emplace(waiter, std::move(done));
  client.OnGone([weak = weak_from_this(), question, number, waiter] {
    if (const auto self = weak.lock()) self->Leave(question, number, waiter);
  });
}

Reviewer::Question* Reviewer::Find(const std::string& question, uint64_t number) {
  const auto found = questions_.find(question);
  return found == questions_.end() || found->second.number != number ? nullptr : &found->second;
}

Reviewer::Question Reviewer::End(const std::string& question) {
  const auto found = questions_.find(question);
  Question ended = std::move(found->second);
  questions_.erase(found);
  const auto share = of_askers_.find(ended.asker);
  if (--share->second == 0) of_askers_.erase(share);
  executor_.Cancel(ended.deadline);
  executor_.Cancel(ended.next_try);
  ended.call->Cancel();
  return ended;
}

void Reviewer::Begin(const std::string& question, Question& asked, ConfigValue::Map spec) {
  asked.body = ConfigValue(ConfigValue::Map{{"apiVersion", Text(kind_.api_version)},
                                            {"kind", Text(kind_.kind)},
                                            {"spec", ConfigValue(std::move(spec))}})
                   .ToJson();
  asked.deadline =
      executor_.PostAfter(kPatience, [weak = weak_from_this(), question, number = asked.number] {
        const auto self = weak.lock();
        Question* const late = self == nullptr ? nullptr : self->Find(question, number);
        if (late == nullptr) return;
        const std::string why = late->failure.empty() ? "no answer came in time" : late->failure;
        self->Finish(question, number, tl::unexpected(NoAnswer{why}));
      });
  Send(question, asked);
}

void Reviewer::Send(const std::string& question, Question& asked) {
  client::Request request;
  request.verb = client::Verb::kCreate;
  request.path = kind_.path;
  request.content_type = "application/json";
  request.body = asked.body;
  request.timeout = kPatience;
  request.max_retries = 3;
  request.repeats_5xx = true;
  ++asked.tries;
  const auto take = [weak = weak_from_this(), question, number = asked.number,
                     begun = clock_.Now()](const client::ResponseResult& result) {
    const auto self = weak.lock();
    if (self == nullptr) return;
    self->Observe(result, begun);
    self->Take(question, number, result);
  };
  // The answer comes on the client's thread.
  asked.call =
      api_.Send(std::move(request), [&executor = executor_, take](client::ResponseResult result) {
        executor.Post([take, result = std::move(result)] { take(result); });
      });
}

void Reviewer::Take(const std::string& question, uint64_t number,
                    const client::ResponseResult& result) {
  Question* const asked = Find(question, number);
  if (asked == nullptr) return;
  if (result || !MayPass(result.error()) || asked->tries == kMostTries) {
    return Finish(question, number, StatusIn(result, kind_.kind));
  }
  asked->failure = result.error().message;
  asked->next_try = executor_.PostAfter(
      base::Backoff::Wait(kBetweenTries, asked->tries - 1, random_),
      [weak = weak_from_this(), question, number] {
        const auto self = weak.lock();
        Question* const again = self == nullptr ? nullptr : self->Find(question, number);
        if (again != nullptr) self->Send(question, *again);
      });
}

void Reviewer::Observe(const client::ResponseResult& result, Time begun) const {
  if (observer_ == nullptr) return;
  const int code = result ? result->code : result.error().code;
  observer_->OnReviewed(kind_, code, clock_.Now() - begun);
}

void Reviewer::Finish(const std::string& question, uint64_t number,
                      const Answer<ConfigValue>& status) {
  if (Find(question, number) == nullptr) return;
  const Question asked = End(question);
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
  Question* const asked = Find(question, number);
  if (asked == nullptr) return;
  asked->waiting.erase(waiter);
  if (asked->waiting.empty()) End(question);
}

}  // namespace berth::serving
