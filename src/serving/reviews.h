// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "berth/time.h"
#include "src/base/executor.h"
#include "src/client/api_client.h"
#include "src/serving/departure.h"
#include "src/serving/expiring_cache.h"
#include "src/serving/reviewer.h"
#include "src/serving/user.h"

// Questions to the API server: whose token is this, and may this user do that. Answers are kept for
// a while.
namespace berth::serving {

// Whose bearer token that is (TokenReview).
//
// Thread safety: the executor's thread.
class TokenReviews {
 public:
  // All outlive this object. A verdict, good or bad, holds for `ttl`.
  TokenReviews(client::ApiClient& api, base::Executor& executor, const Clock& clock, Duration ttl);

  // Errors: it is no user's, or the server could not be asked; the latter is not kept. Nothing
  // comes of it once the client has gone.
  void Review(const std::string& token, Departure& client, OnUser done);

 private:
  const Clock& clock_;
  const Duration ttl_;
  ExpiringCache<Answer<User>> known_;  // by a digest: tokens are not kept
  std::shared_ptr<Reviewer> reviewer_;
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

using OnDecision = std::function<void(Answer<AccessDecision>)>;

// Whether a user may (SubjectAccessReview).
//
// Thread safety: the executor's thread.
class AccessReviews {
 public:
  // All outlive this object.
  AccessReviews(client::ApiClient& api, base::Executor& executor, const Clock& clock,
                Duration allowed_ttl, Duration denied_ttl);

  // Errors: the server could not be asked; that is not kept. Nothing comes of it once the client
  // has gone.
  void Review(const AccessAttributes& attributes, Departure& client, OnDecision done);

 private:
  const Clock& clock_;
  const Duration allowed_ttl_;
  const Duration denied_ttl_;
  ExpiringCache<AccessDecision> known_;  // by a digest of the question
  // What strangers ask leaves room for the questions of users who are known.
  std::shared_ptr<Reviewer> of_users_;
  std::shared_ptr<Reviewer> of_strangers_;
};

}  // namespace berth::serving
