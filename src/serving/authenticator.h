// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>

#include "berth/time.h"
#include "src/serving/authentication_config.h"
#include "src/serving/http.h"
#include "src/serving/reviews.h"
#include "src/serving/user.h"

namespace berth::serving {

// Finds out who makes a request, in kube-scheduler's order: a front proxy that names the user in
// headers, the client's own certificate, a bearer token. A caller that shows none of these is
// system:anonymous; one that shows something wrong, and nothing right, is refused.
//
// Thread safety: the executor's thread (see AuthenticationConfig).
class Authenticator {
 public:
  // `tokens` may be nullptr: then bearer tokens are not looked at. `clock` outlives this object.
  Authenticator(std::shared_ptr<AuthenticationConfig> config, std::shared_ptr<TokenReviews> tokens,
                const Clock& clock);

  // Errors: the request is to be refused with 401, or 429 where too much is being asked.
  void Authenticate(const Request& request, OnUser done);

 private:
  // nullopt: no opinion.
  using Opinion = std::optional<Result<User>>;
  Opinion FromFrontProxy(const Request& request);
  Opinion FromCertificate(const Request& request);

  std::shared_ptr<AuthenticationConfig> config_;
  std::shared_ptr<TokenReviews> tokens_;
  const Clock& clock_;
};

// The token of an "Authorization: Bearer" header; "" where there is none.
std::string BearerToken(const Request& request);

}  // namespace berth::serving
