// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "berth/config_value.h"
#include "berth/result.h"
#include "berth/time.h"
#include "src/client/api_client.h"
#include "src/serving/expiring_cache.h"
#include "src/serving/user.h"

// Questions to the API server: whose token is this, and may this user do that. Answers are kept for
// a while; who asks what is being asked already waits for the same answer.
namespace berth::serving {

// Posts review objects. Answers arrive as tasks of `executor`.
//
// Thread safety: the executor's thread.
class Reviewer {
 public:
  using OnStatus = std::function<void(Result<ConfigValue>)>;

  // Both outlive the reviewer's calls.
  Reviewer(client::ApiClient& api, base::Executor& executor) : api_(api), executor_(executor) {}

  // Creates `spec` as an object of `kind`; gives the answer's status.
  void Create(std::string_view path, std::string_view api_version, std::string_view kind,
              ConfigValue::Map spec, OnStatus done);

 private:
  client::ApiClient& api_;
  base::Executor& executor_;
};

// Whose bearer token that is (TokenReview).
//
// Thread safety: the executor's thread.
class TokenReviews : public std::enable_shared_from_this<TokenReviews> {
 public:
  // `clock` outlives this object. A verdict, good or bad, holds for `ttl`.
  TokenReviews(Reviewer reviewer, const Clock& clock, Duration ttl);

  // Errors: nobody's, or the server could not be asked; the latter is not kept.
  void Review(const std::string& token, OnUser done);

 private:
  void Finish(const std::string& key, const Result<ConfigValue>& status);

  Reviewer reviewer_;
  const Clock& clock_;
  const Duration ttl_;
  ExpiringCache<Result<User>> known_;  // by a digest: tokens are not kept
  std::map<std::string, std::vector<OnUser>> asked_;
};

struct AccessDecision {
  bool allowed = false;
  std::string reason;  // may be ""
};

// What someone wants to do.
struct AccessAttributes {
  User user;
  std::string verb;  // the method in lower case
  std::string path;
};

using OnDecision = std::function<void(Result<AccessDecision>)>;

// Whether a user may (SubjectAccessReview).
//
// Thread safety: the executor's thread.
class AccessReviews : public std::enable_shared_from_this<AccessReviews> {
 public:
  // `clock` outlives this object.
  AccessReviews(Reviewer reviewer, const Clock& clock, Duration allowed_ttl, Duration denied_ttl);

  // Errors: the server could not be asked; that is not kept.
  void Review(const AccessAttributes& attributes, OnDecision done);

 private:
  void Finish(const std::string& key, const Result<ConfigValue>& status);

  Reviewer reviewer_;
  const Clock& clock_;
  const Duration allowed_ttl_;
  const Duration denied_ttl_;
  ExpiringCache<AccessDecision> known_;  // by the question's spec
  std::map<std::string, std::vector<OnDecision>> asked_;
};

}  // namespace berth::serving
