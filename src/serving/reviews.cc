// SPDX-License-Identifier: Apache-2.0
#include "src/serving/reviews.h"

#include <openssl/evp.h>

#include <array>
#include <utility>

#include "berth/config_value.h"

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

ConfigValue::Map SpecOf(const AccessAttributes& attributes) {
  ConfigValue::Map spec{{"nonResourceAttributes",
                         ConfigValue(ConfigValue::Map{{"path", ConfigValue(attributes.path)},
                                                      {"verb", ConfigValue(attributes.verb)}})},
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
  decision.allowed = FlagIn(status, "allowed") && !FlagIn(status, "denied");
  decision.reason = TextIn(status, "reason");
  return decision;
}

}  // namespace

TokenReviews::TokenReviews(client::ApiClient& api, base::Executor& executor, const Clock& clock,
                           Duration ttl)
    : clock_(clock),
      ttl_(ttl),
      known_(kMaxTokens),
      reviewer_(std::make_shared<Reviewer>(api, executor, kTokenReview)) {}

void TokenReviews::Review(const std::string& token, Departure& client, OnUser done) {
  const std::string key = Digest(token);
  if (const Answer<User>* known = known_.Find(key, clock_.Now())) return done(*known);
  reviewer_->Ask(key, {{"token", ConfigValue(token)}}, client,
                 [this, key, done = std::move(done)](const Answer<ConfigValue>& status) {
                   if (!status) return done(tl::unexpected(status.error()));
                   const Answer<User> user = UserOf(*status);
                   known_.Put(key, user, clock_.Now() + ttl_);
                   done(user);
                 });
}

AccessReviews::AccessReviews(client::ApiClient& api, base::Executor& executor, const Clock& clock,
                             Duration allowed_ttl, Duration denied_ttl)
    : clock_(clock),
      allowed_ttl_(allowed_ttl),
      denied_ttl_(denied_ttl),
      known_(kMaxDecisions),
      of_users_(std::make_shared<Reviewer>(api, executor, kSubjectAccessReview)),
      of_strangers_(std::make_shared<Reviewer>(api, executor, kSubjectAccessReview)) {}

void AccessReviews::Review(const AccessAttributes& attributes, Departure& client, OnDecision done) {
  ConfigValue::Map spec = SpecOf(attributes);
  const std::string key = Digest(ConfigValue(spec).ToJson());
  if (const AccessDecision* known = known_.Find(key, clock_.Now())) return done(*known);
  Reviewer& reviewer = attributes.user.name == kAnonymousUser ? *of_strangers_ : *of_users_;
  reviewer.Ask(key, std::move(spec), client,
               [this, key, done = std::move(done)](const Answer<ConfigValue>& status) {
                 if (!status) return done(tl::unexpected(status.error()));
                 const AccessDecision decision = DecisionOf(*status);
                 known_.Put(key, decision,
                            clock_.Now() + (decision.allowed ? allowed_ttl_ : denied_ttl_));
                 done(decision);
               });
}

}  // namespace berth::serving
