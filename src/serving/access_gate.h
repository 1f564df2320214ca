// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "berth/time.h"
#include "src/serving/authenticator.h"
#include "src/serving/http.h"
#include "src/serving/reviews.h"
#include "src/serving/router.h"

namespace berth::serving {

// Lets a request through to the router, or does not:
//
//   who is it? --401--> may they? --403--> router
//
// 429 where too many others wait for the API server's word already.
//
// Members of system:masters may do everything, all callers may read the paths that are always
// allowed, and all else is the API server's to say: by the path or, where the request is about one
// object, by what the caller may do with that; without a server it is refused. Refusals are Status
// objects, as the API server's own.
//
// Thread safety: the executor's thread (see AuthenticationConfig).
class AccessGate {
 public:
  // The object that a request is about alone, so that who may do that with the object may make the
  // request; nullopt: there is none, and the right to the path decides.
  using AboutObject = std::function<std::optional<ResourceAttributes>(const Request&)>;

  // `reviews` may be nullptr. A path that ends in '*' allows all that begin with what is before it.
  // `clock` and `observer`, which may be nullptr, outlive the gate.
  AccessGate(std::unique_ptr<Authenticator> authenticator, std::shared_ptr<AccessReviews> reviews,
             std::vector<std::string> always_allow_paths, std::shared_ptr<const Router> router,
             const Clock& clock, AboutObject about_object = {}, AccessObserver* observer = nullptr);

  // Calls `respond` exactly once, now or later; not at all once the client has gone.
  void Serve(const RequestPtr& request, const Respond& respond);
  // The way up to the router alone, by a request whose body has yet to be read; with the body it
  // goes all of it again, and is reported then.
  void Admit(const RequestPtr& request, const Decide& decide);

 private:
  // When the observer is called: also of a request that is let in, or only of a refusal.
  enum class Counts { kAlways, kRefused };
  void Judge(const RequestPtr& request, Counts counts, const Decide& decide);
  bool AlwaysAllowed(const std::string& path) const;
  // As Decide, with the result as AccessObserver::OnAuthorized() has it.
  using Authorized = std::function<void(std::string_view result, std::optional<Response> refused)>;
  void Authorize(const RequestPtr& request, User user, const Authorized& decide);
  // Asks whether the attributes are allowed; `refused` is called where they are not.
  void Review(const RequestPtr& request, const AccessAttributes& attributes,
              const Authorized& decide, const std::function<void(const AccessDecision&)>& refused);

  std::unique_ptr<Authenticator> authenticator_;
  std::shared_ptr<AccessReviews> reviews_;
  std::vector<std::string> always_allow_;
  std::shared_ptr<const Router> router_;
  const Clock& clock_;
  AboutObject about_object_;
  AccessObserver* const observer_;
};

}  // namespace berth::serving
